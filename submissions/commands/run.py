"""The commands that run models: `fairspace run`, `judge`, `plan` and `remake`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.commands.show import results as show
from fairspace.submissions.errors import UsageError, need_packages, plain
from fairspace.submissions.format.schema import ARCHITECTURES
from fairspace.submissions.running.errors import RunError

if TYPE_CHECKING:
    from fairspace.submissions.running.asking.inspect_task import Chosen
    from fairspace.submissions.running.asking.spending import Bounds
    from fairspace.submissions.running.run import Outcome

RUN_EXAMPLE = "Example: fairspace run --benchmark genres --data built --model openai/gpt-4o --out mine"
JUDGE_EXAMPLE = "Example: fairspace judge mine --model openai/gpt-4o --model openai-api/local/mistral"
PLAN_EXAMPLE = "Example: fairspace plan --benchmark genres --data built --model openai/gpt-4o --limit 200 --stratified"
REMAKE_EXAMPLE = "Example: fairspace remake mine generation_neutral neutral/nurse 7 --out nurse.png"
IMPORT_EXAMPLE = "Example: fairspace import inspect logs/*.eval --out mine"

BenchmarkOption = Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.")]
DataOption = Annotated[
    str, typer.Option(help="Folder of builds, or NAMESPACE or NAMESPACE@TAG on the Hub; for items with images.")
]
TasksOption = Annotated[str, typer.Option(help="Tasks of the submission, with commas; all that the model can do.")]
LimitOption = Annotated[int | None, typer.Option(help="Stimuli of a task at most: a smaller run, marked so.", min=1)]
StratifiedOption = Annotated[bool, typer.Option("--stratified", help="Spread --limit evenly over the strata.")]
BaseUrlOption = Annotated[str, typer.Option("--model-base-url", help="Address of the server; the provider's own.")]
ArgumentOption = Annotated[
    list[str] | None, typer.Option("-M", help="Argument of the provider, NAME=VALUE; can be given again.")
]
ConnectionsOption = Annotated[int, typer.Option("--max-connections", help="Requests at once.", min=1)]
RetriesOption = Annotated[int, typer.Option("--max-retries", help="Of a request, by the engine.", min=0)]
TimeoutOption = Annotated[int, typer.Option(help="Of an attempt, in seconds.", min=1)]
TemperatureOption = Annotated[float | None, typer.Option(help="What the paper states, or the model's own.", min=0)]
TopPOption = Annotated[float | None, typer.Option(help="The model's own if left out.", min=0, max=1)]
MaxTokensOption = Annotated[int | None, typer.Option(help="Of an answer; the task's own bound if left out.", min=1)]
RevisionOption = Annotated[str, typer.Option(help="Commit, date or version of the model.")]
OrganisationOption = Annotated[str, typer.Option(help="Who made the model.")]
LicenceOption = Annotated[str, typer.Option(help="Its licence, an SPDX identifier where there is one.")]
ParametersOption = Annotated[float | None, typer.Option(help="All parameters of the model, in billions.")]
WeightsOption = Annotated[
    bool | None, typer.Option("--open-weights/--closed-weights", help="Whether anybody can download the weights.")
]
ArchitectureOption = Annotated[str | None, typer.Option(help=f"How it generates: {', '.join(ARCHITECTURES)}.")]
ContactOption = Annotated[str, typer.Option(help="Where questions can be asked.")]
TokenLimitOption = Annotated[
    int | None, typer.Option(help="Stop when so many tokens are spent, over all starts; the command goes on.", min=1)
]
CostLimitOption = Annotated[
    float | None, typer.Option(help="Stop when so much money is spent; needs --provider-prices.", min=0)
]
PricesOption = Annotated[
    Path | None, typer.Option(help="JSON: model -> prices in a million tokens; see submissions/RUNNING.md.")
]
AgainOption = Annotated[bool, typer.Option("--again", help="Ask again what failed in an earlier start.")]
TextOnlyOption = Annotated[bool, typer.Option("--text-only", help="genres: leave the pictures out.")]


def run(
    benchmark: BenchmarkOption,
    out: Annotated[Path, typer.Option(help="Folder of the submission; the workings lie beside it, in OUT.run.")],
    model: Annotated[str, typer.Option(help="Model that answers, as Inspect names it: PROVIDER/MODEL.")] = "",
    images: Annotated[
        str, typer.Option(help="Model that makes images: diffusers:ID, endpoint:URL#MODEL or python:MODULE:FUNCTION.")
    ] = "",
    ares: Annotated[str, typer.Option(help="Labels the images: folder of ARES, or repository@revision.")] = "",
    faces: Annotated[str, typer.Option(help="With --ares: face detector, a folder or ID@REVISION.")] = "",
    quality: Annotated[
        list[str] | None, typer.Option(help="What rates the images, ROLE=SCHEME:ID; see submissions/RUNNING.md.")
    ] = None,
    data: DataOption = "",
    tasks: TasksOption = "",
    limit: LimitOption = None,
    stratified: StratifiedOption = False,
    seed: Annotated[int | None, typer.Option(help="Of the run; each request and image has its own from it.")] = None,
    prefix: Annotated[str, typer.Option(help="stereotypical_bias: prefix of every prompt.")] = "plain",
    text_only: TextOnlyOption = False,
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
    name: Annotated[str, typer.Option(help="Of the model on the board; from --model if left out.")] = "",
    revision: RevisionOption = "not stated",
    organisation: OrganisationOption = "not stated",
    licence: LicenceOption = "not stated",
    contact: ContactOption = "not stated",
    parameters: ParametersOption = None,
    open_weights: WeightsOption = None,
    architecture: ArchitectureOption = None,
    again: AgainOption = False,
    score: Annotated[bool, typer.Option(help="Put the scores into Inspect's log; they take a while.")] = True,
    batch: Annotated[int, typer.Option(help="Faces at a time for ARES; changes nothing but speed.", min=1)] = 64,
    device: Annotated[str, typer.Option(help="Of torch; a GPU if there is one.")] = "",
) -> None:
    """Run a benchmark against a model and write the submission; a stopped run goes on with the same command."""
    need_run()
    from fairspace.submissions.commands.ares import faces_setting, need_ares
    from fairspace.submissions.running.asking.inspect_task import Chosen
    from fairspace.submissions.running.asking.models import ModelSettings
    from fairspace.submissions.running.run import run as ran
    from fairspace.submissions.running.settings import About, RunSettings
    from fairspace.submissions.running.watching import watched

    if ares:
        need_ares()
    out = _named(out)
    _check_together(limit, stratified, images, ares, faces, quality)
    chosen = Chosen(benchmark, data, _words(tasks), limit, stratified, seed, prefix, text_only)
    asked = None
    if not model and (token_limit is not None or cost_limit is not None):
        told = "--token-limit and --cost-limit bound what --model answers; images are counted by `fairspace plan`."
        raise UsageError(f"{told} Leave them out.")
    if model:
        given = _arguments(argument or [])
        bounds = _bounds(model, token_limit, cost_limit, provider_prices)
        asked = ModelSettings(
            model, base_url, connections, retries, timeout, temperature, top_p, max_tokens, given, bounds
        )
    _check_idle(chosen, model, images)
    about = About(name, revision, organisation, licence, contact, parameters, open_weights, architecture)
    rated = _pairs("--quality", quality or [])
    settings = RunSettings(
        chosen, out, asked, images, ares, faces_setting(faces), rated, about, again, score, device, batch
    )
    with watched() as tell:
        outcome = ran(settings, tell)
    if not outcome.stages:  # one of several processes, of which the first tells
        return
    _tell(outcome)
    following = "judge" if find_benchmark(benchmark).judge is not None else "score"
    labels = " --ares MODEL, which labels the images" if images and not ares else ""
    typer.echo(f"Wrote {out}. Next: fairspace {following} {out}{labels}")


def judge(
    submission: Annotated[Path, typer.Argument(help="Folder of a submission to genres.", metavar="SUBMISSION")],
    model: Annotated[
        list[str], typer.Option(help="A judge, as Inspect names it; can be given again. The first one is scored.")
    ],
    revision: Annotated[
        list[str] | None, typer.Option(help="Commit, date or version of a judge, in the order of --model.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Narratives at most.", min=1)] = None,
    stratified: StratifiedOption = False,
    seed: Annotated[int | None, typer.Option(help="Of the run; each request has its own from it.")] = None,
    json_schema: Annotated[
        bool, typer.Option("--json-schema", help="Hold the provider to the answer's JSON schema.")
    ] = False,
    base_url: Annotated[
        list[str] | None, typer.Option("--model-base-url", help="Address of a judge's server, in the order of --model.")
    ] = None,
    argument: ArgumentOption = None,
    connections: ConnectionsOption = 16,
    retries: RetriesOption = 6,
    timeout: TimeoutOption = 300,
    temperature: Annotated[float | None, typer.Option(help="Of the judges; 0 if left out.", min=0)] = None,
    max_tokens: MaxTokensOption = None,
    token_limit: TokenLimitOption = None,
    cost_limit: CostLimitOption = None,
    provider_prices: PricesOption = None,
    again: AgainOption = False,
) -> None:
    """Let models read the narratives of a submission, and write judgements.jsonl; a stopped run goes on."""
    need_run()
    from fairspace.submissions.running.asking.models import ModelSettings
    from fairspace.submissions.running.judging.judging import judge as judged
    from fairspace.submissions.running.watching import watched

    _check_together(limit, stratified)
    urls = base_url or []
    if len(urls) > 1 and len(urls) != len(model):
        raise UsageError(f"There are {len(model)} judges and {len(urls)} --model-base-url; give one, or one for each.")
    given = _arguments(argument or [])
    models = [
        ModelSettings(
            name,
            urls[number if len(urls) > 1 else 0] if urls else "",
            connections,
            retries,
            timeout,
            temperature,
            None,
            max_tokens,
            given,
            _bounds(name, token_limit, cost_limit, provider_prices),
        )
        for number, name in enumerate(model)
    ]
    with watched() as tell:
        found = judged(
            submission,
            models,
            revisions=revision or [],
            limit=limit,
            stratified=stratified,
            seed=seed,
            json_schema=json_schema,
            again=again,
            tell=tell,
        )
    for stage in found.stages:
        typer.echo(show.stage(stage))
    for log in found.logs:
        typer.echo(f"Note: Inspect's log: {log}")
    typer.echo(f"Wrote {submission}. Next: fairspace check {submission}")


def plan(
    benchmark: BenchmarkOption,
    model: Annotated[str, typer.Option(help="Model that answers, as the prices name it.")] = "",
    images: Annotated[
        str, typer.Option(help="Model that makes images, as the prices name it; without one, they are left out.")
    ] = "",
    images_only: Annotated[bool, typer.Option("--images-only", help="Leave out what is answered with text.")] = False,
    judges: Annotated[list[str] | None, typer.Option("--judge", help="A judge of genres; can be given again.")] = None,
    data: DataOption = "",
    tasks: TasksOption = "",
    limit: LimitOption = None,
    stratified: StratifiedOption = False,
    text_only: TextOnlyOption = False,
    provider_prices: PricesOption = None,
    concurrency: Annotated[int, typer.Option(help="Requests at once.", min=1)] = 16,
    seconds_per_request: Annotated[float | None, typer.Option(help="Measured; an estimate if left out.", min=0)] = None,
    seconds_per_image: Annotated[float | None, typer.Option(help="Measured; an estimate if left out.", min=0)] = None,
    image_tokens: Annotated[int | None, typer.Option(help="Tokens of a shown image; OpenAI's rule.", min=0)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Say before a run what it takes, and the smallest difference that it can show; nothing is asked."""
    need_run()
    from fairspace.submissions.commands.show.plan import show_plan
    from fairspace.submissions.running.asking.inspect_task import Chosen, Opened, open_benchmark
    from fairspace.submissions.running.asking.prices import read_prices
    from fairspace.submissions.running.planning.images import made_parts
    from fairspace.submissions.running.planning.plan import PlanSettings
    from fairspace.submissions.running.planning.plan import plan as planned
    from fairspace.submissions.running.run import check_tasks, text_tasks

    _check_together(limit, stratified)
    chosen = Chosen(benchmark, data, _words(tasks), limit, stratified, text_only=text_only)
    check_tasks(chosen)
    texts = () if images_only else text_tasks(chosen)
    opened = open_benchmark(replace(chosen, tasks=texts)) if texts else Opened(chosen, {}, {})
    made = made_parts(chosen) if images or images_only else []
    settings = PlanSettings(
        model=model,
        image_model=images,
        judges=tuple(judges or ()),
        prices=read_prices(provider_prices) if provider_prices else None,
        concurrency=concurrency,
        seconds_per_request=seconds_per_request,
        seconds_per_image=seconds_per_image,
        image_tokens=image_tokens,
    )
    found = planned(opened, settings, made)
    if as_json:
        typer.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=1))
    else:
        show_plan(found)


def remake(
    submission: Annotated[
        Path, typer.Argument(help="What `fairspace run` wrote; its workings lie beside it.", metavar="SUBMISSION")
    ],
    task: Annotated[str, typer.Argument(help="Of the image.", metavar="TASK")],
    item: Annotated[str, typer.Argument(help="Its id.", metavar="ID")],
    sample: Annotated[int, typer.Argument(help="Its number.", min=0, metavar="SAMPLE")],
    out: Annotated[Path, typer.Option(help="File to write the image to.")],
    images: Annotated[
        str, typer.Option(help="The run's model, as it was named then; needed unless it is one of diffusers.")
    ] = "",
    device: Annotated[str, typer.Option(help="Of torch; a GPU if there is one.")] = "",
) -> None:
    """Make one image of a run again, alone; exit code 1 if it is not the one that was handed in."""
    need_run()
    from fairspace.submissions.running.folders import work_folder
    from fairspace.submissions.running.images.making import remake as remade

    if not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write {out.name} to; make it first.")
    found = remade(work_folder(_named(submission)) / "images" / task, task, item, sample, images=images, device=device)
    out.write_bytes(found.image)
    typer.echo(f"Wrote {out}: {'the same bytes' if found.same else 'other bytes'} as in the run.")
    if not found.same:
        mend = "compare the machines: other hardware, drivers or versions round in other ways"
        raise RunError("IMAGE_DIFFERS", f"{task}/{item}/{sample}", "another image", "the one that was handed in", mend)


def import_inspect(
    logs: Annotated[
        list[Path], typer.Argument(help="Inspect's logs of one benchmark's tasks, .eval or .json.", metavar="LOG")
    ],
    out: Annotated[Path | None, typer.Option(help="Folder or .zip to write; it must not exist.")] = None,
    submission: Annotated[
        Path | None, typer.Option(help="Logs of judges: folder of the submission that they judged, instead of --out.")
    ] = None,
    model: Annotated[str, typer.Option(help="Name of the model on the board; the log's if left out.")] = "",
    revision: Annotated[
        list[str] | None,
        typer.Option(help="Commit, date or version of the model, or of each judge in the order of the logs."),
    ] = None,
    organisation: OrganisationOption = "not stated",
    licence: LicenceOption = "not stated",
    contact: ContactOption = "not stated",
    parameters: ParametersOption = None,
    open_weights: WeightsOption = None,
    architecture: ArchitectureOption = None,
) -> None:
    """Turn Inspect's logs of a benchmark's tasks into a submission, or those of judges into its judgements."""
    need_run()
    from fairspace.submissions.running.judging.importing import import_judges
    from fairspace.submissions.running.logs.importing import import_inspect as imported
    from fairspace.submissions.running.settings import About
    from fairspace.submissions.running.watching import watched

    revisions = revision or []
    if out is not None and submission is None:
        if len(revisions) > 1:
            raise UsageError(f"There are {len(revisions)} revisions of one model; give one.")
        first = revisions[0] if revisions else "not stated"
        about = About(model, first, organisation, licence, contact, parameters, open_weights, architecture)
        with watched() as tell:
            outcome = imported(logs, out, about=about, tell=tell)
    elif submission is not None and out is None:
        with watched() as tell:
            outcome = import_judges(logs, submission, revisions=revisions, tell=tell)
    else:
        raise UsageError("Name --out for answers, or --submission for judgements of one that is there already.")
    _tell(outcome)
    typer.echo(f"Wrote {outcome.out}. Next: fairspace score {outcome.out}")


def _tell(outcome: Outcome) -> None:
    for stage in outcome.stages:
        typer.echo(show.stage(stage))
    for note in outcome.notes:
        typer.echo(plain(f"Note: {note}"))


def _bounds(model: str, tokens: int | None, cost: float | None, prices: Path | None) -> Bounds:
    """What a run may spend. UsageError for a cost without prices; RunError PRICES_INVALID."""
    from fairspace.submissions.running.asking.prices import read_prices
    from fairspace.submissions.running.asking.spending import Bounds

    if cost is not None and prices is None:
        raise UsageError("--cost-limit needs --provider-prices FILE, which says what tokens cost.")
    return Bounds(tokens, cost, read_prices(prices).of_tokens(model) if prices else None)


def need_run() -> None:
    """UsageError if what running models needs is not installed."""
    need_packages("run", "inspect_ai", "openai", "aiohttp")


def _named(folder: Path) -> Path:
    """A folder by a path that ends with its name, as its workings lie in NAME.run; `.` has none."""
    return folder if folder.name not in ("", "..") else folder.resolve()


def _check_together(
    limit: int | None,
    stratified: bool,
    images: str = "",
    ares: str = "",
    faces: str = "",
    quality: list[str] | None = None,
) -> None:
    """UsageError for an option that would say nothing without another one: it is most likely a mistake."""
    if stratified and limit is None:
        raise UsageError("--stratified says how --limit chooses; name both, or leave it out.")
    if faces and not ares:
        raise UsageError("--faces finds the faces that --ares labels; name both, or leave it out.")
    if quality and not (images and ares):
        raise UsageError("--quality rates what --images makes and --ares labels; name all three, or leave it out.")


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


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _pairs(option: str, named: list[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in named]
    for one, (name, _, value) in zip(named, pairs, strict=True):
        if not name or not value:
            raise UsageError(f"{option} {one}: write NAME=VALUE.")
    return {name: value for name, _, value in pairs}


def _arguments(named: list[str]) -> dict[str, Any]:
    """Arguments of a provider: numbers, true, false and null as JSON, all else as text."""
    found: dict[str, Any] = {}
    for name, value in _pairs("-M", named).items():
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
