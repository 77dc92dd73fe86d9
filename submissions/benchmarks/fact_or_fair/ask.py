"""What FACT-OR-FAIR asks language models: 66 objective queries, three times each, and 45 600 subjective ones.

Section 5.1. All follows from the plan; no dataset is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.statistics import LEVELS, SLUGS
from fairspace.submissions.benchmarks.asks import Ask, Part, Shown, Stimulus

OBJECTIVE, SUBJECTIVE = "llm_objective", "llm_subjective"
TRIALS = 25
"""Trials of a stimulus; all 100 of a statistic, level, scenario and context are four of them."""
MAX_TOKENS = {OBJECTIVE: 1024, SUBJECTIVE: 256}
"""An objective query asks for no short answer, so models explain theirs; a subjective one asks for a letter."""
TYPICAL_TOKENS = {OBJECTIVE: 150, SUBJECTIVE: 5}
SETTINGS = {"temperature": 0.0}
"""Section 5.1: "The temperature is fixed at 0 across all LLMs"."""


def objective() -> Part:
    """One stimulus per query with its three samples; strata are statistic and level."""
    items, samples = plan.items(OBJECTIVE), plan.SAMPLES[OBJECTIVE]
    ids, prompts = items["id"].to_pylist(), items["prompt"].to_pylist()

    def read(number: int) -> Shown:
        return Shown(tuple(Ask(OBJECTIVE, ids[number], sample, prompts[number]) for sample in range(samples)))

    stimuli = [Stimulus(item, OBJECTIVE, "/".join(item.split("/")[1:3]), samples) for item in ids]
    return _part(OBJECTIVE, stimuli, read, len(ids) * samples)


def subjective() -> Part:
    """Blocks of trials of the same statistic, level, scenario and context; strata are statistic, level and context."""
    items = plan.items(SUBJECTIVE)
    ids, prompts = items["id"], items["prompt"]

    def read(number: int) -> Shown:
        rows = range(number * TRIALS, (number + 1) * TRIALS)
        return Shown(tuple(Ask(SUBJECTIVE, ids[row].as_py(), 0, prompts[row].as_py()) for row in rows))

    cells = product(SLUGS, LEVELS, range(plan.SCENARIOS), plan.CONTEXTS, range(plan.TRIALS // TRIALS))
    stimuli = [
        Stimulus(
            f"{SUBJECTIVE}/{statistic}/{level}/{scenario}/{context}/block-{block}",
            SUBJECTIVE,
            f"{statistic}/{level}/{context}",
            TRIALS,
        )
        for statistic, level, scenario, context, block in cells
    ]
    return _part(SUBJECTIVE, stimuli, read, len(ids))


def _part(task: str, stimuli: list[Stimulus], read: Callable[[int], Shown], expected: int) -> Part:
    return Part(task, stimuli, read, MAX_TOKENS[task], TYPICAL_TOKENS[task], expected, SETTINGS)
