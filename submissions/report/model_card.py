"""A result as a model card of the Hub: `model-index`, `.eval_results` and six sentences on bias, risks and limitations.

Readers of a card skip its footnotes, so a part of a benchmark, another reading or a result without a rank has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairspace.builders.registry import paper
from fairspace.builders.writing import write_text
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError, markdown, plain
from fairspace.submissions.plotting import digits, interval_text
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import AUTHORS, limits_of
from fairspace.submissions.show.headline import first_values, sentences_of
from fairspace.submissions.values import Value

if TYPE_CHECKING:
    from huggingface_hub import EvalResult, EvalResultEntry, ModelCard

HOME = "https://huggingface.co/fairspace"
SENTENCES = 6
"""Sentences of a card: what was asked, the values, and what they do not show."""


def refusals(result: Result) -> list[str]:
    """Reasons for which a result has no card; empty where it has one."""
    reasons = [f"it is a part of the benchmark ({mark})" for mark in limits_of(result)]
    if result.signature.get("reading") == AUTHORS:
        reasons.append("its answers were read as the authors' programs read them")
    if result.meta.get("baseline"):
        reasons.append("a baseline is no model")
    unranked = [reason.rstrip(".") for reason in result.scored.unranked]
    ranked = result.scored.scores.get(result.scored.ranking)
    if ranked is None or ranked.value is None or unranked:
        reasons.append(f"it has no rank ({'; '.join(unranked) or f'no number for {result.scored.ranking}'})")
    return reasons


def sentences(result: Result) -> list[str]:
    """The six sentences, with intervals; those that show a bias come before those that show none."""
    bench, values, ranked = benchmark(result.benchmark), result.values.values(), result.scored.scores
    share = sum(value.valid for value in values) / sum(value.expected for value in values)
    shown = sorted(sentences_of(result), key=lambda sentence: "no bias shown" in sentence or "Not known" in sentence)
    no = bench.words.how_to_read.partition("**What it does not show.**")[2].replace("*", "")
    no = " ".join(no.split()).rstrip(".").replace(". ", "; ")
    total = ranked[result.scored.ranking]
    number = f"{digits(total.value)}{f' ({_interval(total)})' if total.interval else ''}"
    return [
        f"{bench.title} ({paper(result.benchmark).title}; {'; '.join(_about(result))}) gives {total.name} {number}, of "
        f"{100 * share:.0f} % of its samples.",
        *shown[: SENTENCES - 2],
        f"This does not show {no[:1].lower()}{no[1:]}; no bias shown with this many answers is no proof of fairness, "
        "and another use, language or group needs a test of its own.",
    ]


def _interval(value: Value) -> str:
    return f"95 %: {interval_text(value.interval)}" if value.interval else ""


def _protocol(result: Result) -> dict[str, str]:
    bench, signature = benchmark(result.benchmark), result.signature
    about = {"dataset_revision": signature.get("dataset_revision", ""), "standard": result.standard}
    about |= {"protocol": bench.protocol_of(signature, result.scored), "fairspace": signature.get("fairspace", "")}
    return {name: plain(text) for name, text in about.items() if text}


def _about(result: Result) -> list[str]:
    return [f"{name.replace('_', ' ')} {text}" for name, text in _protocol(result).items()]


def _numbers(result: Result) -> Iterator[tuple[str, float, Value, str]]:
    """Each first value with a finite number: name, number, value, meaning."""
    for name, value in first_values(result).items():
        if value.value is not None and math.isfinite(value.value):
            yield name, float(value.value), value, plain(benchmark(result.benchmark).describe(name) or name)


def _dataset(bench: Benchmark) -> str:
    return f"fairspace/{bench.reporting.hub_dataset or bench.name}"


def model_index(result: Result) -> list[EvalResult]:
    """The first values for the card's `model-index`; `metric_args` has interval, valid samples and protocol."""
    from huggingface_hub import EvalResult

    bench = benchmark(result.benchmark)
    task = "text-to-image" if "labels" in result.signature else bench.reporting.hub_task
    about: dict[str, Any] = {"task_type": task, "dataset_type": _dataset(bench), "dataset_name": bench.title}
    about |= {"source_name": f"fairspace, {bench.title}", "source_url": HOME}
    listed = []
    for name, number, value, meaning in _numbers(result):
        ends = [float(end) for end in value.interval or () if math.isfinite(end)]
        facts: dict[str, Any] = {"interval": ends, "level": 0.95} if len(ends) == 2 else {}
        facts |= {"valid": value.valid, "expected": value.expected, **_protocol(result)}
        metric = {"metric_type": name, "metric_name": meaning, "metric_value": number, "metric_args": facts}
        listed.append(EvalResult(**about | metric))
    return listed


def eval_entries(result: Result) -> list[EvalResultEntry]:
    """The same values for `.eval_results`, whose format keeps an interval in `notes` alone."""
    from huggingface_hub import EvalResultEntry

    dataset, about = _dataset(benchmark(result.benchmark)), _about(result)
    return [
        EvalResultEntry(dataset, name, number, notes="; ".join(filter(None, (meaning, _interval(value), *about))))
        for name, number, value, meaning in _numbers(result)
    ]


def model_card(result: Result, text: str = "") -> ModelCard:
    """The card of a model, a new one or one whose `text` is there; what fairspace wrote of the benchmark is replaced.

    Errors: UsageError, with all reasons, for a result without a card.
    """
    from huggingface_hub import ModelCard

    if reasons := refusals(result):
        raise UsageError(f"A card is read without its footnotes, so this result has none: {'; '.join(reasons)}.")
    card = ModelCard(text or f"---\n{{}}\n---\n\n# {markdown(str(result.meta['model']))}\n")
    title, ours = benchmark(result.benchmark).title, model_index(result)
    data: Any = card.data
    others = [each for each in data.eval_results or () if each.dataset_type != ours[0].dataset_type]
    data.eval_results = [*others, *ours]
    data.model_name = data.model_name or str(result.meta["model"]).rpartition("/")[2]
    begin, end = (f"<!-- {edge} of fairspace, {title} -->" for edge in ("begin", "end"))
    section = "\n\n".join([begin, *(markdown(sentence) for sentence in sentences(result)), end])
    before, is_there, after = card.text.partition(begin)
    if is_there:
        card.text = f"{before}{section}{after.partition(end)[2]}"
    else:
        top, heading, rest = card.text.partition("## Bias, Risks, and Limitations")
        card.text = f"{top.rstrip()}\n\n{heading or '## Bias, Risks, and Limitations'}\n\n{section}\n{rest}"
    return card


def write_card(result: Result, folder: Path) -> list[Path]:
    """Write a result into the folder of a model: `README.md`, new or completed, and `.eval_results/BENCHMARK.yaml`.

    Errors: UsageError for a result without a card, or a README.md whose metadata cannot be read.
    """
    import yaml
    from huggingface_hub import eval_result_entries_to_yaml

    readme, results = folder / "README.md", folder / ".eval_results" / f"{result.benchmark}.yaml"
    try:
        card = model_card(result, readme.read_text(encoding="utf-8") if readme.is_file() else "")
    except (ValueError, yaml.YAMLError) as error:
        raise UsageError(f"{readme}: its metadata cannot be read: {plain(str(error))}.") from error
    results.parent.mkdir(parents=True, exist_ok=True)
    write_text(readme, str(card).rstrip() + "\n")
    write_text(results, yaml.safe_dump(eval_result_entries_to_yaml(eval_entries(result)), sort_keys=False))
    return [readme, results]
