"""What a judge of GENRES reads and writes: three requests for each narrative (Figures 10 and 11).

A judge reads an answer once, cut into two profiles and a passage, and the instructions of three requests; so the tokens
of the answers are those of the model, and the rest is counted from the prompts.
"""

from __future__ import annotations

from collections.abc import Sequence

from fairspace.builders.genres import plan as genres
from fairspace.submissions.benchmarks.asks import Stimulus
from fairspace.submissions.running.judging.asks import MAX_TOKENS, TASKS, TYPICAL_TOKENS
from fairspace.submissions.running.planning.tokens import CHARACTERS, FRAME, Span

REQUESTS = len(TASKS)
"""Two profiles and the passage."""
OUTPUT = Span(REQUESTS * TYPICAL_TOKENS, REQUESTS * MAX_TOKENS)
"""Tokens of the three answers."""


def judge_input(pairs: Sequence[Stimulus], answer: Span, *, characters: float = CHARACTERS) -> Span:
    """Tokens that one judge reads.

    Args:
        pairs: the chosen ones; their ids are those of `fairspace.builders.genres.plan.pair_list`.
        answer: tokens of a model's answer.
        characters: of text in a token.
    """
    by_id = {pair.id: pair for pair in genres.pair_list()}
    letters = 0
    for stimulus in pairs:
        pair = by_id[stimulus.id]
        letters += 2 * len(genres.profile_prompt(""))
        letters += len(genres.narrative_prompt(*pair.names, pair.element.relation, pair.element.plot, ""))
    frames = FRAME * REQUESTS * len(pairs)
    fixed = letters / characters + frames
    return Span(fixed, fixed) + answer * len(pairs)
