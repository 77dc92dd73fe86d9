import html
import re
from urllib.parse import urldefrag, urljoin

from fairspace.leaderboard_space.pages.texts import _READ, ROOT, document
from tests.leaderboard_space.api.spaces import Opened
from tests.leaderboard_space.pages.rows import page


def test_every_erratum_has_an_anchor_in_both_spellings(site: Opened) -> None:
    text = page(site, "/errata")
    names = re.findall(r"^## (E-[A-Z]+-\d+)$", (ROOT / "cards/errata.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(names) > 30
    for name in names:
        assert f'id="{name}"' in text
        assert f'id="{name.lower()}"' in text
    for anchor in re.findall(r'href="#([^"]+)"', text):
        assert f'id="{anchor}"' in text


def test_anchors_of_a_page_are_unlike_each_other(site: Opened) -> None:
    for address in _READ:
        ids = re.findall(r' id="([^"]+)"', page(site, address))
        assert len(ids) == len(set(ids))


def test_every_link_of_a_document_leads_to_a_page_and_an_anchor_on_it(site: Opened) -> None:
    links = {urljoin(at, link) for at in _READ for link in re.findall(r'<a [^>]*href="([^"]+)"', page(site, at))}
    for address, anchor in (urldefrag(html.unescape(link)) for link in sorted(links) if link.startswith("/")):
        text = "" if address in ("/submit", "/openapi.json") else page(site, address)
        assert not anchor or f'id="{anchor}"' in text, (address, anchor)
    assert {"https://arxiv.org/abs/2603.00590", "https://openreview.net/forum?id=bW1C5XODvo"} <= links
    number, time = site.space.state.last
    assert f"Snapshot of {time[:10]}, event {number} of the log" in page(site, "/about")


def test_a_document_has_one_title_and_no_html_of_its_own() -> None:
    found = document("cards/errata.md")
    assert found.title == "Errata"
    assert "<h1" not in found.html
    assert "<h2" in found.html
    assert found.html.count("<table") == found.html.count('role="region"')


def test_how_to_submit_states_the_limits_of_this_space(site: Opened) -> None:
    text, settings = page(site, "/how-to-submit"), site.space.settings
    assert f"{settings.upload_bytes >> 20} MiB" in text
    for quota in (settings.valid_a_day, settings.faulty_a_day, settings.waiting):
        assert f"{quota} a user" in text
    for command in ("run --dry-run", "run", "check", "score", "submit"):
        assert f"fairspace {command} " in text
    for visibility in ("from a paper", "self-reported labels or judge", "scored here", "rerun by maintainers"):
        assert visibility in text
    assert "perceived presentation" in text


def test_about_says_what_the_words_mean(site: Opened) -> None:
    text = page(site, "/about")
    for word in ("from a paper", "self-reported labels or judge", "scored here", "rerun by maintainers", "baseline"):
        assert f"<em>{word}</em>" in text
    for word in ("undefined", "not run", "incomplete", "partial"):
        assert f"<em>{word}</em>" in text


def test_code_in_the_words_of_a_call_is_markup_not_backticks(site: Opened) -> None:
    text = page(site, "/api")
    assert "`" not in re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL)
    assert "<code>" in text
