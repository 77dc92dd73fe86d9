"""The upload page: a submission is checked, all its faults are shown, or it is scored and added to the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from leaderboard_space.tables import FAULTS_LAYOUT, VALUES_LAYOUT, faults_table, values_table
from leaderboard_space.text import markdown
from submissions.board import entry
from submissions.check import check_submission
from submissions.faults import Fault, SubmissionError, UsageError
from submissions.registry import benchmark
from submissions.result import score_submission
from submissions.store import Store

MAX_BYTES = 200 * 2**20
INTRODUCTION = f"""
Hand in a `.zip` with `submission.json` and the tables of answers or annotations. It is checked first; every fault is
listed with the way to mend it. If there is none, it is scored and put on the board. At most {MAX_BYTES // 2**20} MB.

A submission holds a model's *answers*, or labels of *generated* images. Do not upload photos of people: no page labels
a picture, and nothing here tells who or what a person is.
"""


@dataclass(frozen=True)
class UploadPage:
    """The components of the page."""

    file: gr.File
    button: gr.Button
    status: gr.Markdown
    faults: gr.Dataframe
    scores: gr.Dataframe

    @property
    def outputs(self) -> list[Any]:
        """What `handle` gives, in its order."""
        return [self.status, self.faults, self.scores]


def build_upload_page() -> UploadPage:
    """The page inside the current Tab."""
    gr.Markdown(INTRODUCTION, elem_classes="lead")
    file = gr.File(label="Submission (.zip)", file_types=[".zip"], height=160, elem_id="submission")
    button = gr.Button("Check and score", variant="primary")
    status = gr.Markdown(latex_delimiters=[], elem_id="upload-status")
    hidden: dict[str, Any] = {"interactive": False, "wrap": True, "show_label": False, "buttons": [], "visible": False}
    faults = gr.Dataframe(elem_id="faults", **hidden, **FAULTS_LAYOUT)
    scores = gr.Dataframe(elem_id="upload-scores", **hidden, **VALUES_LAYOUT)
    return UploadPage(file, button, status, faults, scores)


def handle(path: str | None, store: Store) -> tuple[str, Any, Any]:
    """Check, score and store the uploaded file: status, faults table, scores table."""
    if path is None:
        return "Choose a `.zip` file first.", gr.Dataframe(visible=False), gr.Dataframe(visible=False)
    try:
        report = check_submission(Path(path), allow_baseline=False)
        if report.submission is None:
            return _faulty(report.faults)
        result = score_submission(report.submission)
        store.add(result)
    except SubmissionError as error:
        return _faulty(error.faults)
    except (UsageError, OSError) as error:
        return f"**Not scored.** {markdown(str(error))}", gr.Dataframe(visible=False), gr.Dataframe(visible=False)
    scored = result.scored
    reasons = markdown("; ".join(scored.unranked))
    rank = f"It is shown without a rank: {reasons}" if scored.ranked is None else "It is ranked"
    name = markdown(str(result.meta["model"]))
    status = f"**Scored.** {name} is on the {benchmark(result.benchmark).title} board as `{entry(result)}`. {rank}."
    return status, gr.Dataframe(visible=False), gr.Dataframe(values_table(scored.scores), visible=True)


def _faulty(faults: Sequence[Fault]) -> tuple[str, Any, Any]:
    count = len(faults)
    status = f"**Not scored: {count} fault{'s' * (count != 1)}.** Nothing was added to the board."
    return status, gr.Dataframe(faults_table(faults), visible=True), gr.Dataframe(visible=False)
