"""The commands that check, score and compare submissions: `fairspace check`, `score`, `compare` and `schema`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairspace.submissions.commands.app import SCORE, All, Json, SubmissionPath, app, check_places, print_json
from fairspace.submissions.commands.ares import LabellerOption, MeasurementOption, faces_setting, need_ares
from fairspace.submissions.commands.shared.checked import check_with_progress, checked_submission, is_result
from fairspace.submissions.commands.show.tables import faults, notes
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import SubmissionError

ARES = "ares"
"""What `--labeller` is if it is left out."""

if TYPE_CHECKING:
    from fairspace.submissions.format.schema import Submission
    from fairspace.submissions.results.result import Result


@app.command(epilog="Example: fairspace check my-submission.zip", rich_help_panel=SCORE)
def check(submission: SubmissionPath, as_json: Json = False) -> None:
    """Validate a submission offline, as the leaderboard does; every fault is shown with its remedy."""
    report = check_with_progress(submission)
    if as_json:
        listed = [fault.to_json() for fault in report.faults]
        tasks = {covered.task: covered.to_json() for covered in report.coverage}
        checked = {"ok": report.ok, "faults": listed, "notes": list(report.notes), "tasks": tasks}
        print_json(checked | {"consistency": _consistency(report.submission)})
    else:
        if report.submission is None:
            faults(report.faults)
        else:
            from fairspace.submissions.commands.show.results import show_checked

            show_checked(submission, report.submission, report.coverage)
        notes(report.notes)
    raise typer.Exit(0 if report.ok else 1)


def _consistency(submission: Submission | None) -> dict[str, Any]:
    """The consistency proof of a faultless submission as JSON data; images without labels have none."""
    if submission is None or submission.images is not None:
        return {}
    from fairspace.submissions.answers.rows import read_rows
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.checking.consistency import prove

    bench = benchmark(submission.meta.benchmark)
    return {task: held.to_json() for task, held in prove(submission, bench, read_rows(submission, bench)).items()}


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
    reading: Annotated[
        str,
        typer.Option(help="`authors`: read the answers as the paper does; gives no rank.", metavar="WHO"),
    ] = "",
    ares: Annotated[
        str | None, typer.Option(help="Labels a submission's images: folder of ARES, or repository@revision.")
    ] = None,
    labeller: LabellerOption = "ares",
    measurement: MeasurementOption = None,
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
    items: Annotated[
        bool, typer.Option(help="Keep a few answers of each value to look at; not where their licence forbids it.")
    ] = True,
    everything: All = False,
    as_json: Json = False,
) -> None:
    """Check and score a submission, or score a result under another standard from its raw values alone."""
    check_places(out, store)
    if is_result(submission):
        if ares is not None or labeller != ARES:
            raise UsageError(f"{submission} is a result, which holds no images; leave out --ares and --labeller.")
        if reading:
            raise UsageError(f"{submission} is a result, which holds no answers; name the submission with --reading.")
        result = _rescored(submission, standard)
    else:
        by = _Labelling(ares, labeller, measurement, faces, batch, device)
        result = _scored(submission, standard, resamples, by, reading)
    if not items:
        result = replace(result, items={})
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

        show_result(result, everything=everything)


def _rescored(path: Path, standard: str) -> Result:
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.results.scoring import load_result, rescore

    if not path.is_file():
        raise UsageError(f"There is no result {path}; `fairspace score` writes one with --out.")
    result = load_result(path)
    fit = benchmark(result.benchmark).default_for(result.signature.get("dataset_revision", ""))
    return rescore(result, standard or fit)


@dataclass(frozen=True)
class _Labelling:
    """The options that say what labels images."""

    ares: str | None
    labeller: str
    measurement: Path | None
    faces: str
    batch: int
    device: str

    @property
    def asked(self) -> bool:
        """Whether anything is to label images."""
        return self.ares is not None or self.labeller != ARES


def _scored(path: Path, standard: str, resamples: int | None, by: _Labelling, reading: str) -> Result:
    if resamples is not None:
        from fairspace.submissions.uncertainty.resampling import check_resamples

        check_resamples(resamples, "--resamples")
    report = check_with_progress(path)
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    from fairspace.submissions.results.scoring import score_submission

    return score_submission(_labelled(path, report.submission, by), standard, resamples, reading)


def _labelled(path: Path, checked: Submission, by: _Labelling) -> Submission:
    """The submission with its images labelled, if it has any. UsageError where images and options do not fit."""
    if checked.images is None:
        if by.asked:
            raise UsageError(f"{path} holds no images; leave out --ares and --labeller.")
        return checked
    if not by.asked:
        raise UsageError(f"{path} holds images; name what labels them with --ares MODEL or --labeller PACKAGE.")
    need_ares()
    from fairspace.submissions.progress import reported
    from fairspace.submissions.running.labelling import label_images

    with reported(f"Labelling {path.name}") as report:
        return label_images(
            path,
            checked,
            by.ares or "",
            labeller=by.labeller,
            measurement=by.measurement,
            detector=faces_setting(by.faces),
            batch=by.batch,
            device=by.device,
            progress=report,
        )


@app.command(epilog="Example: fairspace compare mine.json theirs.json", rich_help_panel=SCORE)
def compare(
    compared: Annotated[
        list[Path],
        typer.Argument(help="Two or more results, or submissions to stereotypical_bias.", metavar="RESULT"),
    ],
    as_json: Json = False,
) -> None:
    """Compare results: each score against the first model's, with intervals and corrected significance.

    Of submissions to stereotypical_bias: ensemble, similarity, and the difference that a prompt prefix makes.
    """
    if len(compared) < 2:
        raise UsageError("Name two results or submissions, or more.")
    results = [is_result(path) for path in compared]
    if all(results):
        _compare_results(compared, as_json)
        return
    if any(results):
        raise UsageError("Name results alone or submissions alone; `fairspace score` makes results with --out.")
    from fairspace.submissions.benchmarks.stereotypical_bias.compare import compare as compare_runs
    from fairspace.submissions.benchmarks.stereotypical_bias.compare import shared

    submissions = [checked_submission(path) for path in compared]
    values: Mapping[str, Any] = compare_runs(submissions)
    if as_json:
        print_json({name: value.to_json() for name, value in values.items()})
    else:
        from fairspace.submissions.commands.show.values import show_values, show_wrapped
        from fairspace.submissions.results.scoring import marks_of

        show_values("Comparison", values.values())
        for path, given in zip(compared, submissions, strict=True):
            for mark in marks_of(given.dump_meta(), given.manifest.run() if given.manifest else ()):
                show_wrapped(f"{path} is a part of the benchmark: {mark}.")
        show_wrapped(shared(values))


def _compare_results(paths: Sequence[Path], as_json: bool) -> None:
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.report.contents import make_report
    from fairspace.submissions.results.scoring import load_result

    results = [load_result(path) for path in paths]
    report = make_report(results)
    if as_json:
        better = benchmark(report.results[0].benchmark).higher_is_better
        about = {"base": report.names[0], "higher_is_better": better}
        print_json([about | compared.to_json() for compared in report.compared])
        return
    from fairspace.submissions.commands.show.tables import table
    from fairspace.submissions.commands.show.values import show_wrapped

    if (shown := report.table("differences")) is None:
        raise UsageError(_why_nothing_is_compared(results, paths))
    table(shown.heading, shown.columns, shown.rows)
    show_wrapped(shown.note)


def _why_nothing_is_compared(results: Sequence[Result], paths: Sequence[Path]) -> str:
    """Results without draws, or without a number."""
    without = [path.name for path, result in zip(paths, results, strict=True) if result.draws is None]
    lacking = [score for result in results if (score := result.scored.shown[result.scored.ranking]).value is None]
    if without and not lacking:
        return (
            f"{' and '.join(without)} keep no resamples to compare: scored with --resamples 0, or by an older version. "
            "Score the submission again."
        )
    reason = f": {lacking[0].name} is {lacking[0].state.replace('_', ' ')}, as {lacking[0].reason}" if lacking else ""
    return f"No score has a number in the first result and in another, so there is nothing to compare{reason}."


@app.command(epilog="Example: fairspace schema > submission.schema.json", rich_help_panel=SCORE)
def schema() -> None:
    """Print the JSON schema of a submission."""
    from fairspace.submissions.format.json_schema import json_schema

    print_json(json_schema())
