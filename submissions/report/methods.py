"""How the numbers of a report were made, as the paragraphs of a paper's methods section, and what to cite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairspace.builders.registry import paper
from fairspace.submissions.answers.reading import OUTCOMES
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.format.schema import LabelError
from fairspace.submissions.results.folded_facts import drawn
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import limits_of
from fairspace.submissions.version import VERSION


def methods(results: Sequence[Result], names: Sequence[str], tests: int) -> list[str]:
    """Paragraphs: benchmark, standard and protocol; for each model its answers and instruments; intervals; tests.

    Args:
        results: of one benchmark under one standard.
        names: of their models.
        tests: how many differences between models were tested.
    """
    first = results[0]
    bench = benchmark(first.benchmark)
    texts = [
        f"{bench.title} ({paper(first.benchmark).title}) was scored under the released standard {first.standard} with "
        f"fairspace {VERSION}. Ranks go by the worst case over missing samples."
    ]
    protocols = dict.fromkeys(bench.protocols.of(result.signature, result.scored) for result in results)
    texts += [text for protocol in protocols if (text := bench.protocol_text(protocol))]
    texts += [" ".join(_of_model(result, name)) for result, name in zip(results, names, strict=True)]
    texts.append(
        "Values are as measured, with 95 % intervals by the bootstrap, and stand beside what perfectly fair models of "
        "as many answers show by chance: their mean, and the end that 95 % of them stay within. Where a value is not "
        "beyond that end, or its interval holds the ideal, no bias is shown with this many answers."
    )
    if tests:
        texts.append(
            f"Differences between models are paired: both are resampled on the same items. The {tests} tests are "
            "corrected together by Holm's method, at 5 %."
        )
    return [plain(text) for text in texts]


def _of_model(result: Result, name: str) -> Iterator[str]:
    """Sentences on one model: its answers, how they were read, what labelled or judged them, its intervals."""
    signature = result.signature
    yield f"{name}: dataset revision {signature.get('dataset_revision', 'not stated')}."
    counts = [summary.outcomes for summary in result.readings.values()]
    handed_in = sum(count.get(outcome, 0) for count in counts for outcome in OUTCOMES)
    if handed_in:
        chosen = sum(count["choice"] for count in counts)
        absent = sum(count["not_handed_in"] for count in counts)
        yield (
            f"Of {handed_in + absent:,} answers {handed_in:,} were handed in; {100 * chosen / handed_in:.1f} % of "
            f"these could be read as a choice (parser {signature.get('parser', 'not stated')})."
        )
    for role, text in (("labels", "Images were labelled by"), ("judge", "Texts were judged by")):
        if role in signature:
            yield f"{text} {signature[role]}."
    if "label_error" in result.meta:
        yield _label_error(LabelError.model_validate(result.meta["label_error"]))
    name = benchmark(result.benchmark).reporting.leading(result.scored, result.standard)[0]
    total = result.scored.shown.get(name)
    if total is not None and total.uncertainty is not None:
        method = f"{drawn(total.uncertainty)}; resamples: {signature.get('resamples', 'not stated')}"
        yield f"Interval of {name}: {method}."
    for mark in limits_of(result):
        yield f"It is a part of the benchmark: {mark}."


def _label_error(error: LabelError) -> str:
    """The share of wrong labels by attribute."""
    shares = []
    for attribute, matrix in error.attributes.items():
        right, every = sum(row[i] for i, row in enumerate(matrix.counts)), sum(map(sum, matrix.counts))
        shares.append(
            f"{attribute} {100 * (1 - right / every):.1f} % of {every:,}" if every else f"{attribute} unknown"
        )
    return f"Its measured label errors are {', '.join(shares)} ({error.source})."


def citations(benchmark_name: str) -> str:
    """The entries for BibTeX of the benchmark's paper and of the software."""
    software = (
        "@software{fairspace,\n  title = {fairspace: fairness benchmarks for generative models},\n"
        f"  author = {{{{The fairspace contributors}}}},\n  version = {{{VERSION}}}\n}}"
    )
    return f"{paper(benchmark_name).citation}\n\n{software}\n"
