from xml.etree import ElementTree

import pytest

from tests.leaderboard_space.api.spaces import Opened
from tests.leaderboard_space.pages.rows import BENCHMARK, HOSTILE_MODEL, entry_of, page

SVG = "{http://www.w3.org/2000/svg}"


def _texts(site: Opened, address: str) -> list[str]:
    answer = site.client.get(address)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "image/svg+xml"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    image = ElementTree.fromstring(answer.content)
    return [text.text or "" for text in image.iter(f"{SVG}text")]


def test_a_badge_says_benchmark_standard_rank_and_score(site: Opened) -> None:
    computed = "/badge/iris/p-01.svg?standard=bounded"
    assert _texts(site, computed) == ["IRIS bounded", "rank 1 of 7 from the paper · 61.74 computed here"]
    assert _texts(site, "/badge/iris/p-01.svg") == ["IRIS inaugural", "rank 1 of 7 from the paper · 95.94"]
    assert "draft" not in page(site, "/badge/iris/p-01.svg")
    assert _texts(site, "/badge/genres/p-02.svg")[1].startswith("rank ")
    assert " from the paper among " in _texts(site, "/badge/genres/p-02.svg")[1]
    assert " run by us · " in _texts(site, f"/badge/{BENCHMARK}/{entry_of(site, 'Aurora')}.svg")[1]


def test_a_draft_says_so_wherever_it_ranks(site: Opened) -> None:
    chosen = "standard=algorithm_1"
    assert _texts(site, f"/badge/iris/p-01.svg?{chosen}")[0] == "IRIS algorithm_1 draft"
    for address in ("/model/iris/p-01", "/embed/iris/p-01", "/compare?benchmark=iris", "/fairness-space", "/"):
        assert "algorithm_1 (draft)" in page(site, f"{address}{'&' if '?' in address else '?'}{chosen}"), address
    for address in ("/api/v1/boards/iris", "/api/v1/boards/iris/rows/p-01", "/download/iris/algorithm_1.json"):
        assert site.client.get(f"{address}?{chosen}").json()["draft"].startswith("IFS_Und"), address
    assert site.client.get("/api/v1/boards/iris").json()["draft"] == ""
    said = site.client.get("/download/iris/algorithm_1.csv").headers["Content-Disposition"]
    assert "algorithm_1-draft" in said


@pytest.mark.parametrize(
    ("benchmark", "model", "said"),
    [("iris", "p-12", "unranked"), (BENCHMARK, "Gone", "withdrawn"), (BENCHMARK, "baseline: constant", "baseline")],
)
def test_a_badge_says_honestly_that_there_is_no_rank(site: Opened, benchmark: str, model: str, said: str) -> None:
    entry = model if model.startswith("p-") else entry_of(site, model)
    assert said in _texts(site, f"/badge/{benchmark}/{entry}.svg")[1]


def test_a_hostile_name_is_text_in_a_badge(site: Opened) -> None:
    answer = site.client.get(f"/badge/{BENCHMARK}/{entry_of(site, HOSTILE_MODEL)}.svg")
    image = ElementTree.fromstring(answer.content)
    assert not list(image.iter(f"{SVG}script"))
    assert "<script>" in (image.findtext(f"{SVG}title") or "")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_a_badge_may_be_kept_and_is_not_sent_again(site: Opened) -> None:
    first = site.client.get("/badge/iris/p-01.svg")
    assert "max-age" in first.headers["Cache-Control"]
    again = site.client.get("/badge/iris/p-01.svg", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_row_may_be_framed_by_any_site_and_other_pages_may_not(site: Opened) -> None:
    embedded = site.client.get("/embed/iris/p-01")
    assert "frame-ancestors *" in embedded.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in embedded.headers
    assert "standard inaugural" in embedded.text
    assert "frame-ancestors *" not in site.client.get("/model/iris/p-01").headers["Content-Security-Policy"]
    assert "withdrawn" in page(site, f"/embed/{BENCHMARK}/{entry_of(site, 'Gone')}")


def test_there_is_no_badge_of_an_unknown_row(site: Opened) -> None:
    page(site, "/badge/iris/p-99.svg", 404)
    page(site, "/embed/nothing/p-01", 404)
    page(site, "/badge/iris/p-01.svg?standard=nothing", 400)
