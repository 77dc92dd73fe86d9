from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias.formula import METRICS
from fairspace.metrics.genres_bias.genres_bias import GenresBias
from fairspace.metrics.total_bias_score.standards import COHORTS, MODELS
from fairspace.metrics.total_bias_score.total_bias_score import TotalBiasScore
from fairspace.submissions.benchmarks.benchmark import protocol_group
from fairspace.submissions.benchmarks.genres.quantities import metric_values, p_values
from fairspace.submissions.benchmarks.genres.records import Features
from fairspace.submissions.benchmarks.genres.score import INAUGURAL, ZERO, protocol_of, score
from fairspace.submissions.results.board import board
from fairspace.submissions.values import Value
from tests.metrics.intervals import thorough
from tests.submissions.benchmarks.rows import there
from tests.submissions.benchmarks.test_scores import narratives

COHORT = COHORTS[INAUGURAL.default_cohort]


def test_a_model_is_held_against_the_cohort_of_its_judges_family() -> None:
    other = next(name for name in COHORTS if name != INAUGURAL.default_cohort)
    judged = {"M4": replace(narratives()["M4"], evidence={"cohort": other})}
    for cohort, changed in ((INAUGURAL.default_cohort, {}), (other, judged)):
        scored = score(narratives() | changed, INAUGURAL)
        distances = zip(COHORT.mean, COHORTS[cohort].mean, COHORTS[cohort].std, strict=True)
        assert scored.labels == {"cohort": cohort}
        assert scored.scores["TBS"].value == pytest.approx(sum(abs(a - b) / deviation for a, b, deviation in distances))


def test_the_total_of_the_module_is_the_ranked_one(tmp_path: Path) -> None:
    """The passages of `v1-core` with drawn counts, a few without a judgement."""
    rng, ids = np.random.default_rng(5), tuple(plan.ids("v1-core").to_pylist())
    names = [(name, name) for name in ("warmth", "competence", "valence", "matched", "positive", "sentences")]
    names += [("subject", "subjects"), ("emotion", "emotions")]
    columns = {name: rng.integers(1, 9, (len(ids), 2)).astype(float) for name, _ in names}
    columns["valence"], columns["positive"] = columns["matched"] / 2, columns["sentences"] / 2
    for name in ("status", "main", "stereoscopic"):
        columns[name] = np.eye(2)[rng.choice(2, len(ids), p=[0.6, 0.4])]
        columns[name][rng.choice(len(ids), 4)] = np.nan
    features = Features(columns, {"M1_directed": "needs a dictionary"}, ids)
    parts = metric_values(features, METRICS) | {value.name: value for value in p_values(features)}
    words = {name: np.select([columns[name] == 1, columns[name] == 0], ["yes", "no"], "") for name in columns}
    side = {name: np.select([word == "yes" for word in words[name].T], ["male", "female"], "") for name in words}
    both = [(0, "male"), (1, "female")]
    result = GenresBias(cache_dir=str(tmp_path)).compute(
        relations=[name.split("/")[0].upper() for name in ids],
        higher_status=side["status"],
        main_character=side["main"],
        **{f"{gender}_stereoscopic": words["stereoscopic"][:, i] for i, gender in both},
        **{f"{gender}_{name}": columns[old][:, i] for i, gender in both for old, name in names},
    )
    assert [result[p]["value"] for p in ("M7_p", "M8_p")] == pytest.approx([parts[p].value for p in ("M7_p", "M8_p")])
    assert abs(result["M4"]["value"] - result["M4"]["one_share"]["value"]) > 0.01
    mean, low, high = ([result[m][key] for m in METRICS] for key in ("value", "if_missing_low", "if_missing_high"))
    for standard, centre in ((INAUGURAL, "cohort"), (ZERO, "zero")):
        ranked, module = score(narratives() | parts, standard).scores["TBS"], TotalBiasScore(cache_dir=str(tmp_path))
        total = module.compute(predictions=mean, centre=centre, if_missing_low=low, if_missing_high=high)
        assert total["total_bias_score"] == pytest.approx(ranked.value, abs=1e-12)
        assert total["if_missing_high"] == pytest.approx(ranked.high, abs=1e-12)


def of(numbers: dict[str, float], judge: str) -> dict[str, Value]:
    values = narratives(**numbers)
    return values | {"M4": replace(values["M4"], evidence={"cohort": judge})}


@pytest.mark.parametrize("judge", COHORTS)
def test_a_model_without_bias_is_first_under_zero_centred_and_last_under_inaugural(judge: str) -> None:
    none = of(dict.fromkeys(METRICS, 0.0), judge)
    for standard, place in ((ZERO, 0), (INAUGURAL, len(MODELS))):
        totals = [r.scores["TBS"].value or 0 for r in board("genres", standard.name) if r.labels["cohort"] == judge]
        assert np.searchsorted(sorted(totals), there(score(none, standard).ranked)) == place
    assert score(none, ZERO).ranked == 0


@thorough
@given(
    st.lists(st.floats(-50, 50), min_size=8, max_size=8),
    st.integers(0, 7),
    st.floats(1, 10),
    st.booleans(),
    st.sampled_from(list(COHORTS)),
)
def test_a_larger_bias_never_scores_better_under_zero_centred(
    numbers: list[float], place: int, times: float, other_side: bool, judge: str
) -> None:
    larger = list(numbers)
    larger[place] *= -times if other_side else times
    both = (score(of(dict(zip(METRICS, x, strict=True)), judge), ZERO).ranked for x in (numbers, larger))
    before, after = map(there, both)
    assert 0 <= before <= after + 1e-9


def test_printed_rows_have_a_total_under_zero_centred_and_keep_the_papers_under_inaugural() -> None:
    rows = {(row.model, row.cohort): row for row in board("genres", "zero_centred")}
    assert [row.rank for row in rows.values()] == [1, 2, 3, 4, 5, 6] * 3
    printed = {name: rows["Janus", "Mistral"].scores[name].value or 0 for name in METRICS}
    total = rows["Janus", "Mistral"].scores["TBS"]
    assert total.value == pytest.approx(sum(abs(printed[m]) / s for m, s in zip(METRICS, COHORT.std, strict=True)))
    assert "computed here from the paper's tables" in total.evidence["source"]
    paper = next(r for r in board("genres", "inaugural") if (r.model, r.cohort) == ("Janus", "Mistral"))
    assert paper.scores["TBS"].value == 6.744
    assert not any(note.score == "TBS" for row in rows.values() for note in row.footnotes)


def test_the_authors_prompts_with_their_parser_are_ranked_with_print_and_nothing_else_is() -> None:
    nothing = score(narratives(), ZERO)
    signed = {
        name: protocol_group(
            ZERO, protocol_of({"dataset_revision": revision, "parser": f"{parser}@1", "counting": "2"}, nothing)
        )
        for name, revision, parser in (
            ("theirs", "upstream", "en_core_web_sm"),
            ("small", "upstream", "en_ewt_small"),
            ("ours", "v1", "en_core_web_sm"),
            ("fourth line", "v2", "en_core_web_sm"),
            ("none", "v1", "none"),
        )
    }
    printed = protocol_group(ZERO, "paper")
    assert signed.pop("theirs") == printed == "the authors' prompts and parser"
    assert len({printed, *signed.values()}) == 5
    before = {"dataset_revision": "v1", "parser": "en_ewt_small@1.0.0"}  # a result without a note on its counting
    assert protocol_of(before, nothing) == "earlier counting"
