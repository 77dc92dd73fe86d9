"""Parts of tables that a page has hundreds of, as markup; a template's macros take three times as long.

What is not markup is escaped here; submitted text has gone through `plain` before.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from fairspace.leaderboard_space.boards.tables.columns import Cell
from fairspace.leaderboard_space.boards.tables.intervals import Strip
from fairspace.leaderboard_space.boards.telling import EVIDENCE
from fairspace.submissions.results.folded_facts import SENTENCES, Fact
from fairspace.submissions.results.three_numbers import ThreeNumbers

_TERMS = {name: f"<dt>{escape(name)}</dt>" for name in SENTENCES}


def fold(facts: Sequence[Fact], what: str) -> Markup:
    """What is known of a value beside its three numbers; the sentences of the facts stand once on the page.

    Args:
        facts: of `folded_facts`.
        what: whose.
    """
    about = f'<summary>More<span class="visually-hidden"> about {escape(what)}</span></summary>'
    terms = "".join([f"{_TERMS[fact.name]}<dd>{escape(fact.text)}</dd>" for fact in facts])
    return Markup(f'<details class="fold">{about}\n<dl>{terms}</dl></details>\n')  # noqa: S704 escaped


def measured(three: ThreeNumbers) -> Markup:
    """The value with its interval and what is missing, or the state in words."""
    if three.value is None:
        return _span("state", three.value_text)
    missing = _span("below", three.missing_text) if three.missing_text else ""
    return escape(three.value_text) + _span("below sure", three.interval_text) + missing


def chance(three: ThreeNumbers) -> Markup:
    """What fair models show by chance, and the verdict."""
    return escape(three.chance_text) + (_span("below", three.verdict) if three.verdict else "")


def cell_content(cell: Cell, what: str) -> Markup:
    """What a cell of a board shows; `what`: of which row."""
    if cell.chip:
        word = EVIDENCE[cell.text] if cell.text in ("recomputed", "published") else cell.text
        parts = [_span(f"chip chip-{cell.text}", word)]
    else:
        parts = [_span("state", cell.text) if cell.missing else escape(cell.text)]
    if cell.note:
        parts.append(Markup('<sup><a href="#note-{0}" aria-label="Note {0}">{0}</a></sup>').format(cell.note))
    if cell.sure:
        parts.append(_span("below sure", cell.sure))
    if cell.below:
        parts.append(_span("below", cell.below))
    if cell.strip:
        parts.append(_strip(cell.strip))
    if cell.facts:
        parts.append(fold(cell.facts, what))
    return Markup("").join(parts)


def _strip(strip: Strip) -> Markup:
    ends = f"--a:{strip.low}%;--b:{strip.high}%;--at:{strip.at}%"
    sure = f'<i style="--a:{strip.sure[0]}%;--b:{strip.sure[1]}%"></i>' if strip.sure else ""
    return Markup(f'<span class="strip{" beyond" if strip.beyond else ""}" style="{ends}">{sure}</span>')  # noqa: S704 numbers


def _span(name: str, text: str) -> Markup:
    return Markup(f'<span class="{escape(name)}">{escape(text)}</span>')  # noqa: S704 escaped
