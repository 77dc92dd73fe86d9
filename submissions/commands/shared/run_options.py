"""Options that the commands which run models share, and what is made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairspace.submissions.benchmarks.names import NAMES
from fairspace.submissions.errors import UsageError, need_packages, plain
from fairspace.submissions.format.vocabulary import ARCHITECTURES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairspace.submissions.format.manifest import Stage
    from fairspace.submissions.running.asking.spending import Bounds
    from fairspace.submissions.running.run import Outcome

BenchmarkOption = Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.")]
DataOption = Annotated[
    str, typer.Option(help="Folder of builds, or NAMESPACE or NAMESPACE@TAG on the Hub; for items with images.")
]
DatasetRevisionOption = Annotated[
    str,
    typer.Option(help="Of the items that are asked, such as v2-core, a part of fact_or_fair; the newest if left out."),
]
TasksOption = Annotated[
    str,
    typer.Option(
        help="Tasks of the submission, with commas; all that the model can do, optional ones aside, if left out."
    ),
]
LimitOption = Annotated[
    int | None, typer.Option(help="At most so many stimuli of each task: a smaller run, marked as limited.", min=1)
]
StratifiedOption = Annotated[bool, typer.Option("--stratified", help="Spread --limit evenly over the strata.")]
ModelOption = Annotated[str, typer.Option(help="Model that answers, as Inspect names it: PROVIDER/MODEL.")]
ImagesOption = Annotated[
    str, typer.Option(help="Model that makes images: diffusers:ID, endpoint:URL#MODEL or python:MODULE:FUNCTION.")
]
AresOption = Annotated[str, typer.Option(help="Labels the images: folder of ARES, or repository@revision.")]
FacesOption = Annotated[str, typer.Option(help="With --ares: face detector, a folder or ID@REVISION.")]
BaseUrlOption = Annotated[
    str, typer.Option("--model-base-url", help="Address of the server; the provider's if left out.")
]
ArgumentOption = Annotated[
    list[str] | None, typer.Option("-M", help="Argument of the provider, NAME=VALUE; can be given again.")
]
ConnectionsOption = Annotated[int, typer.Option("--max-connections", help="Requests at a time.", min=1)]
RetriesOption = Annotated[int, typer.Option("--max-retries", help="Retries of a request, by the engine.", min=0)]
TimeoutOption = Annotated[int, typer.Option(help="Time limit of an attempt, in seconds.", min=1)]
TemperatureOption = Annotated[
    float | None, typer.Option(help="Temperature; the paper's, or else the model's default, if left out.", min=0)
]
TopPOption = Annotated[float | None, typer.Option(help="Top p; the model's default if left out.", min=0, max=1)]
MaxTokensOption = Annotated[int | None, typer.Option(help="Tokens of an answer; the task's limit if left out.", min=1)]
RevisionOption = Annotated[str, typer.Option(help="Commit, date or version of the model.")]
OrganisationOption = Annotated[str, typer.Option(help="Who made the model.")]
LicenceOption = Annotated[str, typer.Option(help="Licence of the model, an SPDX identifier where there is one.")]
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
TextOnlyOption = Annotated[
    bool, typer.Option("--text-only", help="genres, stereotypical_bias: leave the pictures out.")
]


def need_run() -> None:
    """UsageError if what running models needs is not installed."""
    need_packages("run", "inspect_ai", "openai", "aiohttp")


def named_folder(folder: Path) -> Path:
    """A folder by a path that ends with its name, as its workings lie in NAME.run; `.` has none."""
    return folder if folder.name not in ("", "..") else folder.resolve()


def check_together(
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


def words(text: str) -> tuple[str, ...]:
    """The words between commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def pairs(option: str, texts: list[str]) -> dict[str, str]:
    """The values of an option that is given as NAME=VALUE, by name. UsageError for another form."""
    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value:
            raise UsageError(f"{option} {text}: write NAME=VALUE.")
        values[name] = value
    return values


def provider_arguments(texts: list[str], option: str = "-M") -> dict[str, Any]:
    """Arguments of a provider: numbers, true, false and null as JSON, everything else as text."""
    return {name: _from_json(value) for name, value in pairs(option, texts).items()}


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def spending_bounds(model: str, tokens: int | None, cost: float | None, prices: Path | None) -> Bounds:
    """The limits on what a run spends. UsageError for a cost without prices; RunError PRICES_INVALID."""
    from fairspace.submissions.running.asking.prices import read_prices
    from fairspace.submissions.running.asking.spending import Bounds

    if cost is not None and prices is None:
        raise UsageError("--cost-limit needs --provider-prices FILE, which says what tokens cost.")
    return Bounds(tokens, cost, read_prices(prices).of_tokens(model) if prices else None)


def tell_outcome(outcome: Outcome) -> None:
    """Print what each stage of a run did, and what the user should know."""
    tell_stages(outcome.stages)
    for note in outcome.notes:
        typer.echo(plain(f"Note: {note}"))


def tell_stages(stages: Iterable[Stage]) -> None:
    """Print what each stage did, and how it went beside its plan."""
    from fairspace.submissions.commands.show.results import course_line, stage

    for done in stages:
        typer.echo(stage(done))
        if line := course_line(done):
            typer.echo(line)
