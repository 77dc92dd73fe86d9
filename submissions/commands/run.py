"""`fairspace run`: run a benchmark against a model and write the submission; `--dry-run` plans the run only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.commands.app import RUN, app
from fairspace.submissions.commands.shared.dry_run import DryRun
from fairspace.submissions.commands.shared.run_options import (
    AgainOption,
    ArchitectureOption,
    AresOption,
    ArgumentOption,
    BaseUrlOption,
    BenchmarkOption,
    ConnectionsOption,
    ContactOption,
    CostLimitOption,
    DataOption,
    DatasetRevisionOption,
    FacesOption,
    ImagesOption,
    LicenceOption,
    LimitOption,
    MaxTokensOption,
    ModelOption,
    OrganisationOption,
    ParametersOption,
    PricesOption,
    RetriesOption,
    RevisionOption,
    StratifiedOption,
    TasksOption,
    TemperatureOption,
    TextOnlyOption,
    TimeoutOption,
    TokenLimitOption,
    TopPOption,
    WeightsOption,
    check_together,
    named_folder,
    need_run,
    pairs,
    provider_arguments,
    spending_bounds,
    tell_outcome,
    words,
)
from fairspace.submissions.errors import UsageError
from fairspace.submissions.running.errors import RunError

if TYPE_CHECKING:
    from fairspace.submissions.running.asking.inspect_task import Chosen

DRY_RUN = "With --dry-run"


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
    dataset_revision: DatasetRevisionOption = "",
    tasks: TasksOption = "",
    limit: LimitOption = None,
    stratified: StratifiedOption = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the run; each request and image has a seed of its own from it.")
    ] = None,
    prefix: Annotated[str, typer.Option(help="stereotypical_bias: prefix of every prompt.")] = "plain",
    text_only: TextOnlyOption = False,
    forms: Annotated[
        bool, typer.Option("--forms", help="Then ask the questions in further forms; no score has a part of them.")
    ] = False,
    base_url: BaseUrlOption = "",
    argument: ArgumentOption = None,
    connections: ConnectionsOption = 16,
    retries: RetriesOption = 6,
    timeout: TimeoutOption = 300,
    temperature: TemperatureOption = None,
    top_p: TopPOption = None,
    max_tokens: MaxTokensOption = None,
    token_limit: TokenLimitOption = None,
    cost_limit: CostLimitOption = None,
    provider_prices: PricesOption = None,
    name: Annotated[str, typer.Option(help="Name of the model on the board; from --model if left out.")] = "",
    revision: RevisionOption = "not stated",
    organisation: OrganisationOption = "not stated",
    licence: LicenceOption = "not stated",
    contact: ContactOption = "not stated",
    parameters: ParametersOption = None,
    open_weights: WeightsOption = None,
    architecture: ArchitectureOption = None,
    again: AgainOption = False,
    score: Annotated[bool, typer.Option(help="Put the scores into Inspect's log; they take a while.")] = True,
    batch: Annotated[int, typer.Option(help="Faces at a time for ARES; changes speed, no result.", min=1)] = 64,
    device: Annotated[str, typer.Option(help="torch's device; a GPU if there is one.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Do not run; say what the run will take, and what it can show.")
    ] = False,
    images_only: Annotated[
        bool, typer.Option("--images-only", help="Leave out what is answered with text.", rich_help_panel=DRY_RUN)
    ] = False,
    judges: Annotated[
        list[str] | None,
        typer.Option("--judge", help="A judge of genres; can be given again.", rich_help_panel=DRY_RUN),
    ] = None,
    seconds_per_request: Annotated[
        float | None, typer.Option(help="Measured; an estimate if left out.", min=0, rich_help_panel=DRY_RUN)
    ] = None,
    seconds_per_image: Annotated[
        float | None, typer.Option(help="Measured; an estimate if left out.", min=0, rich_help_panel=DRY_RUN)
    ] = None,
    image_tokens: Annotated[
        int | None, typer.Option(help="Tokens of a shown image; OpenAI's rule.", min=0, rich_help_panel=DRY_RUN)
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(
            help="Submission of a similar model: differences that can be shown follow from how its samples vary.",
            metavar="SUBMISSION",
            rich_help_panel=DRY_RUN,
        ),
    ] = None,
    probe: Annotated[
        float | None,
        typer.Option(
            help="Ask the model a few requests of each task, for about so many seconds, and plan by its answers.",
            metavar="SECONDS",
            min=0,
            rich_help_panel=DRY_RUN,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON for a program to read.", rich_help_panel=DRY_RUN)
    ] = False,
) -> None:
    """Run a benchmark against a model and write the submission; a stopped run continues with the same command."""
    need_run()
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
    from fairspace.submissions.commands.ares import faces_setting, need_ares
    from fairspace.submissions.running.asking.inspect_task import Chosen
    from fairspace.submissions.running.asking.models import ModelSettings
    from fairspace.submissions.running.forms import check_forms, run_forms
    from fairspace.submissions.running.run import run as run_benchmark
    from fairspace.submissions.running.settings import About, RunSettings
    from fairspace.submissions.running.watching import watched

    check_together(limit, stratified, images, ares, faces, quality)
    if forms and dry_run:
        raise UsageError("--dry-run counts the paper's form; each further form takes as much again. Leave out --forms.")
    chosen = Chosen(benchmark, data, words(tasks), limit, stratified, seed, prefix, text_only, dataset_revision)
    seconds = seconds_per_request, seconds_per_image
    planned = DryRun(images_only, tuple(judges or ()), *seconds, image_tokens, like, as_json, probe)
    answering = ModelSettings(
        model,
        base_url,
        connections,
        retries,
        timeout,
        temperature,
        top_p,
        max_tokens,
        provider_arguments(argument or []),
    )
    if dry_run:
        planned.show(chosen, answering, images, provider_prices)
        return
    planned.check_unused()
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
        About(name, revision, organisation, licence, contact, parameters, open_weights, architecture),
        again,
        score,
        device,
        batch,
    )
    if forms:
        check_forms(settings)
    with watched() as tell:
        outcome = run_benchmark(settings, tell)
    if not outcome.stages:  # one of several processes, of which the first tells
        return
    tell_outcome(outcome)
    if forms:
        with watched() as tell:
            for further in run_forms(settings, tell):
                typer.echo(f"Wrote {further.out}, the same questions in another form; no score has a part of it.")
    following = "judge" if find_benchmark(benchmark).judge is not None else "score"
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
