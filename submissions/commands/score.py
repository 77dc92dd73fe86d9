"""Commands that check, score and show submissions and results."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.commands import ares as cli_ares
from fairspace.submissions.commands import store as cli_store
from fairspace.submissions.commands.app import RUN, SCORE, app, importing
from fairspace.submissions.commands.show import results as show
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import SubmissionError
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.scoring import load_result

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
StoreOption = Annotated[
    str,
    typer.Option(
        "--store", envvar="FAIRSPACE_STORE", help="What the board shows: a folder, or hf://datasets/OWNER/NAME."
    ),
]
DEFAULT_STORE = ".fairspace"
BASELINES = ("random", "constant", "stereotyped", "balanced", "refusing")


def _check_places(out: Path | None, store: str | None = None) -> None:
    """Find out before the work, not after it, that its result cannot be written. UsageError says what is in the way."""
    if out is not None and not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write {out.name} to; make it first.")
    if out is not None and out.is_dir():
        raise UsageError(f"{out} is a folder; name a file for --out.")
    if store is not None and "://" not in store and Path(store).exists() and not Path(store).is_dir():
        raise UsageError(f"{store} is no folder; name a folder for --store.")


def _print_json(data: Any) -> None:
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


@app.command(epilog="Example: fairspace check my-submission.zip", rich_help_panel=SCORE)
def check(
    submission: Annotated[
        Path, typer.Argument(help="A folder, a .zip or a Hub dataset snapshot.", metavar="SUBMISSION")
    ],
    as_json: Json = False,
) -> None:
    """Check everything that the Space checks, offline; every fault is shown with its remedy."""
    report = _reported(submission)
    if as_json:
        faults = [fault.to_json() for fault in report.faults]
        _print_json({"ok": report.ok, "faults": faults, "notes": list(report.notes)})
    elif report.submission is not None:
        show.checked(submission, report.submission)
    else:
        show.faults(report.faults)
    if not as_json:
        show.notes(report.notes)
    raise typer.Exit(0 if report.ok else 1)


@app.command(epilog="Example: fairspace score my-submission --out result.json", rich_help_panel=SCORE)
def score(
    submission: Annotated[
        Path, typer.Argument(help="A folder, a .zip or a Hub dataset snapshot.", metavar="SUBMISSION")
    ],
    standard: Annotated[str, typer.Option(help="Standard to score under.")] = "inaugural",
    out: Annotated[Path | None, typer.Option(help="Write the result as JSON.")] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Also add the result to this store, a folder or hf://datasets/OWNER/NAME."),
    ] = None,
    ares: Annotated[
        str | None, typer.Option(help="Labels a submission's images: folder of ARES, or repository@revision.")
    ] = None,
    faces: Annotated[str, typer.Option(help="With --ares: face detector, a folder or ID@REVISION.")] = "",
    batch: Annotated[int, typer.Option(help="With --ares: faces at a time; changes nothing but speed.", min=1)] = 64,
    device: Annotated[str, typer.Option(help="With --ares: of torch; a GPU if there is one.")] = "",
    resamples: Annotated[
        int | None,
        typer.Option(
            help="Resamples for the intervals, at least 100; 0 for none. 1000 if left out.",
            envvar="FAIRSPACE_RESAMPLES",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check and score a submission; print its scores with state, interval, coverage and counts."""
    from fairspace.submissions.results.scoring import score_submission
    from fairspace.submissions.uncertainty.resampling import check_resamples

    if resamples is not None:
        check_resamples(resamples, "--resamples")
    _check_places(out, store)
    report = _reported(submission)
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    checked = _labelled(submission, report.submission, ares, faces, batch, device)
    result = score_submission(checked, standard, resamples)
    if out is not None:
        out.write_text(result.dumps(), encoding="utf-8")
    if store is not None:
        storage = cli_store.open_store(store)
        from fairspace.leaderboard_space.state import add_result

        add_result(storage, result)
        storage.close()
    if as_json:
        _print_json(result.to_json())
    else:
        show.result(result)


def _labelled(path: Path, checked: Any, ares: str | None, faces: str, batch: int, device: str) -> Any:
    """The submission with its images labelled, if it has any. UsageError where images and --ares do not go together."""
    if checked.images is None:
        if ares is not None:
            raise UsageError(f"{path} holds no images; leave out --ares.")
        return checked
    if ares is None:
        raise UsageError(f"{path} holds images; name what labels them with --ares MODEL.")
    cli_ares.need_ares()
    from fairspace.submissions.progress import reported
    from fairspace.submissions.running.labelling import label_images

    detector = cli_ares.faces_setting(faces)
    with reported(f"Labelling {path.name}") as report:
        return label_images(path, checked, ares, detector=detector, batch=batch, device=device, progress=report)


def _reported(path: Path, *, allow_images: bool = True) -> Any:
    from fairspace.submissions.checking.submission import check_submission
    from fairspace.submissions.progress import reported

    with reported(f"Checking {path.name}") as report:
        return check_submission(path, progress=report, allow_images=allow_images)


def _checked(path: Path) -> Any:
    report = _reported(path, allow_images=False)
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    return report.submission


def _checked_for(asked: str, benchmark: str, path: Path, option: str) -> Any:
    """The submission at a path, which an option of one benchmark names. UsageError if either is of another."""
    if asked != benchmark:
        raise UsageError(f"{option} is for {benchmark}, not for {asked}.")
    checked = _checked(path)
    if checked.meta.benchmark != benchmark:
        raise UsageError(f"{path} is a submission to {checked.meta.benchmark}; {option} takes one to {benchmark}.")
    return checked


@app.command(epilog="Example: fairspace rescore result.json --standard algorithm_1", rich_help_panel=SCORE)
def rescore(
    result: Annotated[Path, typer.Argument(help="What `fairspace score --out` wrote.", metavar="RESULT")],
    standard: Annotated[str, typer.Option(help="Standard to score under.")],
    out: Annotated[Path | None, typer.Option(help="Write the new result as JSON.")] = None,
    as_json: Json = False,
) -> None:
    """Score a result under another standard, from its raw values alone."""
    from fairspace.submissions.results.scoring import rescore as rescored

    _check_places(out)
    new = rescored(load_result(result), standard)
    if out is not None:
        out.write_text(new.dumps(), encoding="utf-8")
    if as_json:
        _print_json(new.to_json())
    else:
        show.result(new)


@app.command(epilog="Example: fairspace board --benchmark iris --standard algorithm_1", rich_help_panel=SCORE)
def board(
    benchmark: Annotated[str | None, typer.Option(help=f"One of {', '.join(NAMES)}; all if left out.")] = None,
    standard: Annotated[str, typer.Option(help="Standard to show the board under.")] = "inaugural",
    store: StoreOption = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show the board: published figures, scored submissions and baselines."""
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark

    names = [benchmark] if benchmark else [n for n in NAMES if standard in find_benchmark(n).standards]
    if not names:
        raise UsageError(f"No benchmark has a standard {standard!r}. `fairspace board` shows the inaugural ones.")
    storage = cli_store.open_store(store) if store == DEFAULT_STORE else cli_store.existing_store(store)
    from fairspace.leaderboard_space.state import State

    state = State(storage)
    state.refresh()
    boards = {name: state.board(name, standard) for name in names}
    storage.close()
    if as_json:
        _print_json(
            {name: [show.row_json(row) for row in with_errors(rows, standard)] for name, rows in boards.items()}
        )
        return
    for name, rows in boards.items():
        show.board(name, standard, rows)


@app.command(epilog="Example: fairspace baseline random --benchmark genres --out random-genres", rich_help_panel=SCORE)
def baseline(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(BASELINES)}.", metavar="NAME")],
    benchmark: Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it must not exist.")],
    seed: Annotated[int, typer.Option(help="Seed of the random parts.")] = 0,
) -> None:
    """Write a full-size submission of a trivial model: a chance line of the board."""
    from fairspace.submissions.benchmarks.baselines import write_baseline
    from fairspace.submissions.progress import reported

    with reported(f"Writing {out}") as report:
        write_baseline(name, benchmark, out, seed=seed, progress=report)
    typer.echo(f"Wrote {out}. Next: fairspace score {out}")


@app.command(epilog="Example: fairspace items genres --out genres-items", rich_help_panel=RUN)
def items(
    benchmark: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.", metavar="BENCHMARK")],
    out: Annotated[Path, typer.Option(help="Folder to write; one Parquet file for each task.")],
    neutral: Annotated[
        Path | None, typer.Option(help="IRIS: a submission with annotated neutral images; adds its steer prompts.")
    ] = None,
    narratives: Annotated[
        Path | None, typer.Option(help="GENRES: a submission with narratives; adds the prompts of its judge.")
    ] = None,
) -> None:
    """Write what to show a model: ids and prompts of every task."""
    import pyarrow.parquet as pq

    from fairspace.builders.iris.items import steer_items
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark

    found = find_benchmark(benchmark).items()
    if neutral is not None:
        from fairspace.submissions.benchmarks.iris.records import neutral_group_counts

        counts = neutral_group_counts(_checked_for(benchmark, "iris", neutral, "--neutral"))
        if not counts.any():
            raise UsageError(f"{neutral} has no labelled neutral image; the steer prompts follow from those.")
        found["generation_steer"] = steer_items(counts)
    if narratives is not None:
        from fairspace.submissions.benchmarks.genres.ask import judge_items

        judged = judge_items(_checked_for(benchmark, "genres", narratives, "--narratives"))
        if not judged:
            raise UsageError(f"{narratives} has no narrative that can be split; there is nothing to judge.")
        found |= judged
    out.mkdir(parents=True, exist_ok=True)
    for task, table in found.items():
        pq.write_table(table, out / f"{task}.parquet")
        typer.echo(f"{out / task}.parquet: {table.num_rows} items")


@app.command(epilog="Example: fairspace compare run-plain run-debiased", rich_help_panel=SCORE)
def compare(
    submissions: Annotated[list[Path], typer.Argument(help="Two or more submissions to stereotypical_bias.")],
    as_json: Json = False,
) -> None:
    """Compare runs of the stereotypical bias benchmark: ensemble, similarity, difference that a prefix makes."""
    from fairspace.submissions.benchmarks.stereotypical_bias.declaration import compare as compared

    if len(submissions) < 2:
        raise UsageError("Name two submissions or more.")
    outcome: Mapping[str, Any] = compared([_checked(path) for path in submissions])
    if as_json:
        _print_json({name: value.to_json() for name, value in outcome.items()})
    else:
        show.values("Comparison", outcome.values())


@importing.command("genres", epilog="Example: fairspace import genres model_mf_*.jsonl.gz --out my-submission")
def import_genres(
    files: Annotated[list[Path], typer.Argument(help="JSONL files in the authors' published layout, plain or gzip.")],
    out: Annotated[Path, typer.Option(help="Folder or .zip to write; it must not exist.")],
    model: Annotated[str | None, typer.Option(help="Name of the model; from the file names if left out.")] = None,
    revision: Annotated[str, typer.Option(help="Commit, date or version of the model.")] = "not stated",
    organisation: Annotated[str, typer.Option(help="Who made the model.")] = "not stated",
    licence: Annotated[str, typer.Option(help="Its licence, an SPDX identifier where there is one.")] = "not stated",
    contact: Annotated[str, typer.Option(help="Where questions can be asked.")] = "not stated",
) -> None:
    """Import GENRES responses in the layout that the paper's authors published."""
    from fairspace.submissions.benchmarks.genres.importing.files import import_genres as imported

    imported(files, out, model=model, revision=revision, organisation=organisation, licence=licence, contact=contact)
    typer.echo(f"Wrote {out}. Next: fairspace score {out}")


@app.command(epilog="Example: fairspace schema > submission.schema.json", rich_help_panel=SCORE)
def schema() -> None:
    """Print the JSON schema of a submission."""
    from fairspace.submissions.format.json_schema import json_schema

    _print_json(json_schema())
