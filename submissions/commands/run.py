"""`fairspace run`: run a benchmark against a model and write the submission; `--dry-run` plans the run only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.commands.app import RUN, app
from fairspace.submissions.commands.shared.run_options import (
    AboutOption,
    AgainOption,
    AresOption,
    BenchmarkOption,
    CostLimitOption,
    DataOption,
    FacesOption,
    ImagesOption,
    ModelOption,
    PricesOption,
    SettingOption,
    StratifiedOption,
    TokenLimitOption,
    about_model,
    check_together,
    model_settings,
    named_folder,
    need_run,
    pairs,
    spending_bounds,
    tell_outcome,
    words,
)
from fairspace.submissions.errors import UsageError, plain
from fairspace.submissions.running.errors import RunError

if TYPE_CHECKING:
    from fairspace.submissions.running.asking.inspect_task import Chosen
    from fairspace.submissions.running.asking.models import ModelSettings

SMALLEST = (
    "Difference: the smallest between two models' shares, of as many stimuli each, that is found with 80 % probability "
    "at the 5 % level, at shares of one half, where they vary most."
)


@app.command(
    epilog="Example: fairspace run --benchmark genres --data built --model openai/gpt-4o --out mine",
    rich_help_panel=RUN,
)
def run(
    benchmark: BenchmarkOption,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the submission; the run's own files lie beside it, in OUT.run."),
    ] = None,
    model: ModelOption = "",
    images: ImagesOption = "",
    ares: AresOption = "",
    faces: FacesOption = "",
    quality: Annotated[
        list[str] | None, typer.Option(help="What rates the images, ROLE=SCHEME:ID; see submissions/RUNNING.md.")
    ] = None,
    data: DataOption = "",
    dataset_revision: Annotated[
        str,
        typer.Option(
            help="Of the items that are asked, such as v2-core, a part of fact_or_fair; the default if left out."
        ),
    ] = "",
    tasks: Annotated[
        str,
        typer.Option(
            help="Tasks of the submission, with commas; all that the model can do, optional ones aside, if left out."
        ),
    ] = "",
    limit: Annotated[
        int | None,
        typer.Option(help="At most so many stimuli of each task: a smaller run, marked as limited.", min=1),
    ] = None,
    stratified: StratifiedOption = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the run; each request and image has a seed of its own from it.")
    ] = None,
    prefix: Annotated[str, typer.Option(help="stereotypical_bias: prefix of every prompt.")] = "plain",
    text_only: Annotated[
        bool, typer.Option("--text-only", help="genres, stereotypical_bias: leave the pictures out.")
    ] = False,
    forms: Annotated[
        bool, typer.Option("--forms", help="Then ask free questions in a closed form; no score has a part of it.")
    ] = False,
    setting: SettingOption = None,
    token_limit: TokenLimitOption = None,
    cost_limit: CostLimitOption = None,
    provider_prices: PricesOption = None,
    about: AboutOption = None,
    again: AgainOption = False,
    score: Annotated[bool, typer.Option(help="Put the scores into Inspect's log; they take a while.")] = True,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Do not run; say what the run will take, and the smallest difference it can show."
        ),
    ] = False,
) -> None:
    """Run a benchmark against a model and write the submission; a stopped run continues with the same command."""
    need_run()
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
    from fairspace.submissions.commands.ares import faces_setting, need_ares
    from fairspace.submissions.progress import watched
    from fairspace.submissions.running.asking.inspect_task import Chosen
    from fairspace.submissions.running.run import check_forms, run_forms
    from fairspace.submissions.running.run import run as run_benchmark
    from fairspace.submissions.running.settings import RunSettings

    check_together(limit, stratified, images, ares, faces, quality)
    if forms and dry_run:
        raise UsageError("--dry-run counts the paper's form; each further form takes as much again. Leave out --forms.")
    chosen = Chosen(benchmark, data, words(tasks), limit, stratified, seed, prefix, text_only, dataset_revision)
    answering = model_settings(model, setting)
    if dry_run:
        _show_plan(chosen, answering, images, provider_prices)
        return
    if out is None:
        raise UsageError("Name the folder of the submission with --out; only --dry-run needs none.")
    if ares:
        need_ares()
    if not model and (token_limit is not None or cost_limit is not None):
        what = "--token-limit and --cost-limit bound what --model answers; images are counted by --dry-run."
        raise UsageError(f"{what} Leave them out.")
    _check_idle(chosen, model, images)
    out = named_folder(out)
    settings = RunSettings(
        chosen,
        out,
        replace(answering, bounds=spending_bounds(model, token_limit, cost_limit, provider_prices)) if model else None,
        images,
        ares,
        faces_setting(faces),
        pairs("--quality", quality or []),
        about_model(about),
        again,
        score,
    )
    if forms:
        check_forms(settings)
    with watched() as tell:
        outcome = run_benchmark(settings, tell)
    tell_outcome(outcome)
    if forms:
        with watched() as tell:
            for further in run_forms(settings, tell):
                typer.echo(f"Wrote {further.out}, the same questions in another form; no score has a part of it.")
    following = "judge" if find_benchmark(benchmark).asking.judge is not None else "score"
    labels = " --ares MODEL, which labels the images" if images and not ares else ""
    typer.echo(f"Wrote {out}. Next: fairspace {following} {out}{labels}")


def _check_idle(chosen: Chosen, model: str, images: str) -> None:
    """RunError TASK_UNKNOWN if a named model has nothing to do among the tasks that are asked for."""
    from fairspace.submissions.running.images.generating import image_tasks
    from fairspace.submissions.running.run import check_tasks, text_tasks

    check_tasks(chosen)
    for option, named, tasks in (("--model", model, text_tasks(chosen)), ("--images", images, image_tasks(chosen))):
        if named and not tasks and chosen.tasks:
            what = f"{option} {named} has nothing to do in {', '.join(chosen.tasks)}"
            expected = "a task that is answered with text for --model, one that is answered with images for --images"
            mend = f"leave out {option}, or name another task"
            raise RunError("TASK_UNKNOWN", chosen.benchmark, what, expected, mend)


def _show_plan(
    chosen: Chosen,
    model: ModelSettings,
    images: str,
    prices: Path | None,
) -> None:
    """Print what a run takes; text tasks are left out where only a model that makes images is named."""
    from fairspace.submissions.running.asking.inspect_task import Opened, open_benchmark
    from fairspace.submissions.running.asking.prices import read_prices
    from fairspace.submissions.running.planning import made_parts, plan, smallest_difference
    from fairspace.submissions.running.run import check_tasks, limit_note, text_tasks

    check_tasks(chosen)
    texts = text_tasks(chosen) if model.name or not images else ()
    opened = open_benchmark(replace(chosen, tasks=texts)) if texts else Opened(chosen, {}, {})
    lines = plan(
        opened,
        model.name,
        image_model=images,
        image_parts=made_parts(chosen) if images else (),
        prices=read_prices(prices) if prices else None,
        max_tokens=model.max_tokens,
    )
    note = limit_note(opened)
    differences = [None if line.task == "judgements" else smallest_difference(line.stimuli) for line in lines]
    for line, found in zip(lines, differences, strict=True):
        what = "images" if line.made else "requests"
        text = f"{line.task} by {line.model or 'a model'}: {line.requests:,} of {line.of_requests:,} {what}"
        if not line.made:
            text += f"; {line.input:,.0f} tokens in, {line.output:,.0f} to {line.output_most:,.0f} out"
        if line.cost is not None:
            text += f"; {line.cost:,.2f} to {line.cost_most:,.2f} {line.currency}"
        if found is not None:
            text += f"; difference {found:.2g}" if found < 1 else "; too few stimuli to show a difference"
        typer.echo(plain(text))
    typer.echo(SMALLEST)
    if note:
        typer.echo(note)
