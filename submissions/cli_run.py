"""The commands that run models: `fairspace run`, `judge`, `plan` and `remake`."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from submissions import show
from submissions.faults import UsageError
from submissions.registry import NAMES

RUN_EXAMPLE = "Example: fairspace run --benchmark genres --data built --model openai/gpt-4o --out mine"
_PACKAGES = {"inspect_ai": "inspect-ai", "openai": "openai", "aiohttp": "aiohttp"}

BenchmarkOption = Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.")]
DataOption = Annotated[
    str, typer.Option(help="Folder of builds, or NAMESPACE[@TAG] on the Hub; only for items with images.")
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
    text_only: Annotated[bool, typer.Option("--text-only", help="genres: leave the pictures out.")] = False,
    base_url: BaseUrlOption = "",
    argument: ArgumentOption = None,
    connections: ConnectionsOption = 16,
    retries: RetriesOption = 6,
    timeout: TimeoutOption = 300,
    temperature: TemperatureOption = None,
    top_p: TopPOption = None,
    max_tokens: MaxTokensOption = None,
    name: Annotated[str, typer.Option(help="Of the model on the board; from --model if left out.")] = "",
    revision: Annotated[str, typer.Option(help="Commit, date or version of the model.")] = "not stated",
    organisation: Annotated[str, typer.Option(help="Who made the model.")] = "not stated",
    licence: Annotated[str, typer.Option(help="Its licence, an SPDX identifier where there is one.")] = "not stated",
    contact: Annotated[str, typer.Option(help="Where questions can be asked.")] = "not stated",
    again: Annotated[bool, typer.Option("--again", help="Ask again what failed in an earlier start.")] = False,
    score: Annotated[bool, typer.Option(help="Put the scores into Inspect's log; they take a while.")] = True,
    batch: Annotated[int, typer.Option(help="Faces at a time for ARES; changes nothing but speed.", min=1)] = 64,
    device: Annotated[str, typer.Option(help="Of torch; a GPU if there is one.")] = "",
) -> None:
    """Run a benchmark against a model and write the submission; a stopped run goes on with the same command."""
    need_run()
    from submissions.cli_ares import faces_setting, need_ares
    from submissions.running.inspect_task import Chosen
    from submissions.running.models import ModelSettings
    from submissions.running.run import About, RunSettings
    from submissions.running.run import run as ran
    from submissions.running.watching import watched

    if ares:
        need_ares()
    chosen = Chosen(benchmark, data, _words(tasks), limit, stratified, seed, prefix, text_only)
    asked = None
    if model:
        given = _arguments(argument or [])
        asked = ModelSettings(model, base_url, connections, retries, timeout, temperature, top_p, max_tokens, given)
    about = About(name, revision, organisation, licence, contact)
    rated = _pairs("--quality", quality or [])
    settings = RunSettings(
        chosen, out, asked, images, ares, faces_setting(faces), rated, about, again, score, device, batch
    )
    with watched() as tell:
        outcome = ran(settings, tell)
    for stage in outcome.stages:
        typer.echo(show.stage(stage))
    for note in outcome.notes:
        typer.echo(f"Note: {note}")
    following = "judge" if benchmark == "genres" else "score"
    typer.echo(f"Wrote {out}. Next: fairspace {following} {out}")


def need_run() -> None:
    """UsageError if what running models needs is not installed."""
    missing = [package for module, package in _PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise UsageError(f"{', '.join(missing)} not installed: pip install 'fairspace[run]'.")


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
