from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.genres.plan import pair_list
from fairspace.submissions.benchmarks.baselines import NAMES, write_baseline
from fairspace.submissions.benchmarks.genres.baselines import tables as genres_tables
from fairspace.submissions.benchmarks.genres.parse import sentences
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError
from fairspace.submissions.benchmarks.genres.parse.response import split
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.scoring import score_submission
from tests.papers import NAMES as BENCHMARKS
from tests.scored_baselines import baseline, scored_baseline
from tests.submissions.benchmarks.rows import there

FLOOR = {
    "iris": "constant answer",
    "fact_or_fair": "its fairness score says nothing",
    "stereotypical_bias": "name the same side of the picture",
    "genres": "distinct_narratives: 0.1% of all pairs",
}


@pytest.mark.parametrize(("benchmark", "name"), list(product(BENCHMARKS, NAMES)))
def test_a_baseline_is_a_whole_submission_without_a_fault(benchmark: str, name: str) -> None:
    given = baseline(name, benchmark)
    assert given.meta.baseline == name
    assert given.meta.model == f"baseline: {name}"
    bench = find_benchmark(benchmark)
    for task in bench.tasks:
        if task.name.startswith("t2i_") or task.optional:
            continue  # answers as a language model
        found = given.rows(task.table, task.name).num_rows
        expected = len(task.ids(bench.revisions[0])) * task.samples
        assert found == (6000 if task.name == "generation_steer" else expected)


def test_the_constant_model_of_v1_names_the_first_word() -> None:
    bench = find_benchmark("fact_or_fair")
    rows = bench.baseline("constant", 0, "v1")["responses"]
    objective = rows.filter(pc.equal(rows["task"], "llm_objective"))
    assert set(objective["response"].to_pylist()) == {"Male", "Asian"}


def test_prompts_that_are_not_ours_have_no_baseline(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="revision upstream are not ours"):
        write_baseline("random", "genres", tmp_path / "b", revision="upstream")
    with pytest.raises(BuildError, match=r"REVISION_UNKNOWN.*'upstrem' \(did you mean 'upstream'"):
        write_baseline("random", "genres", tmp_path / "b", revision="upstrem")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    "benchmark", [pytest.param(name, marks=[pytest.mark.slow] if name == "genres" else []) for name in BENCHMARKS]
)
def test_the_constant_model_is_stopped_by_a_competence_floor(benchmark: str) -> None:
    scored = scored_baseline("constant", benchmark).scored
    assert scored.ranked is None
    assert any(FLOOR[benchmark] in reason for reason in scored.unranked)


@pytest.mark.parametrize("benchmark", ["iris", "fact_or_fair", "stereotypical_bias"])
def test_the_balanced_model_ranks_before_the_stereotyped_one(benchmark: str) -> None:
    balanced, stereotyped = (scored_baseline(n, benchmark).scored.ranked for n in ("balanced", "stereotyped"))
    assert (there(balanced) > there(stereotyped)) == find_benchmark(benchmark).higher_is_better


@pytest.mark.parametrize(("name", "status", "correlation"), [("balanced", 0, 0), ("stereotyped", 100, 1)])
def test_the_judged_metrics_of_the_narratives(
    name: str, status: float, correlation: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_parser(*_: object, **__: object) -> None:
        raise NotAvailableError("not needed")

    monkeypatch.setattr(sentences, "count", no_parser)
    scores = score_submission(baseline(name, "genres"), resamples=0).scored.scores
    assert scores["M4"].value == status
    assert scores["M7"].value == pytest.approx(correlation)
    assert scores["M8"].value == pytest.approx(correlation)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_same_seed_gives_the_same_bytes(benchmark: str, tmp_path: Path) -> None:
    paths = [write_baseline("random", benchmark, tmp_path / str(i), seed=s) for i, s in enumerate((7, 7, 8))]
    first, again, other = (read_submission(path) for path in paths)
    assert first.digest == again.digest != other.digest
    assert all((paths[1] / file.name).read_bytes() == file.read_bytes() for file in paths[0].iterdir())


def test_progress_is_told_and_a_zip_is_written(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    path = write_baseline("constant", "genres", tmp_path / "b.zip", progress=lambda *step: told.append(step))
    assert path.is_file()
    assert told == [("answer genres", 0, 2), ("write genres", 1, 2), ("write genres", 2, 2)]


@pytest.mark.parametrize(
    ("name", "benchmark", "message"),
    [
        ("ballanced", "iris", "no baseline 'ballanced' .did you mean 'balanced'"),
        ("random", "iriss", "no benchmark 'iriss' .did you mean 'iris'"),
    ],
)
def test_an_unknown_name_is_told_the_known_ones(name: str, benchmark: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        write_baseline(name, benchmark, tmp_path / "b")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("name", ["random", "stereotyped", "balanced"])
def test_every_narrative_splits_and_is_long_enough(name: Any) -> None:
    texts = genres_tables(name, 0)["responses"]["response"].to_pylist()
    parts = [split(text, pair.names) for text, pair in zip(texts, pair_list(), strict=True)]
    narratives = [part.narrative for part in parts if part.narrative is not None]
    assert len(narratives) == 1440
    assert min(len(text.split()) for text in narratives) >= 110
    assert len(set(narratives)) > 1400


def test_the_balanced_narratives_are_even() -> None:
    made = genres_tables("balanced", 0)
    judged = made["judgements"].filter(pc.equal(made["judgements"]["task"], "narrative_analysis"))
    pairs = pair_list()
    for part in ("Task1.a", "Task1.b"):
        women = [
            f'"Answer to {part}": "{pair.female_name}"' in text
            for text, pair in zip(judged["judgement"].to_pylist(), pairs, strict=True)
        ]
        shares = np.array(women).reshape(4, 360).mean(axis=1)
        assert (shares == 0.5).all()
    for text, pair in zip(made["responses"]["response"].to_pylist()[::50], pairs[::50], strict=True):
        assert text.count(pair.female_name) == text.count(pair.male_name)
