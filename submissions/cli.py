"""The command `fairspace`.

Exit codes: 0 done, 1 a submission, source, build or run is at fault, 2 wrong use, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from builders.errors import CodedError
from submissions import (
    cli_ares,
    cli_builders,
    cli_probe,
    cli_run,
    cli_space,
    cli_standard,
    cli_store,
    cli_validate,
    show,
)
from submissions.faults import SubmissionError, UsageError, plain
from submissions.registry import NAMES
from submissions.result import Result
from submissions.row_errors import with_errors

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Run a model against a fairness benchmark; check, score and compare what it answered.",
    epilog="Start with: fairspace baseline balanced --benchmark fact_or_fair --out demo && fairspace score demo",
)
importing = typer.Typer(no_args_is_help=True, help="Turn outputs in other layouts into a submission.")
RUN, SCORE, MAKE = "Run a model", "Check, score and compare", "Make and publish datasets, metrics and the classifier"
SPACE = "Hand in, and serve the board"
app.command("plan", epilog=cli_run.PLAN_EXAMPLE, rich_help_panel=RUN)(cli_run.plan)
app.command("run", epilog=cli_run.RUN_EXAMPLE, rich_help_panel=RUN)(cli_run.run)
app.command("judge", epilog=cli_run.JUDGE_EXAMPLE, rich_help_panel=RUN)(cli_run.judge)
app.command("remake", epilog=cli_run.REMAKE_EXAMPLE, rich_help_panel=RUN)(cli_run.remake)
app.command("probe", epilog=cli_probe.PROBE_EXAMPLE, rich_help_panel=RUN)(cli_probe.probe)
app.add_typer(importing, name="import", rich_help_panel=RUN)
importing.command("inspect", epilog=cli_run.IMPORT_EXAMPLE)(cli_run.import_inspect)
app.add_typer(cli_ares.app, name="ares", rich_help_panel=MAKE)
app.add_typer(cli_standard.app, name="standard", rich_help_panel=SCORE)
app.add_typer(cli_store.app, name="store", rich_help_panel=SCORE)
ONLINE = ("ares", "build", "judge", "plan", "probe", "publish", "remake", "run")
"""The commands that may talk to the Hub: for models and datasets, and to publish."""
STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
StoreOption = Annotated[
    str,
    typer.Option(
        "--store", envvar="FAIRSPACE_STORE", help="What the board shows: a folder, or hf://datasets/OWNER/NAME."
    ),
]
DEFAULT_STORE = ".fairspace"
BASELINES = ("random", "constant", "stereotyped", "balanced", "refusing")


def main() -> None:
    """Run the command; wrong use and faults end it with a message, not a traceback."""
    names_model = any(word.partition("=")[0] == "--ares" for word in sys.argv[1:])
    names_hub = any("hf://" in word for word in (*sys.argv[1:], os.environ.get("FAIRSPACE_STORE", "")))
    offline = not set(sys.argv[1:2]) & set(ONLINE) and not names_model and not names_hub
    os.environ.setdefault("HF_HUB_OFFLINE", "1" if offline else "0")
    try:
        app()
    except UsageError as error:
        typer.secho(f"fairspace: {plain(str(error))}", fg="red", err=True)
        sys.exit(2)
    except SubmissionError as error:
        show.faults(error.faults)
        sys.exit(1)
    except CodedError as error:
        typer.secho(f"fairspace: {plain(str(error))}", fg="red", err=True)
        sys.exit(STOPPED if error.code == "RUN_STOPPED" else 1)
    except OSError as error:
        if error.filename is None:
            raise
        typer.secho(f"fairspace: {error.filename}: {error.strerror}.", fg="red", err=True)
        sys.exit(2)


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
    from submissions.result import score_submission
    from submissions.uncertainty.resampling import check_resamples

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
        from leaderboard_space.state import add_result

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
    from submissions.labelling import label_images
    from submissions.progress import reported

    detector = cli_ares.faces_setting(faces)
    with reported(f"Labelling {path.name}") as report:
        return label_images(path, checked, ares, detector=detector, batch=batch, device=device, progress=report)


def _reported(path: Path, *, allow_images: bool = True) -> Any:
    from submissions.check import check_submission
    from submissions.progress import reported

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
    from submissions.result import rescore as rescored

    _check_places(out)
    new = rescored(Result.load(result), standard)
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
    from submissions.registry import benchmark as find_benchmark

    names = [benchmark] if benchmark else [n for n in NAMES if standard in find_benchmark(n).standards]
    if not names:
        raise UsageError(f"No benchmark has a standard {standard!r}. `fairspace board` shows the inaugural ones.")
    storage = cli_store.open_store(store) if store == DEFAULT_STORE else cli_store.existing_store(store)
    from leaderboard_space.state import State

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
    from submissions.baselines import write_baseline
    from submissions.progress import reported

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

    from builders.export import steer_items, tables
    from submissions.registry import benchmark as find_benchmark

    found = tables(find_benchmark(benchmark).name)
    if neutral is not None:
        from submissions.iris_generation import neutral_group_counts

        counts = neutral_group_counts(_checked_for(benchmark, "iris", neutral, "--neutral"))
        if not counts.any():
            raise UsageError(f"{neutral} has no labelled neutral image; the steer prompts follow from those.")
        found["generation_steer"] = steer_items(counts)
    if narratives is not None:
        from submissions.genres_judge_items import judge_items

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
    from submissions.stereotypical_bias import compare as compared

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
    from submissions.import_genres import import_genres as imported

    imported(files, out, model=model, revision=revision, organisation=organisation, licence=licence, contact=contact)
    typer.echo(f"Wrote {out}. Next: fairspace score {out}")


@app.command(epilog="Example: fairspace schema > submission.schema.json", rich_help_panel=SCORE)
def schema() -> None:
    """Print the JSON schema of a submission."""
    from submissions.check import json_schema

    _print_json(json_schema())


app.command("validate", epilog=cli_validate.EXAMPLE, rich_help_panel=SCORE)(cli_validate.validate)
app.command("submit", epilog=cli_space.SUBMIT_EXAMPLE, rich_help_panel=SPACE)(cli_space.submit)
app.command("status", epilog=cli_space.STATUS_EXAMPLE, rich_help_panel=SPACE)(cli_space.status)


@app.command(epilog="Example: fairspace leaderboard --port 7860 --insecure-local", rich_help_panel=SPACE)
def leaderboard(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1.", min=1, max=65535)] = 7860,
    store: StoreOption = DEFAULT_STORE,
    insecure_local: Annotated[
        bool, typer.Option("--insecure-local", help="Let everybody on this machine submit, without signing in.")
    ] = False,
    baselines: Annotated[bool, typer.Option(help="Score the bundled baselines while nobody waits.")] = True,
    admin: Annotated[
        list[str] | None, typer.Option(help="A maintainer, who may withdraw rows; can be given again.")
    ] = None,
) -> None:
    """Serve the board on 127.0.0.1, as a Space does; every setting of leaderboard_space/OPERATION.md holds."""
    from leaderboard_space.app import serve
    from leaderboard_space.settings import Settings

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise UsageError(f"Port {port} is taken ({error.strerror}); choose another with --port.") from error
    settings = Settings.from_environment()
    if "FAIRSPACE_WORK" not in os.environ and "://" not in store:
        settings = replace(settings, work=Path(f"{store}.work"))
    settings = replace(
        settings,
        store=store,
        insecure_local=insecure_local,
        baselines=settings.baselines and baselines,
        admins=(*settings.admins, *(admin or ())),
    )
    typer.echo(f"The board is on http://127.0.0.1:{port} (Ctrl-C stops it).")
    if not insecure_local:
        typer.echo("It can be read; handing in needs --insecure-local here, or a Space where users sign in.")
    serve(settings, port=port)


app.command("build", epilog=cli_builders.BUILD_EXAMPLE, rich_help_panel=MAKE)(cli_builders.build)
app.command("sources", epilog=cli_builders.SOURCES_EXAMPLE, rich_help_panel=MAKE)(cli_builders.sources)
app.command("publish", epilog=cli_builders.PUBLISH_EXAMPLE, rich_help_panel=MAKE)(cli_builders.publish)


@app.command(
    "train-parser",
    rich_help_panel=MAKE,
    epilog="Example: fairspace train-parser --source UD_English-EWT --out en_ewt_small",
)
def train_parser(
    source: Annotated[Path, typer.Option(help="Folder of the three gzipped CoNLL-U files of UD English EWT.")],
    out: Annotated[Path, typer.Option(help="Folder to write the pipeline to.")],
) -> None:
    """Train the embedded English pipeline that GENRES' M3 and M5 run on (up to an hour on one core)."""
    from submissions.parser.train import train

    try:
        scores = train(source, out)
    except FileNotFoundError as error:
        raise UsageError(str(error)) from error
    _print_json(scores)
