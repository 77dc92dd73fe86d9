"""Who wrote a paper, where and when: one entry each, the same wherever a reader meets it."""

import re
from pathlib import Path

import pytest

from fairspace.builders.registry import paper, table
from fairspace.cards.metric_card import metric_card
from fairspace.submissions.report.contents import citations
from tests.papers import NAMES

ROOT = Path(__file__).parents[1]
FOLDERS = ("ares", "builders", "cards", "leaderboard_space", "metrics", "notebooks", "submissions")
ENTRY = re.compile(r"@\w+\{(\w+),\n.*?\n\}", re.DOTALL)


def entries() -> list[str]:
    """Every BibTeX entry in a text of the product."""
    files = [
        file for top in FOLDERS for file in sorted((ROOT / top).rglob("*")) if file.suffix in (".py", ".md", ".jinja")
    ]
    texts = (file.read_text(encoding="utf-8") for file in files if file.is_file() and not file.is_symlink())
    return [entry[0] for text in texts for entry in ENTRY.finditer(text)]


def test_every_citation_has_authors_a_venue_and_a_year() -> None:
    found = entries()
    assert len(found) >= 2 * len(NAMES)
    for entry in found:
        assert "Anonymous" not in entry
        assert re.search(r"\bauthor = \{\w", entry), entry
        assert re.search(r"\byear = \{(?:1979|20\d\d)\}", entry), entry
        assert re.search(r"\b(?:booktitle|journal|archivePrefix) = ", entry), entry
        assert re.search(r"\b(?:eprint|url|doi) = ", entry), entry


@pytest.mark.parametrize("name", NAMES)
def test_report_and_cards_print_the_entry_of_the_paper(name: str) -> None:
    entry = paper(name).citation
    assert entry in citations(name)
    shared = (ROOT / "metrics" / "CARDS.md").read_text(encoding="utf-8")
    assert entry in shared
    assert paper(name).tags == (f"arxiv:{re.findall(r'eprint = {(.*)}', entry)[0]}",)


def test_the_card_of_the_association_score_names_modscan() -> None:
    card = metric_card(ROOT / "metrics" / "stereotypical_association")
    assert paper("stereotypical_bias").citation in card
    assert "ModSCAN" in card.split("## Formula")[0] + paper("stereotypical_bias").title


def test_printed_models_have_the_hub_ids_that_the_papers_give() -> None:
    ids = {row["hub"] for row in table("models") if row["hub"]}
    assert len(ids) == 16
    assert all(re.fullmatch(r"[\w-]+/[\w.-]+", each) for each in ids)
    assert all(row["hub"] for row in table("models") if row["benchmark"] == "iris")
