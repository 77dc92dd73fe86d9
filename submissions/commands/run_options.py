"""Options shared by the commands that run models, and the settings from them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairspace.submissions.errors import UsageError, did_you_mean, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairspace.submissions.format.manifest import Stage
    from fairspace.submissions.running.asking.models import ModelSettings
    from fairspace.submissions.running.asking.prices import Bounds
    from fairspace.submissions.running.run import RunOutcome
    from fairspace.submissions.running.settings import ModelFacts


def revision_of(benchmark: str, dataset_revision: str, core: bool) -> str:
    """The dataset revision that is named, or a benchmark's core; '' for neither. UsageError for both."""
    if not core:
        return dataset_revision
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark

    if dataset_revision:
        raise UsageError("--core is a dataset revision; name it, or another one with --dataset-revision.")
    return find_benchmark(benchmark).core


def launched_part(asked_part: str, out: Path | None) -> tuple[str, Path | None]:
    """The part of a command, which is said on the first line, and its folder beside `out`. BuildError PART_INVALID."""
    from fairspace.builders.part import part_folder, read_part

    part = read_part(asked_part)
    if part and out is not None:
        out = part_folder(out.resolve() if out.name in ("", "..") else out, part)
    if part:
        of = "" if asked_part else ", as the launcher's rank says; --part 0/1 is the whole"
        typer.echo(f"Part {part}{of}{f': {out}' if out is not None else ''}")
    return part, out


def to_join(folder: Path, part: str) -> str:
    """The command that joins the parts beside the folder of one."""
    whole = folder.with_name(folder.name.rpartition(".part-")[0])
    return f"fairspace join {whole}.part-*-of-{part.partition('/')[2]:0>5} --out {whole}"


def words(text: str) -> tuple[str, ...]:
    """The words between commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def pairs(option: str, texts: list[str]) -> dict[str, str]:
    """Name -> value of an option given as NAME=VALUE. UsageError for another form."""
    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value:
            raise UsageError(f"{option} {text}: write NAME=VALUE.")
        values[name] = value
    return values


def _from_json(text: str) -> Any:
    """The value of a setting: JSON where it is valid, else text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def model_settings(
    name: str, texts: list[str] | None, option: str = "-M", bounds: Bounds | None = None
) -> ModelSettings:
    """Settings for asking a model, from the values of `option`. UsageError for a value out of its range."""
    from fairspace.submissions.running.asking.models import DEFAULT, SENT, ModelSettings
    from fairspace.submissions.running.asking.prices import Bounds

    settings = {name: _from_json(text) for name, text in pairs(option, texts or []).items()}
    fields: dict[str, Any] = {}
    for setting, (argument, kind, least, most) in _SETTINGS.items():
        if setting not in settings:
            continue
        value = settings.pop(setting)
        is_right = isinstance(value, kind) and not isinstance(value, bool)
        unsent = setting in SENT and value == DEFAULT
        if not unsent and (not is_right or (kind is not str and not least <= value <= most)):
            expected = "a text" if kind is str else f"{'a whole' if kind is int else 'a'} number, at least {least}"
            raise UsageError(f"{option} {setting}={value}: expected {expected}{f', at most {most}' * (most == 1)}.")
        fields[argument] = value
    return ModelSettings(name, **fields, arguments=settings, bounds=bounds or Bounds())


_SETTINGS: Mapping[str, tuple[str, Any, float, float]] = {
    "base_url": ("base_url", str, 0, 0),
    "max_connections": ("connections", int, 1, math.inf),
    "max_retries": ("retries", int, 0, math.inf),
    "timeout": ("timeout", int, 1, math.inf),
    "temperature": ("temperature", int | float, 0, math.inf),
    "top_p": ("top_p", int | float, 0, 1),
    "max_tokens": ("max_tokens", int, 1, math.inf),
    "max_completion_tokens": ("max_completion_tokens", int, 1, math.inf),
}
"""Setting of -M -> field of `ModelSettings`, type, smallest and largest value."""


def about_model(texts: list[str] | None) -> ModelFacts:
    """The model's entries in `submission.json`. UsageError for an unknown name."""
    from fairspace.submissions.running.settings import ModelFacts

    names = [each.name for each in fields(ModelFacts)]
    stated = pairs("--about", texts or [])
    for name in stated:
        if name not in names:
            raise UsageError(f"--about {name}{did_you_mean(name, names)}: expected one of {', '.join(names)}.")
    values: dict[str, Any] = {name: _from_json(text) if name in _NOT_TEXT else text for name, text in stated.items()}
    if "thresholds" in stated:
        from fairspace.submissions.report.evidence import read_statement, thresholds_digest

        values["thresholds"] = thresholds_digest(read_statement(Path(stated["thresholds"])))
    return ModelFacts(**values)


_NOT_TEXT = ("parameters", "open_weights")


def spending_bounds(model: str, tokens: int | None, cost: float | None, prices: Path | None) -> Bounds:
    """The spending limits of a run. UsageError for a cost without prices; RunError PRICES_INVALID."""
    from fairspace.submissions.running.asking.models import read_name
    from fairspace.submissions.running.asking.prices import Bounds, read_prices

    if cost is not None and prices is None:
        raise UsageError("--cost-limit needs --provider-prices FILE, which says what tokens cost.")
    return Bounds(tokens, cost, read_prices(prices).of_tokens(read_name(model)[0]) if prices else None)


def tell_outcome(outcome: RunOutcome) -> None:
    """Print the stages of a run, and its notes."""
    tell_stages(outcome.stages)
    for note in outcome.notes:
        typer.echo(plain(f"Note: {note}"))


def tell_stages(stages: Iterable[Stage]) -> None:
    """Print the requests and the course of each stage."""
    from fairspace.submissions.show.submission import course_line, stage

    for done in stages:
        typer.echo(stage(done))
        if line := course_line(done):
            typer.echo(line)


def refuse_together(settings: Mapping[str, object], apart: Mapping[str, Sequence[str]]) -> None:
    """UsageError for two options of which one would be left out; `settings`: option -> its setting."""
    for option, others in apart.items():
        for other in others:
            if settings[option] and settings[other]:
                raise UsageError(
                    f"{option} and {other} do not go together; leave one out, and repeat the command for it."
                )
