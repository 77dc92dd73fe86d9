"""The page of one model: its scores, every raw value with state, bounds, coverage and reason, and the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from leaderboard_space.tables import VALUES_LAYOUT, values_table
from leaderboard_space.text import markdown, number, plain
from leaderboard_space.view import View, total_of
from metrics.iris_score.standards import ARCHETYPES
from submissions.board import Row, board
from submissions.store import Store

LABELS = {
    "profile_und": "Profile, understanding",
    "profile_gen": "Profile, generation",
    "cohort": "Cohort of the total",
}
Standards = Mapping[str, str]
Choices = list[tuple[str, str]]


@dataclass(frozen=True)
class ModelPage:
    """The components of the page."""

    choice: gr.Dropdown
    about: gr.Markdown
    plot: gr.Plot
    scores: gr.Dataframe
    values: gr.Dataframe
    value: gr.Dropdown
    evidence: gr.JSON

    @property
    def outputs(self) -> list[Any]:
        """What `render` gives, in its order."""
        return [self.about, self.plot, self.scores, self.values, self.value, self.evidence]


def build_model_page() -> ModelPage:
    """The empty page inside the current Tab."""
    choice = gr.Dropdown([], label="Model", filterable=True, elem_id="model-choice")
    with gr.Row():
        with gr.Column(min_width=320):
            about = gr.Markdown("Choose a model, or a row of a board.", latex_delimiters=[], elem_id="model-about")
        with gr.Column(min_width=320):
            plot = gr.Plot(show_label=False, container=False)
    gr.Markdown("### Scores")
    plain_table: dict[str, Any] = {"interactive": False, "wrap": True, **VALUES_LAYOUT}
    scores = gr.Dataframe(show_label=False, elem_id="scores", buttons=[], max_height=520, **plain_table)
    gr.Markdown("### Raw values")
    values = gr.Dataframe(
        label="Every raw value; choose one to see what it was made from.",
        elem_id="raw-values",
        buttons=["fullscreen"],
        max_height=640,
        **plain_table,
    )
    gr.Markdown("### Evidence\nWhat a value was made from. Choose a value here or in the tables above.")
    value = gr.Dropdown([], label="Value", filterable=True)
    evidence = gr.JSON(show_label=False, max_height=420)
    return ModelPage(choice, about, plot, scores, values, value, evidence)


def rows_by_choice(views: Sequence[View], store: Store, standards: Standards) -> dict[str, tuple[View, Row]]:
    """'benchmark/entry' -> the row, over all benchmarks."""
    return {
        f"{view.benchmark}/{row.entry}": (view, row)
        for view in views
        for row in board(view.benchmark, standards[view.benchmark], store.results(view.benchmark))
    }


def choices(rows: Mapping[str, tuple[View, Row]]) -> Choices:
    """What the dropdown shows -> 'benchmark/entry'."""
    return [
        (f"{view.title} · {plain(row.model)}{f' ({plain(row.cohort)})' if row.cohort else ''} · {row.provenance}", key)
        for key, (view, row) in rows.items()
    ]


def render(view: View, row: Row, standard: str) -> list[Any]:
    """Everything on the page for one row."""
    values = {**row.scores, **row.values}
    names = list(values)
    first = names[0] if names else None
    return [
        about(view, row, standard),
        view.profile(row) if view.profile else None,
        values_table(row.scores),
        values_table(row.values),
        gr.Dropdown(choices=names, value=first),
        dict(values[first].evidence) if first else {},
    ]


def about(view: View, row: Row, standard: str) -> str:
    """Who it is and how it ranks, as Markdown; submitted text is escaped."""
    lines = [f"## {markdown(row.model)}", f"{markdown(row.organisation)} · {row.provenance} · {markdown(row.source)}"]
    by = "the printed" if row.provenance == "published" else "the worst case of the"
    rank = "**Not ranked**"
    if row.ranked is not None:
        total = total_of(view, row)
        place = f"**Rank {row.rank}**" if row.rank else "**A baseline, not ranked**; it stands"
        rank = f"{place} by {by} {total.header}, {number(total.scaled(row.ranked), total.digits)}"
    cohort = f", among rows of {markdown(row.cohort)}" if row.cohort and row.rank else ""
    lines.append(f"{view.title}, standard `{standard}`: {rank}{cohort}")
    lines += [f"- {markdown(reason)}" for reason in dict.fromkeys((*row.remarks, *row.unranked))]
    lines += [f"- {LABELS[name]}: {_label(text)}" for name, text in row.labels.items() if name in LABELS]
    lines += [f"- **{note.erratum}**, {markdown(note.score)}: {note.text}" for note in row.footnotes]
    if row.result:
        meta = row.result.meta
        lines.append(
            f"Revision {markdown(str(meta.get('revision', '')))}, licence {markdown(str(meta.get('licence', '')))}"
        )
        lines += [f"- {markdown(k)}: {markdown(str(v))}" for k, v in row.result.signature.items()]
    else:
        lines.append("Printed figures: no bounds, no coverage and no records stand behind them.")
    return "\n\n".join(lines)


def _label(text: str) -> str:
    name = ARCHETYPES.get(text)
    return f"{text}, {name}" if name else markdown(text)
