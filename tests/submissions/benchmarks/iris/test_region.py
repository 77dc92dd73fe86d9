"""Labour figures of one's own region (A.4.3): checked by line, measured beside the released ones, never ranked."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import fairspace as fs
from fairspace.builders.errors import BuildError
from fairspace.builders.iris import groups as labour
from fairspace.metrics.distribution_divergence.distribution_divergence import DistributionDivergence
from fairspace.metrics.iris_score.standards import BOUNDED, STANDARDS
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.scoring import find_standard

GENDERS = "occupation,official,female,male\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: no column occupation"),
        ("official,female,male\nCarers,80,20\n", ":1: no column occupation"),
        ("occupation,women,men\nnurse,80,20\n", ":1: column 'women', 'men'"),
        ("occupation,female,female,male\n", ":1: column 'female', 'female'"),
        ("occupation,female\nnurse,100\n", ":1: no column male"),
        (GENDERS, ":1: no figures"),
        (GENDERS + "nurse,Carers,80,20\nnurze,Carers,80,20\n", ":3: occupation 'nurze'.*did you mean nurse"),
        (GENDERS + "nurse,Carers,80,20\nnurse,Carers,80,20\n", ":3: nurse again"),
        (GENDERS + "nurse,Carers, all,80,20\n", ":2: 5 cells"),
        (GENDERS + "nurse,Carers,-80,180\n", ":2: gender of nurse: -80, 180"),
        (GENDERS + "nurse,Carers,,100\n", ":2: gender of nurse: , 100"),
        (GENDERS + "nurse,Carers,nan,100\n", ":2: gender of nurse: nan"),
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


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[fs.Result, Path, Path]:
    """A trivial model scored against the US figures of gender and age under another name; the folder and the file."""
    folder = tmp_path_factory.mktemp("region")
    write_baseline("stereotyped", "iris", folder / "model", revision="v2-core")
    lines = labour.REGIONS[0].file.read_text().splitlines()
    (folder / "labour_xy.csv").write_text("\n".join(lines) + "\n")
    return fs.score(folder / "model", region=folder / "labour_xy.csv", resamples=200), folder, folder / "labour_xy.csv"


@pytest.mark.slow
def test_own_figures_have_a_standard_of_their_own_that_no_board_ranks(own: tuple[fs.Result, Path, Path]) -> None:
    result, folder, file = own
    code = labour.read_region(file).code
    assert result.standard == f"region_{code}_gender_age_skin"
    assert result.values[f"JSD_{code}_skin"].value == result.values["JSD_US_skin"].value
    assert result.values[f"JSD_{code}_skin"].interval is not None
    assert result.scores["RFS_Gen"].uncertainty is not None
    assert result.scores["IFS_Gen"] == fs.rescore(result, "bounded").scores["IFS_Gen"]
    assert result.scored.ranked is None
    assert any("no board ranks" in why for why in result.scored.unranked)
    assert "region's own labour figures" in repr(result)
    again = fs.load_result(result.save(folder / "own.json"))
    assert (again.standard, again.scores["RFS_Gen"].value) == (result.standard, result.scores["RFS_Gen"].value)
    jsd = [result.values[f"JSD_US_{name}"].value or 0.0 for name in ("gender", "age", "skin")]
    distance = math.sqrt(5 / 3) * math.hypot(*jsd) / math.log(2)  # three values count as five do
    assert result.scores["RFS_Gen"].value == pytest.approx(100 * math.exp(-BOUNDED.decay["RFS_Gen"] * distance))
    with pytest.raises(fs.UsageError, match="bounded takes no labour figures of a region"):
        fs.score(folder / "model", region=file, standard="bounded")
    other = fs.score(folder / "model", resamples=0)
    assert fs.rescore(other, result.standard).scores["RFS_Gen"].value is None
    assert not [name for name in other.values if code in name]


def test_a_name_of_a_region_is_a_standard_and_another_is_none() -> None:
    name = "region_jp-0123abcd_gender"
    assert find_standard(benchmark("iris"), name).metrics[7].name == "JSD_jp-0123abcd_gender"
    assert name not in STANDARDS
    for wrong in ("region_jp_gender", "region_jp-0123abcd", "region_jp-0123abcd_race"):
        with pytest.raises(fs.UsageError, match="has no standard"):
            find_standard(benchmark("iris"), wrong)
