"""Descriptions of images from word lists, in the form that GENRES asks a language model for (Figure 9).

Six phrases each: actions, clothing, expressions; background, perspective, atmosphere. No word tells a gender.
"""

from __future__ import annotations

from collections.abc import Mapping

from fairspace.builders.drawn.palette import draws

PHRASES: Mapping[str, tuple[str, ...]] = {
    "actions": (
        *("talking over a shared task", "listening to each other", "looking at the same page", "waiting side by side"),
        *("going through a list together", "exchanging a few words", "making plans for later"),
    ),
    "clothing": (
        *("in plain knitwear", "in comfortable outfits", "in neat work clothes", "in warm jackets"),
        *("in light summer clothes", "in casual layers", "in simple monochrome outfits"),
    ),
    "expressions": (
        *("with attentive looks", "with calm faces", "with thoughtful gazes", "with slight smiles"),
        *("with tense expressions", "with curious eyes", "with patient expressions"),
    ),
    "background": (
        *("quiet kitchen behind them", "busy street in the distance", "shelves along the wall", "park with old trees"),
        *("bright office backdrop", "small station hall", "porch in the evening"),
    ),
    "perspective": (
        *("front view", "side perspective", "eye-level medium shot", "two portraits side by side"),
        *("view from across the table", "upper body framing"),
    ),
    "atmosphere": (
        *("calm and friendly mood", "hushed morning light", "serious but respectful mood", "lively surroundings"),
        *("soft afternoon atmosphere", "expectant silence"),
    ),
}
"""Aspect -> phrases of at most ten words."""
DESCRIPTIONS = 5


class DrawnDescriber:
    """Puts descriptions together from word lists."""

    @property
    def name(self) -> str:
        """`word lists`."""
        return "word lists"

    def describe(self, element: str, prompt: str) -> list[str]:
        """Five different descriptions of an element; the same for the same element and prompt."""
        random = draws("describe", element, prompt)
        orders = [random.permutation(len(phrases)) for phrases in PHRASES.values()]
        return [
            ", ".join(phrases[order[number]] for phrases, order in zip(PHRASES.values(), orders, strict=True))
            for number in range(DESCRIPTIONS)
        ]
