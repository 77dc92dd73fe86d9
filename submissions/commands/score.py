"""The commands that check, score and compare submissions: `fairspace check`, `score`, `compare` and `schema`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairspace.submissions.commands.app import SCORE, Json, SubmissionPath, app, check_places, print_json
from fairspace.submissions.commands.ares import faces_setting, need_ares
from fairspace.submissions.commands.shared.checked import check_with_progress, checked_submission
from fairspace.submissions.commands.show.tables import faults, notes, values
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import SubmissionError

if TYPE_CHECKING:
    from fairspace.submissions.format.schema import Submission
    from fairspace.submissions.results.result import Result


@app.command(epilog="Example: fairspace check my-submission.zip", rich_help_panel=SCORE)
def check(submission: SubmissionPath, as_json: Json = False) -> None:
    """Check everything that the Space checks, offline; every fault is shown with its remedy."""
    report = check_with_progress(submission)
    if as_json:
        listed = [fault.to_json() for fault in report.faults]
        tasks = {covered.task: covered.to_json() for covered in report.coverage}
        print_json({"ok": report.ok, "faults": listed, "notes": list(report.notes), "tasks": tasks})
    else:
        if report.submission is None:
            faults(report.faults)
        else:
            from fairspace.submissions.commands.show.results import show_checked

            show_checked(submission, report.submission, report.coverage)
        notes(report.notes)
    raise typer.Exit(0 if report.ok else 1)


@app.command(epilog="Example: fairspace score my-submission --out result.json", rich_help_panel=SCORE)
def score(
    submission: Annotated[
        Path,
        typer.Argument(
            help="A folder, a .zip or a Hub dataset snapshot; or a result that --out wrote, to score it again.",
            metavar="SUBMISSION|RESULT",
        ),
    ],
    standard: Annotated[str, typer.Option(help="Standard to score under; if left out, the benchmark's default.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the result as JSON.")] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Also add the result to this store, a folder or hf://datasets/OWNER/NAME."),
    ] = None,
    ares: Annotated[
        str | None, typer.Option(help="Labels a submission's images: folder of ARES, or repository@revision.")
    ] = None,
    faces: Annotated[str, typer.Option(help="With --ares: face detector, a folder or ID@REVISION.")] = "",
    batch: Annotated[int, typer.Option(help="With --ares: faces at a time; changes speed, no result.", min=1)] = 64,
    device: Annotated[str, typer.Option(help="With --ares: torch's device; a GPU if there is one.")] = "",
    resamples: Annotated[
        int | None,
        typer.Option(
            help="Resamples for the intervals, at least 100; 0 for none. 1000 if left out.",
            envvar="FAIRSPACE_RESAMPLES",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check and score a submission, or score a result under another standard from its raw values alone."""
    check_places(out, store)
    if _is_result(submission):
        if ares is not None:
            raise UsageError(f"{submission} is a result, which holds no images; leave out --ares.")
        result = _rescored(submission, standard)
    else:
        result = _scored(submission, standard, resamples, ares, faces, batch, device)
    if out is not None:
        out.write_text(result.dumps(), encoding="utf-8")
    if store is not None:
        from fairspace.leaderboard_space.result_events import add_result
        from fairspace.submissions.commands.store import open_store

        storage = open_store(store)
        add_result(storage, result)
        storage.close()
    if as_json:
        print_json(result.to_json())
    else:
        from fairspace.submissions.commands.show.results import show_result

        show_result(result)


def _is_result(path: Path) -> bool:
    """Whether a path names a result rather than a submission, which is a folder or a zip: .json, or a file of JSON."""
    if path.is_dir():
        return False
    if path.suffix == ".json":
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(64).lstrip().startswith(b"{")


def _rescored(path: Path, standard: str) -> Result:
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.results.scoring import load_result, rescore

    if not path.is_file():
        raise UsageError(f"There is no result {path}; `fairspace score` writes one with --out.")
    result = load_result(path)
    fit = benchmark(result.benchmark).default_for(result.signature.get("dataset_revision", ""))
    return rescore(result, standard or fit)


def _scored(
    path: Path, standard: str, resamples: int | None, ares: str | None, faces: str, batch: int, device: str
) -> Result:
    if resamples is not None:
        from fairspace.submissions.uncertainty.resampling import check_resamples

        check_resamples(resamples, "--resamples")
    report = check_with_progress(path)
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    from fairspace.submissions.results.scoring import score_submission

    return score_submission(_labelled(path, report.submission, ares, faces, batch, device), standard, resamples)


def _labelled(path: Path, checked: Submission, ares: str | None, faces: str, batch: int, device: str) -> Submission:
    """The submission with its images labelled, if it has any. UsageError where images and --ares do not go together."""
    if checked.images is None:
        if ares is not None:
            raise UsageError(f"{path} holds no images; leave out --ares.")
        return checked
    if ares is None:
        raise UsageError(f"{path} holds images; name what labels them with --ares MODEL.")
    need_ares()
    from fairspace.submissions.progress import reported
    from fairspace.submissions.running.labelling import label_images

    detector = faces_setting(faces)
    with reported(f"Labelling {path.name}") as report:
        return label_images(path, checked, ares, detector=detector, batch=batch, device=device, progress=report)


@app.command(epilog="Example: fairspace compare run-plain run-debiased", rich_help_panel=SCORE)
def compare(
    submissions: Annotated[list[Path], typer.Argument(help="Two or more submissions to stereotypical_bias.")],
    as_json: Json = False,
) -> None:
    """Compare runs of the stereotypical bias benchmark: ensemble, similarity, difference that a prefix makes."""
    from fairspace.submissions.benchmarks.stereotypical_bias.declaration import compare as compare_runs

    if len(submissions) < 2:
        raise UsageError("Name two submissions or more.")
    compared_values: Mapping[str, Any] = compare_runs([checked_submission(path) for path in submissions])
    if as_json:
        print_json({name: value.to_json() for name, value in compared_values.items()})
    else:
        values("Comparison", compared_values.values())


@app.command(epilog="Example: fairspace schema > submission.schema.json", rich_help_panel=SCORE)
def schema() -> None:
    """Print the JSON schema of a submission."""
    from fairspace.submissions.format.json_schema import json_schema

    print_json(json_schema())
