"""FACT-OR-FAIR's values of whole submissions against those of the oracle."""

from __future__ import annotations

from functools import partial

from fairspace.builders.fact_or_fair.statistics import GROUPS
from fairspace.submissions.benchmarks.fact_or_fair.declaration import BENCHMARK
from tests.oracles.drawing import Oracle, tool
from tests.oracles.fact_or_fair.answers import cognitive_errors, letters, named_over_all, places, refusals
from tests.oracles.fact_or_fair.drawn import Answers, draw, tables
from tests.oracles.fact_or_fair.scores import CONTEXTS, cells_of, chance, scores, shares

ALL_CONTEXTS = ("llm_objective", *(f"llm_{name}" for name in CONTEXTS), "t2i_objective", "t2i_subjective")
IN_V2 = ("t2i_subjective_paper",)


def scorer(name: str) -> str:
    """`entropy_llm_base_race` belongs to S_E."""
    labels = {"factuality": "S_fact", "entropy": "S_E", "kld": "S_KLD", "fairness": "S_fair", "distance": "d"}
    labels |= {"kld_authors": "S_KLD, authors' code", "factuality_revised": "S_fact, revised truth"}
    labels |= {"chance": "chance level", "cognitive_error_increase": "cognitive error increase"}
    labels |= {"share": "share of a group"}
    known = (*labels, "invalid", "position", "position_bias", "cognitive_error", "refusal_rate", "refusal_disparity")
    start = max((each for each in known if name.startswith(each)), key=len)
    return labels.get(start, start.replace("_", " "))


def oracle(drawn: Answers) -> dict[str, float]:
    """Every value from what was drawn."""
    values: dict[str, float] = {}
    for context in (*ALL_CONTEXTS, *(() if drawn.revision == "v1" else IN_V2)):
        for attribute in GROUPS:
            tail = f"{context}_{attribute}"
            cells = cells_of(drawn, context, attribute)
            values |= {f"{name}_{tail}": number for name, number in scores(attribute, cells).items()}
            values |= {f"share_{context}_{group.lower()}": number for group, number in shares(attribute, cells).items()}
            if context.startswith("llm"):
                values[f"chance_{tail}"] = chance(drawn, context, attribute)
    values |= letters(drawn) | places(drawn)
    for attribute in GROUPS:
        values |= cognitive_errors(drawn, attribute) | refusals(drawn, attribute) | named_over_all(drawn, attribute)
        entropies = [values[f"entropy_llm_{context}_{attribute}"] for context in CONTEXTS]
        values[f"entropy_llm_subjective_{attribute}"] = sum(entropies) / len(entropies)
    return values


ORACLES = [
    Oracle(BENCHMARK, revision, partial(draw, revision), tables, oracle, scorer, {"labels": tool("drawn")})
    for revision in ("v2", "v2-core", "v1")
]
