import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from fairspace.leaderboard_space.boards.models import slug_of
from fairspace.submissions.checking.names import hub_address
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import add, full_of, mark, result
from tests.leaderboard_space.pages.rows import BENCHMARK, HOSTILE_MODEL, page


def test_a_scored_row_shows_all_that_stands_behind_its_place(site: Opened) -> None:
    entry = site.entry("Aurora")
    text = page(site, f"/model/{BENCHMARK}/{entry}")
    row = next(row for row in site.space.state.board(BENCHMARK, "up_to_twenty") if row.entry == entry)
    assert row.result is not None
    for name in (*row.scores, *row.values):
        assert f'<a href="/model/{BENCHMARK}/{entry}/evidence/{name}">' in text
    assert row.result.signature["submission"] in text
    assert "7.5 billion" in text
    assert "autoregressive" in text


def test_evidence_has_an_address_of_its_own(site: Opened) -> None:
    entry = site.entry("baseline: constant")
    full = full_of(site.space.state, entry)
    parts = full.values["gender_occupation"].evidence["by_instance"]
    text = page(site, f"/model/{BENCHMARK}/{entry}/evidence/gender_occupation")
    for name, part in parts.items():
        assert f">{name}</th>" in text
        assert str(part["wins"]["male"]) in text
    page(site, f"/model/{BENCHMARK}/{entry}/evidence/nothing", 404)


def test_a_row_shows_answers_that_its_values_are_made_of_as_text(site: Opened) -> None:
    text = page(site, f"/model/{BENCHMARK}/{site.entry('Aurora')}")
    inside = text.split('id="inside"')[1].split('<h2 class="inline"')[0]
    assert inside.count("Pulls it furthest from fair") == 18
    assert "Tell me the spatial location of the nurse." in inside
    hostile = page(site, f"/model/{BENCHMARK}/{site.entry(HOSTILE_MODEL)}").split('id="inside"')[1]
    assert "&lt;script&gt;asked&lt;/script&gt;" in hostile
    assert "<script>asked" not in hostile
    assert "<script>2" not in hostile
    assert 'id="inside"' not in page(site, "/model/iris/p-01")


def test_a_published_row_shows_what_is_printed_and_where_it_contradicts_itself(site: Opened) -> None:
    text = page(site, "/model/iris/p-01/under/inaugural")
    assert "IRIS (arXiv:2603.00590), Table 3" in re.sub(r"</?a[^>]*>", "", text)
    assert '<a href="/errata#E-IRIS-02">E-IRIS-02</a>' in text
    table = page(site, "/model/iris/p-01/under/inaugural/scores.tex")
    assert all(f'href="/model/iris/p-01/under/inaugural/scores.{kind}"' in text for kind in ("tex", "csv"))
    assert "\\caption{Bagel on IRIS, standard inaugural" in table
    assert re.search(r"\niris.*score & 95\.94 & printed & ", table)
    assert "printed figures come without samples" in text
    assert "Table 23" in page(site, "/model/iris/p-01/evidence/IFS_Gen.RD_gender")


def test_a_row_leads_to_itself_under_other_standards(site: Opened) -> None:
    text = page(site, "/model/iris/p-01/under/algorithm_1")
    assert '<a href="/model/iris/p-01/under/inaugural">' in text
    assert '<a href="/model/iris/p-01">inaugural_points</a>' in text
    assert '<a href="/model/iris/p-01/under/algorithm_1">' not in text
    assert "algorithm_1/evidence/IFS_Gen" in text
    page(site, "/model/iris/p-01/under/algorithm_1/evidence/IFS_Gen")
    page(site, "/model/iris/p-01/under/nothing", 400)


def test_a_withdrawn_row_gives_the_reason_and_no_figures(site: Opened) -> None:
    gone = site.entry("Gone")
    text = page(site, f"/model/{BENCHMARK}/{gone}", 404)
    assert "the &lt;i&gt;organisation&lt;/i&gt; asked for it" in text
    assert "gender_occupation" not in text
    page(site, f"/model/{BENCHMARK}/{gone}/evidence/gender_occupation", 404)


def test_a_hostile_name_stays_text_on_every_page_of_its_row(site: Opened) -> None:
    entry = site.entry(HOSTILE_MODEL)
    for address in (
        f"/model/{BENCHMARK}/{entry}",
        f"/model/{BENCHMARK}/{entry}/evidence/total",
    ):
        text = page(site, address)
        assert "&lt;script&gt;" in text
        assert not re.search(r"<script>|<img src=x|\u202e|<b>Corp|81018001", text)


def test_a_row_shows_how_its_answers_were_read(site: Opened) -> None:
    text = page(site, f"/model/{BENCHMARK}/{site.entry(HOSTILE_MODEL)}")
    assert '<h2 class="inline">Answers, and how they were read</h2>' in text
    line = re.search(r'<th scope="row">vision gender</th>(.*?)</tr>', text, re.DOTALL)
    assert line
    assert re.findall(r'class="number">([\d,]+)<', line[1]) == ["12,345", "3", "0", "0", "0"]
    assert "&lt;script&gt;1&lt;/script&gt; <mark>left </mark> &lt;img src=x&gt;" in text
    assert "choice: &lt;b&gt;left" in text


def test_unknown_rows_benchmarks_and_rows_of_other_benchmarks_are_not_found(site: Opened) -> None:
    aurora = site.entry("Aurora")
    for address in ("/model/iris/p-99", "/model/nothing/p-01", f"/model/iris/{aurora}", "/model/iris/..%2f..%2fx"):
        page(site, address, 404)


def test_names_of_values_have_their_meaning_beside_them(site: Opened) -> None:
    address = f"/model/{BENCHMARK}/{site.entry('Aurora')}"
    meaning = "uneven choices: gender, occupations"
    assert f"{meaning}</a> <code>gender_occupation</code>" in page(site, address)
    assert f"<h1>{meaning.capitalize()}</h1>" in page(site, f"{address}/evidence/gender_occupation")
    assert f'title="{meaning}"' in page(site, f"/board/{BENCHMARK}")


def test_a_row_says_how_its_values_were_measured_and_whom_it_is_ranked_with(site: Opened) -> None:
    text = page(site, f"/model/{BENCHMARK}/{site.entry('Aurora')}")
    assert "Protocol <strong>v2</strong>: " in text
    assert "Ranked among rows of the same protocol." in text
    board = page(site, f"/?benchmark={BENCHMARK}&columns=all&models={site.entry('Aurora')},p-02")
    assert ">Protocol<" in board
    assert "Protocols (ranked separately):" in board


def test_a_row_that_was_verified_before_there_was_evidence_has_a_page(site: Opened) -> None:
    entry = site.entry("Borealis")
    site.space.storage.append([mark("verified", entry, "run on our machine")])
    site.space.state.refresh()
    assert "run on our machine" in page(site, f"/model/{BENCHMARK}/{entry}")
    site.space.storage.append([mark("unverified", entry)])
    site.space.state.refresh()


def test_a_model_has_one_page_over_all_tests_with_what_others_submitted_apart(tmp_path: Path) -> None:
    run = result(BENCHMARK, "stereotyped", "Some model")
    ours, other, theirs = (
        replace(run, meta={**run.meta, "model": name, "organisation": made_by})
        for name, made_by in (("gpt-4o", "Ours & Co"), ("GPT-4o", "Other"), ("gpt 4o", "<script>Evil"))
    )
    with opened(tmp_path, (ours, other)) as space:
        add(space.space.state, theirs, "eve")
        text = page(space, "/models/gpt-4o")
        tests = dict(re.findall(r'<section aria-labelledby="test-(\w+)">(.*?)</section>', text, re.DOTALL))
        top = text.partition("<section")[0]
        makers = re.findall(r'<p class="lead">([^.]*)\.', re.sub(r"\s+", " ", top))[0]
        assert sorted(unescape(makers).split("; ")) == ["OpenAI", "Other", "Ours & Co"]
        assert "3 of 4 tests, from the papers and run by us." in top
        assert "<strong>Judgements</strong>: fairness 0.9729, last of 6; facts 75 %, first of 6; margin unknown." in top
        assert "Not tested: pictures." in top
        assert "fairspace eval --benchmark iris --core --model MODEL" in top
        assert "Not run" not in text
        assert "Evil" not in top
        first, submitted = tests[BENCHMARK].split("Submitted by others under this name")
        assert "claimed by eve" in submitted
        assert 'href="/trust#ask-for-a-rerun"' in submitted
        assert "&lt;script&gt;Evil" in submitted
        assert "Worst and typical answers" in first
        assert "scale.svg" not in text, "no random and no stereotyped answers are scored"
        assert "<loc>" in page(space, "/sitemap.xml").partition("/models/gpt-4o")[0]
        assert 'href="/models/gpt-4o"' in page(space, "/model/genres/p-18")
        row = space.space.state.board(BENCHMARK)[0]
        assert 'href="/models/gpt-4o"' in page(space, f"/model/{BENCHMARK}/{row.entry}")
        assert "UNKNOWN_PAGE" in page(space, "/models/nobody-made-this", 404)
        assert 'href="/model/genres/p-18/under/inaugural"' in text


@pytest.mark.slow
def test_a_maker_sees_the_own_row_its_number_and_what_to_do_next_and_a_copy_has_a_page_too(tmp_path: Path) -> None:
    stereotyped = result(BENCHMARK, "stereotyped")
    lines = (result(BENCHMARK, "random"), stereotyped)
    mine = replace(stereotyped, meta={**stereotyped.meta, "baseline": None, "model": "Visitor/Heron:13B"})
    with opened(tmp_path, lines) as space:
        for model, like in (("Visitor/Heron:13B", None), ("Copied", True), ("Mixed", False)):
            named = replace(
                mine,
                meta={**mine.meta, "model": model},
                signature={**mine.signature, "submission": model, "answers": model},
            )
            identity = {"baseline": "stereotyped", "kappa": 1.0, "is_same": like, "shares": {}, "is_drawn": True}
            add(space.space.state, named, "ada", "", {} if like is None else {"baseline": identity})
        text = page(space, "/models/visitor-heron-13b")
        assert "1 of 4 tests, submitted." in text
        assert "by others" not in text
        assert "Not run" not in text
        board = {row.model: row.scores["total"].value for row in space.space.state.board(BENCHMARK)}
        even, worst = board["baseline: random"], board["baseline: stereotyped"]
        way = f"100 % of the way from random answers ({even:.4f}) to always the stereotype ({worst:.4f})"
        assert f"<strong>Mean {worst:.4f}; " in text
        assert way in text
        assert 'asks a part of it again: <a href="/trust#ask-for-a-rerun">ask for a rerun</a>' in text
        assert "copy of stereotyped" in page(space, "/models/copied")
        assert "looks like our answerer &#39;stereotyped&#39;" in page(space, "/models/mixed")
        assert {row.rank for row in space.space.state.board(BENCHMARK) if row.submitter} == {None}
        for other in ("Visitor/Heron:13B", "visitor-heron-13B", "VISITOR/heron-13b"):
            answer = space.client.get(f"/models/{other}", follow_redirects=False)
            assert (answer.status_code, answer.headers["location"]) == (308, "/models/visitor-heron-13b")


def test_a_row_fits_one_screen_before_its_folds_and_says_once_what_is_not_known(site: Opened) -> None:
    for address in (f"/model/{BENCHMARK}/{site.entry(HOSTILE_MODEL)}", "/model/genres/p-18", "/model/iris/p-01"):
        text = page(site, address)
        top = text.partition("<main")[2].partition('<details><summary><h2 class="inline">All ')[0]
        assert top.count('class="notice"') <= 1
        assert top.count('<figure class="figure"') == 1
        assert text.count('<summary><h2 class="inline">') <= 4
        for cell in re.findall(r"<td><strong>(.*?)</strong></td>", top):
            assert cell
            assert len(cell.replace(" %", "").split()) <= 12, cell
        reasons = re.findall(r"<li><strong>.*?</strong>: (.*?)</li>", top)
        assert len(reasons) == len(set(reasons))
    assert "printed figures come without samples" in top


@pytest.mark.parametrize("name", ["a" * 59 + "/b", "Größe/X:Y", "own.py:answer", "--a..", "\u202eA b", "ŒUVRE_1/İ"])
def test_the_address_of_a_model_folds_to_itself(name: str) -> None:
    assert slug_of(slug_of(name)) == slug_of(name)


CARD = "https://huggingface.co"


@pytest.mark.parametrize(
    ("name", "address"),
    [("a/b", f"{CARD}/a/b"), ("Bagel", f"{CARD}/ByteDance-Seed/BAGEL-7B-MoT"), ("a/../b", ""), ("GPT-4o", "")],
)
def test_only_a_name_or_a_printed_id_of_a_hub_repository_leads_to_a_model_card(name: str, address: str) -> None:
    assert hub_address(name) == address
