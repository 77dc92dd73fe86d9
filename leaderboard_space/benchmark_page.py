"""One benchmark's page: how to read it, the standard, plots, the board and its notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from leaderboard_space.tables import board_layout, board_table
from leaderboard_space.text import markdown, superscript
from leaderboard_space.view import View
from submissions.board import Row, board
from submissions.registry import benchmark as find_benchmark
from submissions.store import Store


@dataclass(frozen=True)
class Page:
    """The components of a page that change with the store and the standard."""

    view: View
    standard: gr.Radio
    about_standard: gr.Markdown
    tables: tuple[gr.Dataframe, ...]
    plots: tuple[gr.Plot, ...]
    notes: gr.Markdown

    @property
    def outputs(self) -> list[Any]:
        """What `render` gives, in its order."""
        return [self.about_standard, *self.tables, *self.plots, self.notes]


def build_page(view: View, store: Store) -> Page:
    """The page inside the current Tab, filled from the store."""
    standards = find_benchmark(view.benchmark).standards
    choices = [(f"{name} (draft)" if s.draft else name, name) for name, s in standards.items()]
    first = choices[0][1]
    about, *content = render(view, store, first)
    gr.Markdown(view.how_to_read, elem_classes="lead")
    standard = gr.Radio(
        choices,
        value=first,
        label="Standard",
        info="Results are scored again from their raw values; published rows where the printed figures allow it.",
        visible=len(choices) > 1,
        interactive=False,
        elem_classes="standard",
    )
    about_standard = gr.Markdown(about, elem_classes="small")
    figures: list[gr.Plot] = []
    if view.plots:
        with gr.Row(equal_height=True):
            for heading, figure in zip(view.plots, content[len(view.slices) : -1], strict=True):
                with gr.Column(min_width=320):
                    gr.Markdown(f"### {heading}")
                    figures.append(gr.Plot(figure, show_label=False, container=False))
    tables: list[gr.Dataframe] = []
    with gr.Tabs() if len(view.slices) > 1 else gr.Column():
        for (name, part), table in zip(view.slices.items(), content, strict=False):
            with gr.Tab(name) if len(view.slices) > 1 else gr.Column():
                frame = gr.Dataframe(
                    table,
                    interactive=False,
                    wrap=True,
                    max_height=1600,
                    buttons=["fullscreen"],
                    pinned_columns=2,
                    label="Sort with the ⋮ in a column's head; choose a row to see every value behind it.",
                    elem_classes="board",
                    elem_id=f"board-{view.benchmark}-{len(tables)}",
                    **board_layout(part.total, part.columns, view.labels, view.cohort),
                )
            tables.append(frame)
    notes = gr.Markdown(content[-1], latex_delimiters=[], elem_classes="small notes")
    gr.Markdown(view.legend, elem_classes="small")
    return Page(view, standard, about_standard, tuple(tables), tuple(figures), notes)


def render(view: View, store: Store, standard: str) -> list[Any]:
    """What stands on the page under a standard: about the standard, tables, plots, notes."""
    stored = store.read(view.benchmark)
    rows = board(view.benchmark, standard, stored.results)
    numbers, notes = footnotes(view, rows)
    tables = [
        board_table(list(filter(part.keep, rows)), part.total, part.columns, view.labels, view.cohort, numbers)
        for part in view.slices.values()
    ]
    figures = [plot(rows) for plot in view.plots.values()]
    if stored.faults:
        count = len(stored.faults)
        notes += f"\n\n**{count} stored result{'s' * (count > 1)} could not be read:** "
        notes += "; ".join(markdown(str(fault)) for fault in stored.faults)
    return [_about(view, standard), *tables, *figures, notes]


def footnotes(view: View, rows: Sequence[Row]) -> tuple[dict[tuple[str, str], int], str]:
    """(entry, score) -> number of the notes whose scores a table shows, and these notes as Markdown.

    Notes with the same text share a number. Notes on other values stand on the model's page.
    """
    columns = {c.score for part in view.slices.values() for c in (part.total, *part.columns)} | set(view.labels)
    texts: dict[tuple[str, str], int] = {}
    numbers = {
        (row.entry, note.score): texts.setdefault((note.erratum, note.text), len(texts) + 1)
        for row in rows
        for note in row.footnotes
        if note.score in columns
    }
    return numbers, "\n\n".join(
        f"{superscript(number)} **{erratum}**: {text}." for (erratum, text), number in texts.items()
    )


def _about(view: View, name: str) -> str:
    standard = find_benchmark(view.benchmark).standards[name]
    draft = f" **Draft, not released:** {standard.draft}." if standard.draft else ""
    note = getattr(standard, "note", "")
    share = f"below {100 * standard.minimum_coverage:.0f} % valid samples a score has no rank"
    return f"Standard `{name}`: {share}.{draft} {note}"


def selected_entry(event: gr.SelectData) -> str:
    """The entry in the row that was clicked."""
    return str(event.row_value[-1])
