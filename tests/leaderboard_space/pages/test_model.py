import re
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.intake import result_draft
from fairspace.submissions.checking.names import hub_address
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import result
from tests.leaderboard_space.pages.rows import BENCHMARK, HOSTILE_MODEL, entry_of, page


def test_a_scored_row_shows_all_that_stands_behind_its_place(site: Opened) -> None:
    entry = entry_of(site, "Aurora")
    text = page(site, f"/model/{BENCHMARK}/{entry}")
    row = next(row for row in site.space.state.board(BENCHMARK, "up_to_twenty") if row.entry == entry)
    assert row.result is not None
    for name in (*row.scores, *row.values):
        assert f'/model/{BENCHMARK}/{entry}/evidence/{name}?standard=up_to_twenty">{name}</a>' in text
    assert row.result.signature["submission"] in text
    assert "7.5 billion" in text
    assert "autoregressive" in text


def test_evidence_has_an_address_of_its_own(site: Opened) -> None:
    entry = entry_of(site, "baseline: constant")
    full = site.space.state.full(entry)
    assert full is not None
    parts = full.values["gender_occupation"].evidence["by_instance"]
    text = page(site, f"/model/{BENCHMARK}/{entry}/evidence/gender_occupation")
    for name, part in parts.items():
        assert f">{name}</th>" in text
        assert str(part["wins"]["male"]) in text
    page(site, f"/model/{BENCHMARK}/{entry}/evidence/nothing", 404)


def test_a_row_shows_answers_that_its_values_are_made_of_as_text(site: Opened) -> None:
    text = page(site, f"/model/{BENCHMARK}/{entry_of(site, 'Aurora')}")
    inside = text.split('id="inside"')[1].split("<h2")[0]
    assert inside.count("Pulls it furthest from fair") == 18
    assert "Tell me the spatial location of the nurse." in inside
    hostile = page(site, f"/model/{BENCHMARK}/{entry_of(site, HOSTILE_MODEL)}").split('id="inside"')[1]
    assert "&lt;script&gt;asked&lt;/script&gt;" in hostile
    assert "<script>asked" not in hostile
    assert "<script>2" not in hostile
    assert 'id="inside"' not in page(site, "/model/iris/p-01")


def test_a_published_row_shows_what_is_printed_and_where_it_contradicts_itself(site: Opened) -> None:
    text = page(site, "/model/iris/p-01?standard=inaugural")
    assert "IRIS (arXiv:2603.00590), Table 3" in re.sub(r"</?a[^>]*>", "", text)
    assert '<a href="/errata#E-IRIS-02">E-IRIS-02</a>' in text
    table = page(site, "/model/iris/p-01/scores.tex?standard=inaugural")
    assert all(f"/{address}" in text for address in ("p-01/scores.tex?standard", "inaugural.csv?models=p-01"))
    assert "\\caption{Bagel on IRIS, standard inaugural" in table
    assert re.search(r"\niris.*score & 95\.94 & printed & ", table)
    assert "printed figures come without samples" in text
    assert "Table 23" in page(site, "/model/iris/p-01/evidence/IFS_Gen.RD_gender")


def test_a_row_leads_to_itself_under_other_standards(site: Opened) -> None:
    text = page(site, "/model/iris/p-01?standard=algorithm_1")
    assert '<a href="/model/iris/p-01?standard=inaugural">' in text
    assert '<a href="/model/iris/p-01?standard=algorithm_1">' not in text
    page(site, "/model/iris/p-01?standard=nothing", 400)


def test_a_withdrawn_row_gives_the_reason_and_no_figures(site: Opened) -> None:
    gone = entry_of(site, "Gone")
    text = page(site, f"/model/{BENCHMARK}/{gone}")
    assert "the &lt;i&gt;organisation&lt;/i&gt; asked for it" in text
    assert "gender_occupation" not in text
    page(site, f"/model/{BENCHMARK}/{gone}/evidence/gender_occupation", 404)


def test_a_hostile_name_stays_text_on_every_page_of_its_row(site: Opened) -> None:
    entry = entry_of(site, HOSTILE_MODEL)
    for address in (
        f"/model/{BENCHMARK}/{entry}",
        f"/model/{BENCHMARK}/{entry}/evidence/total",
    ):
        text = page(site, address)
        assert "&lt;script&gt;" in text
        assert not re.search(r"<script>|<img src=x|\u202e|<b>Corp|81018001", text)


def test_a_row_shows_how_its_answers_were_read(site: Opened) -> None:
    text = page(site, f"/model/{BENCHMARK}/{entry_of(site, HOSTILE_MODEL)}")
    assert '<a href="#readings">How the answers were read</a>' in text
    line = re.search(r'<th scope="row">vision gender</th>(.*?)</tr>', text, re.DOTALL)
    assert line
    assert re.findall(r'class="number">([\d,]+)<', line[1]) == ["12,345", "3", "0", "0", "0"]
    assert "&lt;script&gt;1&lt;/script&gt; <mark>left </mark> &lt;img src=x&gt;" in text
    assert "choice: &lt;b&gt;left" in text


def test_unknown_rows_benchmarks_and_rows_of_other_benchmarks_are_not_found(site: Opened) -> None:
    aurora = entry_of(site, "Aurora")
    for address in ("/model/iris/p-99", "/model/nothing/p-01", f"/model/iris/{aurora}", "/model/iris/..%2f..%2fx"):
        page(site, address, 404)


def test_names_of_values_have_their_meaning_beside_them(site: Opened) -> None:
    address = f"/model/{BENCHMARK}/{entry_of(site, 'Aurora')}"
    meaning = "uneven choices: gender, occupations"
    assert f'gender_occupation</a><span class="below">{meaning}</span>' in page(site, address)
    assert f'<p class="lead">{meaning.capitalize()}.</p>' in page(site, f"{address}/evidence/gender_occupation")
    assert f'title="{meaning}"' in page(site, f"/?benchmark={BENCHMARK}")


def test_a_row_says_how_its_values_were_measured_and_whom_it_is_ranked_with(site: Opened) -> None:
    text = page(site, f"/model/{BENCHMARK}/{entry_of(site, 'Aurora')}")
    assert "Protocol <strong>v2</strong>: " in text
    assert "Ranked among rows of the same protocol." in text
    board = page(site, f"/?benchmark={BENCHMARK}&columns=all&models={entry_of(site, 'Aurora')},p-02")
    assert ">Protocol<" in board
    assert "Protocols (ranked separately):" in board


def test_a_row_that_was_verified_before_there_was_evidence_has_a_page(site: Opened) -> None:
    entry = entry_of(site, "Borealis")
    body = {"entry": entry, "by": "m", "reason": "run on our machine"}
    site.space.storage.append([Draft("verified", "verified:old:1", body)])
    site.space.state.refresh()
    assert "run on our machine" in page(site, f"/model/{BENCHMARK}/{entry}")
    site.space.storage.append([Draft("unverified", "unverified:old:1", body)])
    site.space.state.refresh()


def test_a_model_has_one_page_over_all_tests_with_what_others_submitted_apart(tmp_path: Path) -> None:
    run = result(BENCHMARK, "stereotyped", "Some model")
    ours, other, theirs = (
        replace(run, meta={**run.meta, "model": name, "organisation": made_by})
        for name, made_by in (("gpt-4o", "Ours & Co"), ("GPT-4o", "Other"), ("gpt 4o", "<script>Evil"))
    )
    with opened(tmp_path, (ours, other)) as space:
        space.space.storage.append([result_draft(theirs, user="eve")[0]])
        space.space.state.refresh()
        text = page(space, "/models/gpt-4o")
        tests = dict(re.findall(r'<section aria-labelledby="test-(\w+)">(.*?)</section>', text, re.DOTALL))
        first, submitted = text.split("Submitted by others under this name")
        assert "OpenAI; Other; Ours &amp; Co" in re.sub(r"\s+", " ", first)
        assert "Evil" not in first
        assert "claimed by eve" in submitted
        assert "&lt;script&gt;Evil" in submitted
        assert "fairspace eval --benchmark iris --core --model MODEL" in tests["iris"]
        assert "(printed; no interval)" in tests["fact_or_fair"]
        assert "Worst and typical answers" in first
        assert "scale.svg" not in text, "no random and no stereotyped answers are scored"
        assert "<loc>" in page(space, "/sitemap.xml").partition("/models/gpt-4o")[0]
        assert 'href="/models/gpt-4o"' in page(space, "/model/genres/p-18")
        row = space.space.state.board(BENCHMARK)[0]
        assert 'href="/models/gpt-4o"' in page(space, f"/model/{BENCHMARK}/{row.entry}")
        assert "UNKNOWN_PAGE" in page(space, "/models/nobody-made-this", 404)
        assert "?standard=inaugural" in first


CARD = "https://huggingface.co"


@pytest.mark.parametrize(
    ("name", "address"),
    [("a/b", f"{CARD}/a/b"), ("Bagel", f"{CARD}/ByteDance-Seed/BAGEL-7B-MoT"), ("a/../b", ""), ("GPT-4o", "")],
)
def test_only_a_name_or_a_printed_id_of_a_hub_repository_leads_to_a_model_card(name: str, address: str) -> None:
    assert hub_address(name) == address
