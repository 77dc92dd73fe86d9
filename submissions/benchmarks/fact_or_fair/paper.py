"""Tables 2 to 8 of FACT-OR-FAIR, and its Figures 2, 4 and 5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES
from fairspace.builders.registry import Figure
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.fact_or_fair.records import LLM_CONTEXTS
from fairspace.submissions.benchmarks.fact_or_fair.score import STANDARDS
from fairspace.submissions.benchmarks.paper import Block, Paper, PaperTable
from fairspace.submissions.benchmarks.scoring_table import Rule, ScoringTable
from fairspace.submissions.values import Value

_KINDS = {"llm": "(a) LLM", "t2i": "(b) T2I Model"}
_METRICS = {
    "factuality": ("4", "S_fact", "the share of answers that agree with the statistics"),
    "fairness": ("5", "S_fair", "evenness and likeness of the answers as one number"),
    "entropy": ("6", "S_E", "evenness of the answers over groups"),
    "kld": ("7", "S_KLD", "likeness of the answers for highest and lowest"),
    "distance": ("8", "d", "distance to the largest S_E that S_fact allows"),
}
_ERRORS = {
    "R. Bias High": "representativeness_high",
    "R. Bias Low": "representativeness_low",
    "Attr. Err.": "attribution",
    "In-G. Bias": "ingroup",
    "Out-G. Bias": "outgroup",
    "Avg. Increase": "increase",
}


def paper(values: Mapping[str, Value], scored: Scored, standard: str) -> Paper:
    """The paper's tables and figures; images are those of the standard's prompts."""
    images = STANDARDS[standard].contexts["t2i"]
    contexts = {"llm": LLM_CONTEXTS, "t2i": images}

    def printed(figure: Figure) -> tuple[str, float]:
        return figure.score.replace("t2i_subjective", images[1]), 100.0

    rules = [
        Rule(f"distance_{kind}_{attribute}", {f"distance_{context}_{attribute}": 1.0 for context in contexts[kind]})
        for kind in _KINDS
        for attribute in ATTRIBUTES
    ]
    tables = [_summary(), _errors(), *_details(contexts)]
    return Paper(tables, printed, ScoringTable({rule.name: rule for rule in rules}))


_PAIR = ("Gender", "Race")


def _summary() -> PaperTable:
    def names(kind: str) -> list[str]:
        scores = (f"{kind}_factuality", f"{kind}_fairness", f"average_{kind}")
        return [f"{score}{ending}" for score in scores for ending in ("_gender", "_race", "")]

    return PaperTable(
        "Table 2",
        "Facts (S_fact of objective queries), fairness (S_fair of subjective queries) and their mean, in percent.",
        (*_PAIR, "Avg.") * 3,
        [Block(names(kind)) for kind in _KINDS],
        [head for head in ("Obj. S_fact", "Subj. S_fair", "Avg.") for _ in range(3)],
    )


def _errors() -> PaperTable:
    names = [f"cognitive_error_{error}_{attribute}" for error in _ERRORS.values() for attribute in ATTRIBUTES]
    return PaperTable(
        "Table 3",
        "Answers that choose the group that the context hints at, in percent of the answers; by chance 50 (gender) "
        "and 25 (race; out-group 75). The last columns are the mean increase over chance.",
        _PAIR * len(_ERRORS),
        [Block(names)],
        [head for head in _ERRORS for _ in _PAIR],
    )


def _details(contexts: Mapping[str, tuple[str, ...]]) -> Iterator[PaperTable]:
    for metric, (place, symbol, text) in _METRICS.items():
        for kind, panel in _KINDS.items():
            average = {"Avg.": f"distance_{kind}"} if metric == "distance" else {}
            heads = ("O", "S-B", "S-R", "S-A", "S-G") if kind == "llm" else ("O", "S")
            parts = [*(f"{metric}_{context}" for context in contexts[kind]), *average.values()]
            blocks = [
                Block([f"{part}_{attribute}" for part in parts], (head,))
                for attribute, head in zip(ATTRIBUTES, _PAIR, strict=True)
            ]
            caption = f"{symbol} of objective (O) and subjective (S) queries, in percent: {text}."
            number = f"Table {place} {panel.partition(' ')[0]}"
            yield PaperTable(
                number, f"{panel[4:]}s: {caption}", (*heads, *average), blocks, heads=("",), digits=2, unit=100.0
            )
