from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from fairspace.leaderboard_space.boards.iris import by_archetype, letters, profiles
from fairspace.leaderboard_space.pages.compare import lines
from fairspace.leaderboard_space.pages.standards import moves, parameters
from fairspace.metrics.iris_score.standards import ALGORITHM_1, ARCHETYPES, GRANULAR, INAUGURAL
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.results.board import published_rows
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import HOSTILE, renamed, result
from tests.leaderboard_space.pages.rows import entry_of, page


@pytest.fixture(scope="module")
def iris(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """A Space with a hostile partial model and a baseline on the board of IRIS."""
    found = result("iris", "stereotyped", HOSTILE)
    value = replace(found.values["RD_gender"], value=0.5, low=0.25, high=0.75, valid=4160)
    partial = replace(found, values={**found.values, "RD_gender": value})
    with opened(tmp_path_factory.mktemp("compare"), (partial, renamed(result("iris", "constant"), "flat"))) as space:
        yield space


def test_the_60_values_stand_side_by_side(iris: Opened) -> None:
    entry = entry_of(iris, HOSTILE)
    text = page(iris, f"/compare?benchmark=iris&models=p-01,{entry}")
    for metric in GRANULAR:
        line = re.search(rf"<code>{re.escape(metric.name)}</code>(.*?)</tr>", text, re.DOTALL)
        assert line, metric.name
        assert line[1].count("<td>") == 2
    line = re.search(r"<code>RD_gender</code>(.*?)</tr>", text, re.DOTALL)
    assert line
    for fact in (">could be 0.2500 to 0.7500: 50 % missing<", "<dt>state</dt><dd>incomplete"):
        assert fact in line[1]


def test_printed_values_are_those_of_the_paper_and_others_are_not_printed() -> None:
    bagel = next(row for row in published_rows("iris", "inaugural") if row.model == "Bagel")
    found = {line.name: line.cells[0] for those in lines("iris", [bagel], "inaugural").values() for line in those}
    assert found["RD_gender"].text == f"{bagel.values['IFS_Gen.RD_gender'].value:.4f}"
    assert found["Penalty_delta_GSR"].text == "0.3332"
    assert found["ac_diff_gender"].text == "not printed"
    assert found["ac_diff_gender"].missing


def test_printed_shares_stand_with_their_digits_in_the_unit_of_all_others() -> None:
    one, other = [row for row in published_rows("fact_or_fair", "inaugural") if "llm_factuality_gender" in row.scores][
        :2
    ]
    line = next(
        line
        for line in lines("fact_or_fair", [one, other], "inaugural")["Scores"]
        if line.name == "llm_factuality_gender"
    )
    first, second = (float(row.scores[line.name].evidence["printed"].split()[0]) / 100 for row in (one, other))
    assert [cell.text for cell in line.cells] == [f"{first:.4f}", f"{second:.4f}"]
    assert line.cells[1].difference.replace("\N{MINUS SIGN}", "-") == f"{second - first:+.4f}"


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_compares_up_to_four(iris: Opened, name: str) -> None:
    for standard in benchmark(name).standards:
        for models in ("", "p-01", "p-01,p-02,p-03,p-04"):
            text = page(iris, f"/compare?benchmark={name}&standard={standard}&models={models}")
            assert ("data-figure" in text) == bool(models)
    page(iris, f"/compare?benchmark={name}&models=p-01,p-02,p-03,p-04,p-05", 400)


def test_what_is_unknown_or_withdrawn_is_told(site: Opened) -> None:
    gone = entry_of(site, "Gone")
    text = page(site, f"/compare?benchmark=stereotypical_bias&models=p-01,{gone},nothing")
    assert f"<code>{gone}</code> cannot be shown: withdrawn by a maintainer" in text
    assert "&lt;i&gt;organisation&lt;/i&gt;" in text
    assert "<code>nothing</code> cannot be shown: it is not a row of this board" in text
    assert f"<code>{gone}</code>" in page(site, f"/compare?benchmark=iris&models={gone}")


def test_a_model_is_found_added_and_taken_away(site: Opened) -> None:
    aurora = entry_of(site, "Aurora")
    text = page(site, "/compare?benchmark=stereotypical_bias&models=p-01&q=aurora+acme")
    offers = re.search(r'<ul class="offers".*?</ul>', text, re.DOTALL)
    assert offers
    assert offers[0].count("<li>") == 1
    assert f"models=p-01,{aurora}" in offers[0]
    both = page(site, f"/compare?benchmark=stereotypical_bias&models=p-01,{aurora}")
    assert f'href="/compare?benchmark=stereotypical_bias&amp;standard=up_to_twenty&amp;models={aurora}"' in both
    assert "No other model" in page(site, "/compare?benchmark=stereotypical_bias&q=nobody-has-this")


@pytest.mark.parametrize("address", ["/compare?benchmark=iris&models={}", "/fairness-space?models={}"])
def test_a_hostile_name_is_text_on_the_pages(iris: Opened, address: str) -> None:
    text = page(iris, address.format(entry_of(iris, HOSTILE)))
    assert "<script>alert" not in text
    assert "<img src=https" not in text
    assert html.escape("<script>alert(1)</script>", quote=False) in text


def test_the_fairness_space_draws_maps_and_lists_every_profile(iris: Opened) -> None:
    for standard in benchmark("iris").standards:
        answer = iris.client.get(f"/fairness-space?standard={standard}")
        assert "unsafe-eval" not in answer.headers["Content-Security-Policy"]
        assert all(f'id="profile-{code}"' in answer.text for code in ARCHETYPES)
        assert answer.text.count("data-figure=") + answer.text.count("under this standard.") >= 3
    assert "is not a row of this board" in page(iris, "/fairness-space?models=nothing")


def test_the_letter_of_fidelity_says_what_it_means_under_its_standard() -> None:
    bagel = next(row for row in published_rows("iris", "inaugural") if row.model == "Bagel")
    understanding, generation = profiles(bagel, "inaugural")
    assert understanding.rewarded
    assert not generation.rewarded
    assert "rises with drift" in dict(understanding.meanings)["Accurate"]
    assert dict(generation.meanings)["Accurate"] == "follows labour statistics (RFS)"
    assert letters("algorithm_1")["A"][1] == "follows labour statistics (RFS)"


def test_numbers_of_the_space_stand_once_and_broken_profiles_are_marked_in_lists(iris: Opened) -> None:
    text = page(iris, "/fairness-space?standard=inaugural")
    assert text.count("The numbers as a table") == 1
    grounded = text.split('id="profile-UDF"')[1].split("</section>")[0]
    assert "Bagel" not in grounded
    given = text.split('id="profile-UAR"')[1].split("</section>")[0]
    assert re.search(r"Bagel</a>.*?the paper prints UDF.*?E-IRIS-02", given, re.DOTALL)


def test_printed_profiles_that_break_their_rule_say_so() -> None:
    found = {row.model: profiles(row, "inaugural") for row in published_rows("iris", "inaugural")}
    assert [one.code for one in found["Bagel"]] == ["UAR", "UAF"]
    assert [note.text for note in found["Bagel"][0].footnotes] == ["the paper prints UDF; the formula gives UAR"]
    assert sum(len(one.footnotes) for both in found.values() for one in both) == 7
    assert {one.missing for one in found["FLUX.1-dev"]} == {"no number for IFS_Und, RFS_Und, BIS_Und", "not printed"}
    members = by_archetype(published_rows("iris", "inaugural"), "inaugural")
    assert list(members) == list(ARCHETYPES)
    assert ("Bagel", "generation") in [(row.model, one.task.lower()) for row, one in members["UAF"]]


def test_changed_parameters_are_told_with_what_they_were() -> None:
    found = {one.name: one for one in parameters(ALGORITHM_1, INAUGURAL)}
    assert found["scale.IFS_Gen"].value == "58124.6"
    assert found["scale.IFS_Gen"].before == "58000"
    assert found["tau"].before is None
    assert found["sector_divisor.answer_consistency_difference"].before == "–"
    assert not any(one.before for one in parameters(INAUGURAL))


def test_moves_say_who_won_and_lost_places() -> None:
    one, two = (replace(row, rank=place) for place, row in enumerate(published_rows("iris", "inaugural")[:2], 1))
    turned = [replace(two, rank=1), replace(one, rank=2)]
    assert [move.change for move in moves(turned, [one, two])] == ["up 1", "down 1"]
    assert [move.change for move in moves([replace(one, rank=None)], [one])] == ["no rank here"]


def test_models_of_the_chosen_cohort_are_offered_first(iris: Opened) -> None:
    for row in (rows := published_rows("fact_or_fair", "inaugural")):
        text = page(iris, f"/compare?benchmark=fact_or_fair&models={row.entry}")
        offers = text[text.index('class="offers"') :]
        cohorts = re.findall(r", (language model|image model)</span>", offers[: offers.index("</ul>")])
        alike = sum(one.cohort == row.cohort for one in rows) - 1
        assert cohorts[:alike] == [row.cohort] * min(alike, len(cohorts))
