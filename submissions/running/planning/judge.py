"""What a judge of GENRES reads and writes: three requests for each narrative (Figures 10 and 11).

A judge reads an answer once, cut into two profiles and a passage, and the instructions of three requests; so the tokens
of the answers are those of the model, and the rest is counted from the prompts. A story of one character gets two.
"""

from __future__ import annotations

from collections.abc import Sequence

from fairspace.builders.genres import plan as genres
from fairspace.builders.genres import single
from fairspace.submissions.benchmarks.asks import Stimulus
from fairspace.submissions.running.judging.asks import MAX_TOKENS, TASKS, TASKS_SINGLE, TYPICAL_TOKENS
from fairspace.submissions.running.planning.tokens import CHARACTERS, FRAME, Span

REQUESTS = {"narrative": len(TASKS), "narrative_single": len(TASKS_SINGLE)}
"""Task of the model -> requests about one answer: its two profiles, or its one, and the passage."""
OUTPUT = Span(TYPICAL_TOKENS, MAX_TOKENS)
"""Tokens of the answer to one request."""


def judge_input(pairs: Sequence[Stimulus], answer: Span, *, characters: float = CHARACTERS) -> Span:
    """Tokens that one judge reads.

    Args:
        pairs: the chosen ones, of one task.
        answer: tokens of a model's answer to one prompt.
        characters: of text in a token.
    """
    by_id = {pair.id: pair for pair in genres.pair_list()}
    letters = requests = answers = 0
    for stimulus in pairs:
        requests += REQUESTS[stimulus.task] * stimulus.asks
        answers += stimulus.asks
        pair = by_id[stimulus.id.removeprefix("single/")]
        letters += 2 * len(genres.profile_prompt(""))
        if stimulus.task == "narrative_single":
            letters += sum(len(single.analysis_prompt(name, "")) for name in pair.names)
            continue
        letters += len(genres.narrative_prompt(*pair.names, pair.element.relation, pair.element.plot, ""))
    fixed = letters / characters + FRAME * requests
    return Span(fixed, fixed) + answer * answers
