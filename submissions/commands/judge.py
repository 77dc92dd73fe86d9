"""`fairspace judge`, `import`, `baseline` and `items`: submissions that need no run, and what to show a model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.benchmarks.names import NAMES
from fairspace.submissions.commands.app import RUN, SCORE, app
from fairspace.submissions.commands.run_options import (
    AboutOption,
    AgainOption,
    AsAuthorsOption,
    CostLimitOption,
    MeasurementOption,
    PricesOption,
    SettingOption,
    TokenLimitOption,
    about_model,
    model_settings,
    need_run,
    spending_bounds,
    tell_outcome,
    tell_stages,
)
from fairspace.submissions.errors import UsageError, need_packages, plain
from fairspace.submissions.running.errors import MODEL_NAMES

_REVISION = "Dataset revision whose items"
BASELINES = ("random", "constant", "stereotyped", "balanced", "refusing")


@app.command(
    epilog="Example: fairspace judge mine --model openai/gpt-4o --model openai-api/local/mistral", rich_help_panel=RUN
)
def judge(
    submission: Annotated[Path, typer.Argument(help="Folder of a submission.", metavar="SUBMISSION")],
    model: Annotated[list[str], typer.Option(help=f"A judge: {MODEL_NAMES}. Can be given again; the first is scored.")],
    revision: Annotated[
        list[str] | None, typer.Option(help="Commit, date or version of a judge, in the order of --model.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Narratives, or answers of a task, at most.", min=1)] = None,
    setting: SettingOption = None,
    token_limit: TokenLimitOption = None,
    cost_limit: CostLimitOption = None,
    provider_prices: PricesOption = None,
    as_authors: AsAuthorsOption = False,
    again: AgainOption = False,
) -> None:
    """Let models read the narratives of a submission and write judgements.jsonl; a stopped run continues.

    Of a benchmark without a judge, one model reads what the rules leave unread, and a random 2 % of the other answers.
    """
    need_run()
    from fairspace.answers import submission_of
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.progress import watched
    from fairspace.submissions.running.judging.judging import as_the_authors
    from fairspace.submissions.running.judging.judging import judge as judged
    from fairspace.submissions.running.judging.second import read_again

    models = [
        model_settings(name, setting, bounds=spending_bounds(name, token_limit, cost_limit, provider_prices))
        for name in model
    ]
    if as_authors:
        bench = benchmark(submission_of(submission, allow_images=False).meta.benchmark)
        models = [each for model in models for each in as_the_authors(bench, model)]
    one = len(models) == 1 and len(revision or ()) < 2 and submission.is_dir()
    checked = submission_of(submission, allow_images=False) if one else None
    if checked is not None and benchmark(checked.meta.benchmark).asking.judge is None:
        of = "".join(revision or ())
        with watched() as tell:
            file, agreement = read_again(
                checked, models[0], submission, revision=of, limit=limit, again=again, tell=tell
            )
        typer.echo(plain(agreement))
        typer.echo(f"Wrote {file}. Next: fairspace score {submission} --second {file}")
        return
    with watched() as tell:
        outcome = judged(submission, models, revisions=revision or [], limit=limit, again=again, tell=tell)
    tell_stages(outcome.stages)
    for log in outcome.logs:
        typer.echo(f"Note: Inspect's log: {log}")
    typer.echo(f"Wrote {submission}. Next: fairspace check {submission}")


class Layout(StrEnum):
    """Layouts of outputs that become a submission."""

    inspect = "inspect"
    genres = "genres"
    iris = "iris"
    fairface = "fairface"
    deepface = "deepface"


@app.command("import", epilog="Example: fairspace import inspect logs/*.eval --out mine", rich_help_panel=RUN)
def import_outputs(
    layout: Annotated[
        Layout,
        typer.Argument(
            help="inspect: logs of Inspect. genres: the authors' JSONL files, plain or gzip. "
            "iris: the authors' ares_prediction_report.csv. fairface, deepface: a "
            "detector's labels of the images of --submission."
        ),
    ],
    files: Annotated[list[Path], typer.Argument(help="The files of one model.", metavar="FILE")],
    out: Annotated[Path, typer.Option(help="Folder or .zip to write; it must not exist.")],
    about: AboutOption = None,
    submission: Annotated[
        Path | None, typer.Option(help="fairface, deepface: the submission with the images that were labelled.")
    ] = None,
    measurement: MeasurementOption = None,
) -> None:
    """Turn outputs in another layout into a submission."""
    if layout == Layout.inspect:
        need_run()
        from fairspace.submissions.progress import watched
        from fairspace.submissions.running.logs.importing import import_inspect

        with watched() as tell:
            outcome = import_inspect(files, out, about=about_model(about), tell=tell)
        tell_outcome(outcome)
    elif layout in (Layout.fairface, Layout.deepface):
        if submission is None or len(files) != 1 or about:
            raise UsageError(f"import {layout} takes one FILE and the --submission with its images, and no --about.")
        need_packages("ares", "torch", "transformers")
        from fairspace.answers import submission_of
        from fairspace.submissions.format.writing import write_submission
        from fairspace.submissions.running.labelling import label_images
        from fairspace.submissions.running.zero_shot import open_labeller

        detections, _ = open_labeller(f"{layout}:{files[0]}")
        checked = submission_of(submission)
        labelled = label_images(submission, checked, labeller=detections, measurement=measurement)
        typer.echo(labelled.dump_meta()["labels"]["settings"]["use"])
        write_submission(out, labelled.meta, labelled.tables, manifest=labelled.manifest)
    else:
        from fairspace.submissions.benchmarks.genres.importing import STATED, import_genres
        from fairspace.submissions.benchmarks.iris.importing import import_iris

        facts = {name: fact for name, fact in vars(about_model(about)).items() if fact is not None}
        if given := [name for name in facts if name not in ("model", *STATED)]:
            raise UsageError(f"import {layout} takes no {', '.join(given)}; write it into submission.json.")
        (import_iris if layout == Layout.iris else import_genres)(files, out, **facts)
    typer.echo(f"Wrote {out}. Next: fairspace score {out}")


@app.command(epilog="Example: fairspace baseline random --benchmark genres --out random-genres", rich_help_panel=SCORE)
def baseline(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(BASELINES)}.", metavar="NAME")],
    benchmark: Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it must not exist.")],
    revision: Annotated[str, typer.Option(help=f"{_REVISION} are answered; the default if left out.")] = "",
) -> None:
    """Write a full-size submission of a trivial model: a chance line of the board."""
    from fairspace.submissions.benchmarks.baselines import write_baseline
    from fairspace.submissions.progress import reported

    with reported(f"Writing {out}") as report:
        write_baseline(name, benchmark, out, revision=revision, progress=report)
    typer.echo(f"Wrote {out}. Next: fairspace score {out}")


@app.command(epilog="Example: fairspace items genres --out genres-items", rich_help_panel=RUN)
def items(
    benchmark: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.", metavar="BENCHMARK")],
    out: Annotated[Path, typer.Option(help="Folder to write; one Parquet file for each task.")],
    revision: Annotated[str, typer.Option(help=f"{_REVISION} are written; the default if left out.")] = "",
    after: Annotated[
        Path | None,
        typer.Option(
            help="A submission with what some prompts follow from: IRIS' annotated neutral images (steer prompts), or "
            "GENRES' narratives (its judge's prompts)."
        ),
    ] = None,
    data: Annotated[str, typer.Option(help="For revision upstream: your copy of the authors' files.")] = "",
) -> None:
    """Write what to show a model: ids and prompts of every task, and how often each is asked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from fairspace.answers import submission_of
    from fairspace.builders.writing import beside
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark

    bench = find_benchmark(benchmark)
    tables = bench.items(revision, data=data)
    submission = None if after is None else submission_of(after, allow_images=False)
    if submission is not None:
        if submission.meta.benchmark != benchmark:
            what = f"{after} is a submission to {submission.meta.benchmark}"
            raise UsageError(f"{what}; --after takes one to {benchmark}.")
        follow = bench.asking.steer or bench.asking.judge
        if follow is None:
            raise UsageError(f"No prompt of {benchmark} follows from answers; leave out --after.")
        if revision not in ("", submission.meta.dataset_revision):
            what = f"{after} answers revision {submission.meta.dataset_revision}, not {revision}"
            raise UsageError(f"{what}; --after takes a submission to the items that are written.")
        further = follow(submission)
        if not further:
            raise UsageError(f"{after} has no labelled neutral image, no narrative and no profiles to ask after.")
        tables |= further
    if not tables:
        what = f"The prompts of {benchmark}'s revision {revision} are not ours"
        raise UsageError(f"{what}; name your copy of the authors' files: --data.")
    out.mkdir(parents=True, exist_ok=True)
    asked = submission.meta.dataset_revision if submission is not None else bench.revision(revision)
    for task, table in tables.items():
        samples = bench.task(task).samples_of(asked)
        table = table.append_column("task", pa.repeat(pa.scalar(task), table.num_rows))
        table = table.append_column("samples", pa.repeat(pa.scalar(samples, pa.int32()), table.num_rows))
        with beside(out / f"{task}.parquet") as place:
            pq.write_table(table, place)
        typer.echo(f"{out / task}.parquet: {table.num_rows} items")
