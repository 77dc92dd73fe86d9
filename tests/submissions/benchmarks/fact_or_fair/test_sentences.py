"""A model that always picks a man reads as biased on every first screen, though its S_fair is nearly 1."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pandas as pd
import pytest

import fairspace as fs
from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.fact_or_fair.score import leaning, sentences
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.report.contents import make_report, to_html, to_latex, to_markdown
from fairspace.submissions.results.three_numbers import NO_BIAS_SHOWN
from fairspace.submissions.show.headline import headline, printed_like, sentences_of
from fairspace.submissions.values import measured
from tests.leaderboard_space.api.spaces import opened
from tests.submissions.benchmarks.fact_or_fair.test_core import core_of
from tests.submissions.benchmarks.rows import there

CORE, GROUPS = "v2-core", ("male", "female")
SHARE = "share_llm_subjective_male"


@lru_cache
def answers(wanted: Callable[[str], str]) -> pd.DataFrame:
    """The first profile of the wanted gender of a level, else A; A for every objective question."""
    items = fs.items("fact_or_fair", dataset_revision=CORE)
    items = items[items["task"].isin(("llm_objective", "llm_subjective"))]
    letters = []
    for task, level, profiles in zip(items["task"], items["level"], items["profiles"], strict=True):
        people = [person["gender"] for person in profiles] if task == "llm_subjective" else []
        letters.append("ABCD"[people.index(wanted(level))] if wanted(level) in people else "A")
    return items.assign(response=letters)[["task", "id", "response"]]


def men(level: str) -> str:
    return "male"


def men_high(level: str) -> str:
    return "male" if level == "highest" else "female"


@lru_cache
def scored(wanted: Callable[[str], str]) -> fs.Result:
    return fs.score(answers(wanted), "fact_or_fair", dataset_revision=CORE, model="picks men", resamples=200)


@pytest.mark.parametrize("printer", ["repr", "notebook", "html", "md", "tex", "board"])
def test_a_model_that_picks_men_reads_as_biased_on_every_first_screen(printer: str, tmp_path: Path) -> None:
    result = scored(men)
    if printer == "board":
        with opened(tmp_path, (result,)) as site:
            [entry] = site.space.state.entries()
            text = site.client.get(f"/model/fact_or_fair/{entry.entry}").text
        cells = re.sub(r"</t[hd]>", " ", text[text.index("<h1") : text.index('class="notice"')])
        text = re.sub(r"<[^>]+>", "", cells) + " llm_fairness"
    elif printer in ("repr", "notebook"):
        text = repr(result) if printer == "repr" else result._repr_html_()
    else:
        text = {"html": to_html, "md": to_markdown, "tex": to_latex}[printer](make_report([result]))
    text = " ".join(text.split()).replace("\\", "")
    top = text[: text.index("llm_fairness" if printer not in ("tex",) else "begin{table}")]
    assert re.search("names:? a man in 93.8 % of 1,800 judgements", top)
    assert "even would be 50.4" in top
    assert "S_E 0.39 by gender" in top
    assert NO_BIAS_SHOWN not in top
    assert "no bias" not in top
    assert "average_llm" not in top  # the mean with facts is no headline
    assert re.search("198 of 198 answers are the same letter[, ]+which is no knowledge", top)


def test_the_headline_is_fairness_and_the_average_stays_what_ranks_go_by() -> None:
    result, top = scored(men), headline(scored(men), str)
    assert (top.score, result.scored.ranking) == ("llm_fairness", "average_llm")
    begins = ("llm_", "average", "entropy", "share")
    shown = [line.split()[0] for line in repr(result).splitlines() if line.startswith(begins)]
    assert shown[:5] == [
        "llm_fairness",
        "entropy_llm_subjective_gender",
        "entropy_llm_subjective_race",
        SHARE,
        "llm_factuality",
    ]
    assert "average_llm" in shown
    report = make_report([result, scored(men_high)])
    scores, compared = (there(report.table(name)) for name in ("scores", "differences"))
    ways = {row[0]: row[1] for row in scores.rows}
    assert "higher is better" in ways["llm_fairness"]
    assert "better" not in ways[SHARE]
    verdicts = {row[0]: row[-1] for row in compared.rows}
    assert verdicts[benchmark("fact_or_fair").describe(SHARE)] == "significant"


def test_a_bias_that_differs_by_level_leaves_even_shares_and_shows_in_the_evenness() -> None:
    result = scored(men_high)
    share, evenness = result.values[SHARE], result.values["entropy_llm_subjective_gender"]
    assert share.value == pytest.approx(share.evidence["even"], abs=0.03)
    assert there(evenness.value) < 0.5
    assert f"S_E {evenness.value:.2f} by gender" in sentences_of(result)[3]


def test_the_shares_of_an_attribute_add_up_and_rows_that_lack_move_them_no_further_than_their_bounds() -> None:
    whole, frame = scored(men), answers(men)
    part = fs.score(frame.sample(frac=0.5, random_state=1), "fact_or_fair", dataset_revision=CORE, resamples=0)
    for context in ("llm_objective", "llm_base", "llm_subjective"):
        for groups in (GROUPS, ("asian", "black", "hispanic", "white")):
            shares = [whole.values[f"share_{context}_{group}"] for group in groups]
            assert sum(share.value or 0 for share in shares) == pytest.approx(1)
            assert sum(share.evidence["even"] for share in shares) == pytest.approx(1)
            for share in shares:
                less = part.values[share.name]
                low, high = there(less.low), there(less.high)
                assert low <= there(share.value) <= high
                assert low < there(less.value) < high or context == "llm_objective"
                assert less.value == pytest.approx(share.value, abs=0.2 if context == "llm_objective" else 0.08)
    about = there(whole.values[SHARE].uncertainty)
    assert about.low < (whole.values[SHARE].value or 0) < about.high
    assert about.fair == pytest.approx(whole.values[SHARE].evidence["even"], abs=0.005)
    assert "with what is missing" in " ".join(sentences_of(part))
    assert "with what is missing" not in " ".join(sentences_of(whole))


def test_only_a_model_whose_shares_are_even_has_a_place_beside_printed_models() -> None:
    even = fs.score(core_of("balanced"), resamples=200)
    assert dict(headline(even, str).facts)["rank"] == "none: a baseline is no model"
    assert not printed_like(even, "average_llm")
    model = replace(even, meta={**even.meta, "baseline": None, "model": "even"})
    place = "by average_llm, would be 1st beside 6 models of the paper, which answered other questions"
    assert dict(headline(model, str).facts)["rank"] == place
    ranked = replace(model, values=scored(men).values)
    place = dict(headline(ranked, str).facts)["rank"]
    assert place.startswith("none beside printed models: S_fair does not see a bias")
    assert "names a man in 93.8 %" in place


def test_reasons_for_no_rank_are_said_in_one_plain_sentence_each() -> None:
    assert fs.score(core_of("constant"), resamples=0).scored.unranked == (
        "Too few facts right: 37.3 %. A rank needs 48.5 %, more than a constant answer gets.",
        "It answered the same letter every time: its fairness score says nothing.",
    )
    frame = answers(men)
    items = fs.items("fact_or_fair", "llm_subjective", dataset_revision=CORE)
    topic = items.query("statistic == 'Employment Rate' and level == 'lowest' and context == 'base'")
    without = fs.score(frame[~frame["id"].isin(topic["id"])], "fact_or_fair", dataset_revision=CORE, resamples=0)
    reason = "Topic Employment Rate has no answer to 'lowest'; fairness compares highest and lowest."
    assert without.values["fairness_llm_base_gender"].reason == reason


def test_an_image_model_is_said_to_show_people_in_images() -> None:
    about = Uncertainty("image", 9, 9, 0, 0.1, 0.7, 0.9, "bca", 0.7, 0.9)
    context = "t2i_subjective_paper"
    evidence = {"judgements": 570.0, "even": 0.5}
    shares = [measured(f"share_{context}_{g}", p, evidence=evidence) for g, p in (("male", 0.2), ("female", 0.8))]
    values = {share.name: replace(share, uncertainty=about) for share in shares}
    of = Scored({}, "average_t2i", None)
    sentence, unknown = sentences(values, of, "shuffled")
    assert unknown == "Not known: facts, S_fair and S_E (not measured)."
    assert sentence == ("Whom it shows: a woman in 80.0 % of 570 images (95 %: 70.0 to 90.0; even would be 50.0).")
    assert "shows a woman" in leaning(values, of, "shuffled")
    hostile = {name: replace(value, evidence={"even": "1", "judgements": []}) for name, value in values.items()}
    assert "of 0 images" in sentences(hostile, of, "shuffled")[0]
    assert sentences({}, Scored({}, "", None), "shuffled") == ()
