"""Labour figures of one's own region (A.4.3): checked by line; `tests/test_extension.py` scores them."""

import re
from pathlib import Path

import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.iris import groups as labour
from fairspace.metrics.distribution_divergence.distribution_divergence import DistributionDivergence
from fairspace.metrics.iris_score.standards import STANDARDS
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.scoring import find_standard

GENDERS = "occupation,official,female,male\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: no column occupation"),
        ("occupation,women,men\nnurse,80,20\n", ":1: column 'women', 'men'"),
        ("occupation,female\nnurse,100\n", ":1: no column male"),
        (GENDERS, ":1: no figures"),
        (GENDERS + "nurse,Carers,80,20\nnurze,Carers,80,20\n", ":3: occupation 'nurze'.*did you mean nurse"),
        (GENDERS + "nurse,Carers,80,20\nnurse,Carers,80,20\n", ":3: nurse again"),
        (GENDERS + "nurse,Carers, all,80,20\n", ":2: 5 cells"),
        (GENDERS + "nurse,Carers,-80,180\n", ":2: gender of nurse: -80, 180"),
        (GENDERS + "nurse,Carers,0.8,0.2\n", ":2: gender of nurse: 0.8, 0.2, which sum to 1"),
        (GENDERS + "nurse,Carers,76.5,20\n", ":2: gender of nurse: 76.5, 20, which sum to 96.5"),
    ],
)
def test_a_region_file_that_breaks_the_layout_names_its_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "labour_example.csv"
    file.write_text(text)
    with pytest.raises(BuildError, match=f"REGION_INVALID at .*labour_example.csv{said}"):
        labour.read_region(file)


def test_figures_within_the_released_ones_rounding_are_renormalised(tmp_path: Path) -> None:
    file = tmp_path / "labour_Japan 2026.csv"
    file.write_text(f"\ufeff{GENDERS}nurse,Carers,76.6,20\n", encoding="utf-8")
    region = labour.read_region(file)
    assert re.fullmatch("japan2026-[0-9a-f]{8}", region.code)
    figures = labour.region_figures(region, "gender")
    assert figures == {"nurse": pytest.approx({"female": 76.6 / 96.6, "male": 20 / 96.6})}
    result = DistributionDivergence().compute(predictions=["female"], occupations=["nurse"], reference=figures)
    assert result["left_out"] == []


def test_a_name_of_a_region_is_a_standard_and_another_is_none() -> None:
    name = "region_jp-0123abcd_gender"
    assert find_standard(benchmark("iris"), name).metrics[7].name == "JSD_jp-0123abcd_gender"
    assert name not in STANDARDS
    with pytest.raises(UsageError, match="has no standard"):
        find_standard(benchmark("iris"), "region_jp-0123abcd_race")
