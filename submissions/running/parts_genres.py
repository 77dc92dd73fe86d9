"""What GENRES asks: a story of two persons for each of 1 440 prompts, beside an image of them (Figure 3).

Section 4 and appendix D state no settings of generation ("we follow their official configuration guidelines").
"""

from __future__ import annotations

from builders import genres as plan
from submissions.running.asks import Ask, Part, Shown, Stimulus
from submissions.running.data import Data
from submissions.running.parts_images import planned_images

TASK = "narrative"
PLACE = ("genres", "pairs", "test")
MAX_TOKENS = 2048
"""Two profiles and about 500 words are about 1 000 tokens."""
TYPICAL_TOKENS = 1000


def narrative(data: Data | None, *, text_only: bool = False) -> Part:
    """One stimulus per pair: its image, unless `text_only`, and its prompt; strata are relation, age and plot.

    Errors: RunError DATA_MISSING, DATA_INVALID.
    """
    pairs = plan.pair_list()
    places, images = list(range(len(pairs))), None
    if not text_only:
        asked = "text_prompt", [plan.text_prompt(pair) for pair in pairs]
        images, places = planned_images(TASK, data, PLACE, [pair.id for pair in pairs], asked)

    def read(number: int) -> Shown:
        pair = pairs[places[number]]
        ask = Ask(TASK, pair.id, 0, plan.text_prompt(pair), None if images is None else 0)
        return Shown((ask,), () if images is None else (images.get(pair.id),))

    stimuli = [
        Stimulus(pair.id, TASK, f"{pair.element.relation}/{pair.element.age}/{pair.element.plot}", 1)
        for pair in (pairs[place] for place in places)
    ]
    return Part(TASK, stimuli, read, MAX_TOKENS, TYPICAL_TOKENS, expected=len(pairs))
