"""FACT-OR-FAIR's questions to language models: 66 objective queries, three times each, and 45 600 subjective ones.

Section 5.1. From dataset revision `v2` on, the three times are three orders of the options, with an item each.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.plan import CORE, CORE_TRIALS, ORDERS, queries
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, LEVELS, SLUGS, with_attribute
from fairspace.submissions.benchmarks.fact_or_fair.parse.columns import questions_of, read_question
from fairspace.submissions.benchmarks.pictures import Data
from fairspace.submissions.benchmarks.task import Ask, ReadStimulus, Stimulus, Task, TaskStimuli

OBJECTIVE, SUBJECTIVE = "llm_objective", "llm_subjective"
TRIALS = 25
"""Trials of a stimulus; the 100 of a statistic, level, scenario and context are four of them, the core's five one."""
UNREADABLE_AGAIN = 5
"""Retries of an objective query of `v2` whose answer cannot be read, as the authors do."""
TYPICAL_TOKENS = {OBJECTIVE: 6, SUBJECTIVE: 233}
"""Mean tokens of the answers of Qwen2.5-Coder 1.5B (28 November 2026), which reasons where no fact decides.

A model that gives the letter alone, as the 0.5B does, is faster.
"""


def objective(task: Task, data: Data | None, revision: str) -> TaskStimuli:
    """One stimulus per query with its three samples; strata are statistic and level, a unit is a statistic."""
    items, samples = task.asked(revision, data.where if data else ""), range(task.samples_of(revision))
    every = zip(items["id"].to_pylist(), items["prompt"].to_pylist(), strict=True)
    asks = [Ask(OBJECTIVE, item, sample, prompt) for item, prompt in every for sample in samples]
    names = [f"{OBJECTIVE}/{statistic.slug}/{level}/{attribute}" for statistic, level, attribute in queries()]

    def read(number: int) -> ReadStimulus:
        return ReadStimulus(tuple(asks[number * ORDERS : (number + 1) * ORDERS]))

    parts = [name.split("/")[1:] for name in names]
    stimuli = [Stimulus(n, OBJECTIVE, f"{p[0]}/{p[1]}", ORDERS, p[0]) for n, p in zip(names, parts, strict=True)]
    part = _part(task, stimuli, read, len(asks))
    if revision == "v1":
        return part
    questions = dict(zip(items["id"].to_pylist(), questions_of(revision), strict=True))

    def readable(ask: Ask, answer: str) -> bool:
        return read_question(answer, questions[ask.id]).outcome in ("choice", "refused")

    return replace(part, readable=readable, unreadable_again=UNREADABLE_AGAIN)


def subjective(task: Task, data: Data | None, revision: str) -> TaskStimuli:
    """Blocks of trials of one statistic, level, scenario and context; a unit has one of each but its statistic."""
    items = task.asked(revision, data.where if data else "")
    ids, prompts = items["id"], items["prompt"]
    trials = CORE_TRIALS if revision in CORE else plan.TRIALS
    block = min(trials, TRIALS)

    def read(number: int) -> ReadStimulus:
        rows = range(number * block, (number + 1) * block)
        return ReadStimulus(tuple(Ask(SUBJECTIVE, ids[row].as_py(), 0, prompts[row].as_py()) for row in rows))

    cells = product(SLUGS, LEVELS, range(plan.SCENARIOS), plan.CONTEXTS, range(trials // block))
    stimuli = [
        Stimulus(
            f"{SUBJECTIVE}/{statistic}/{level}/{scenario}/{context}/block-{place}",
            SUBJECTIVE,
            f"{statistic}/{level}/{context}",
            block,
            f"{statistic}/block-{place}",
        )
        for statistic, level, scenario, context, place in cells
    ]
    return replace(_part(task, stimuli, read, len(ids)), fair=_fair)


def _fair(stimuli: Sequence[Stimulus]) -> bool:
    """Whether S_fair has a number: each context has a statistic of each attribute, and every one has both levels."""
    asked = {tuple(stimulus.stratum.split("/")) for stimulus in stimuli}
    topics = {(SLUGS.index(statistic), context) for statistic, _, context in asked}
    shown = {(a, context) for place, context in topics for a in ATTRIBUTES if place in with_attribute(a)}
    return len(asked) == len(LEVELS) * len(topics) and len(shown) == len(ATTRIBUTES) * len(plan.CONTEXTS)


def _part(task: Task, stimuli: list[Stimulus], read: Callable[[int], ReadStimulus], expected: int) -> TaskStimuli:
    return TaskStimuli(task.name, stimuli, read, task.max_tokens, TYPICAL_TOKENS[task.name], expected, task.settings)
