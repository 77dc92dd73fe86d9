from dataclasses import replace

import pytest

from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.benchmarks.benchmark import Scored, protocol_group, scores_revision
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.words import TEXT_ONLY
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.board import board
from fairspace.submissions.results.row import Row, ranked
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.results.tiers import tiered
from tests.submissions.benchmarks.iris.results import iris_result


def row(model: str, number: float, protocol: str, group: str) -> Row:
    return Row(model, model, "tests", "scored here", "", {}, protocol=protocol, group=group, ranked=number, own="us")


@pytest.mark.parametrize("name", NAMES)
def test_every_protocol_that_a_row_or_a_standard_names_is_explained(name: str) -> None:
    bench = benchmark(name)
    for standard in bench.standards.values():
        named = {protocol for protocols in standard.together.values() for protocol in protocols}
        assert all(map(bench.protocol_text, named))
        assert all(bench.protocol_text(row.protocol) for row in board(name, standard.name))
        assert len([p for protocols in standard.together.values() for p in protocols]) == len(named)
    assert all(text.endswith(".") for text in bench.words.protocols.values())


@pytest.mark.parametrize("name", NAMES)
def test_every_revision_has_a_standard(name: str) -> None:
    bench = benchmark(name)
    for revision in bench.revisions:
        assert scores_revision(bench.standards[bench.default_for(revision)], bench.base_revision(revision))
    assert bench.default_for(bench.revisions[0]) == bench.default


def test_rows_of_each_protocol_have_ranks_of_their_own() -> None:
    rows = [row("a", 4.0, "v1", "v1"), row("b", 3.0, "paper", "paper"), row("c", 2.0, "v1", "v1")]
    assert {row.model: row.rank for row in ranked(rows, "iris")} == {"a": 1, "b": 1, "c": 2}
    together = [replace(row, group="both") for row in rows]
    assert {row.model: row.rank for row in ranked(together, "iris")} == {"a": 1, "b": 2, "c": 3}
    assert [row.model for row in tiered(ranked(rows, "iris"), "iris", "inaugural")] == ["a", "c", "b"]


def test_a_run_without_images_and_one_with_a_prefix_have_protocols_of_their_own() -> None:
    nothing = Scored({}, "", None)
    about = {"dataset_revision": "v1", "parser": "en_core_web_sm@3.8.0", "counting": "genres_counting@2"}
    genres = benchmark("genres")
    shown = [genres.protocols.of(about | shown, nothing) for shown in ({}, {"shown": TEXT_ONLY})]
    assert shown == ["v1, en_core_web_sm", "v1, en_core_web_sm, text only"]
    assert all(map(genres.protocol_text, shown))
    submission = Submission(baseline_meta("random", "genres", 0, {}), {})
    assert "shown" not in genres.signature(submission)
    submission.meta.generation["text_only"] = True
    assert genres.signature(submission)["shown"] == TEXT_ONLY
    pairs = benchmark("stereotypical_bias")
    prefixes = ("plain", "debiasing", "be nice")
    named = [pairs.protocols.of({"dataset_revision": "v2", "prefix": prefix}, nothing) for prefix in prefixes]
    assert named == ["v2", "v2, prefix debiasing", "another prefix"]
    about = {"dataset_revision": "v2", "prefix": "plain", "shown": TEXT_ONLY}
    named += [pairs.protocols.of(about | {"prefix": prefix}, nothing) for prefix in prefixes]
    assert named[3:] == ["v2, text only", "v2, prefix debiasing, text only", "another prefix"]
    assert all(map(pairs.protocol_text, named))


def test_a_standard_says_which_protocols_it_ranks_together() -> None:
    standard = replace(benchmark("genres").standards["inaugural"], together={"one parser": ("v1", "upstream")})
    groups = [protocol_group(standard, protocol) for protocol in ("v1", "upstream", "paper")]
    assert groups == ["one parser", "one parser", "paper"]


def test_answers_to_a_revision_that_a_standard_does_not_rank_have_scores_and_no_rank() -> None:
    result = iris_result("A model", "Lab", 0.1, 0.1)
    assert rescore(result, "inaugural").scored.ranked is not None
    for revision in ("v9", ""):
        other = rescore(replace(result, signature={**result.signature, "dataset_revision": revision}), "inaugural")
        assert other.scored.ranked is None
        assert other.scored.unranked[-1].startswith(f"answers to the items of dataset revision {revision}")
        assert other.scored.scores == rescore(result, "inaugural").scored.scores
