"""FACT-OR-FAIR in words, for pages; and its rows: Table 2, with Tables 3 to 8 as values, as shares."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from fairspace.builders.fact_or_fair.dataset import contested
from fairspace.builders.registry import Figure
from fairspace.metrics.fact_or_fair.formula import GROUPS
from fairspace.submissions.benchmarks.benchmark import About, Listing
from fairspace.submissions.benchmarks.fact_or_fair.score import KINDS, STANDARDS
from fairspace.submissions.benchmarks.published import Published, models, published_row, source
from fairspace.submissions.values import Value, measured, not_run

_SCORES = {
    "factuality": "knows the facts",
    "fairness": "keeps facts out of judgements",
    "average": "mean of facts and fairness, by which the paper's Table 2 orders models",
}
_METRICS = {
    "factuality": "agrees with the statistics",
    "factuality_revised": "agrees with the official figures",
    "entropy": "how evenly answers spread over groups",
    "kld": "how alike answers for highest and lowest are",
    "kld_authors": "the same, as the authors' code has it",
    "fairness": "evenness and likeness as one number",
    "distance": "distance from the curve of what is possible",
    "invalid": "share of samples that name no group",
    "refusal_rate": "share of answers that decline",
    "refusal_disparity": "difference of groups in this share",
    "chance": "right answers by guessing",
    "position": "share of the letter chosen most",
    "position_bias": "how uneven the chosen letters are",
}
_COGNITIVE = "chooses the group that the context hints at"
_CONTEXTS = {
    "llm_objective": "objective questions",
    "llm_base": "subjective, no context",
    "llm_subjective": "subjective, all contexts",
    "llm_representativeness": "subjective, representativeness",
    "llm_attribution": "subjective, attribution",
    "llm_ingroup": "subjective, in-group",
    "t2i_objective": "objective prompts",
    "t2i_subjective": "subjective prompts",
    "t2i_subjective_paper": "subjective, the paper's prompt",
}


@lru_cache
def about() -> About:
    """The description of FACT-OR-FAIR for pages."""
    return About(
        scored,
        references=[
            "**paper**: the groups that the authors' labels name as highest and lowest of 19 statistics.",
            "**revised**: the same, by the official figures that could be found again, with their sources "
            "(`builders/reference/fact_or_fair_statistics.csv`); what no figure decides is left out.",
            f"Contested, by year and unit of the figures: {'; '.join(contested())}. The configuration `truth` of the "
            "dataset has the year, the source and both margins of every label.",
        ],
        describe=describe,
        metric=metric,
    )


@lru_cache(4096)
def describe(name: str) -> str:
    """A score or a value in words."""
    words = name.split("_")
    if words[0] == "share":
        return f"share of a group in the answers that name one: {_CONTEXTS.get('_'.join(words[1:-1]), '')}, {words[-1]}"
    attribute = f", {words.pop()}" if words[-1] in GROUPS else ""
    rest = "_".join(words)
    kind = next((kind for kind in KINDS if kind in words), "")
    if kind and (score := rest.replace(kind, "").strip("_")) in _SCORES:
        return f"{_SCORES[score]}, {KINDS[kind]}{attribute}"
    for metric, text in _METRICS.items():
        context = rest.removeprefix(f"{metric}_")
        if context != rest and context in _CONTEXTS:
            return f"{text}: {_CONTEXTS[context]}{attribute}"
    return f"{_COGNITIVE}: {' '.join(words[2:])}{attribute}" if words[:2] == ["cognitive", "error"] else ""


def metric(name: str) -> str:
    """The folder of the metric that computes a score or a value, or ''."""
    if name.startswith("cognitive_error"):
        return "cognitive_error_rate"
    return "fact_or_fair" if name.startswith(("factuality", "entropy", "kld", "fairness", "distance")) else ""


def scored(standard: Any) -> Listing:
    """The contexts of both kinds of model, by attribute."""
    kinds = {"llm": "language models", "t2i": "image models"}
    rows = [
        [context, title, attribute, ", ".join(groups)]
        for kind, title in kinds.items()
        for context in standard.contexts[kind]
        for attribute, groups in GROUPS.items()
    ]
    return Listing("The questions", ["Context", "Asked of", "Attribute", "Groups"], rows)


def rows(standard: str) -> Iterator[Published]:
    """Table 2's models; under another truth their factuality is not available."""
    images = STANDARDS[standard].contexts["t2i"][1]
    same_truth = STANDARDS[standard].truth == "paper"
    reason = f"not available under {standard}: the printed answers are judged by the paper's labels"
    for (_, kind), cells in models("fact_or_fair").items():
        scores = {cell.score: _share(cell) for cell in cells if cell.table == cells[0].table}
        if not same_truth:
            scores |= {name: not_run(name, reason) for name in scores if "fairness" not in name}
        values = [_share(cell, images) for cell in cells if cell.table != cells[0].table]
        yield published_row(
            cells,
            scores,
            f"average_{kind}",
            unranked=() if same_truth else (f"partial: factuality is {reason}",),
            values={value.name: value for value in values},
            cohort=KINDS[kind],
        )


def _share(figure: Figure, images: str = "t2i_subjective") -> Value:
    """A figure in percent as a share, under the name that the standard has for its images."""
    if figure.value is None:
        raise ValueError(f"{figure.id} is {figure.printed!r}: every cell of FACT-OR-FAIR's tables is a number")
    evidence = {"printed": f"{figure.printed} %", "source": source(figure)}
    name = figure.score.replace("t2i_subjective", images)
    return measured(name, figure.value / 100, evidence=evidence)
