"""How many tokens a run takes: measured on a sample of its prompts, and scaled to all of them.

Text: one token for four characters, which OpenAI gives as a rule of thumb for English ("What are tokens and how to
count them?"). A tokenizer would be the model's own, and those of hosted models are not at hand without a network. The
vocabulary of all-MiniLM-L6-v2 (30 522 pieces) has 3.9 to 5.7 characters of our prompts in a token, by task.
Images: the rule that OpenAI documents for GPT-4o in high detail: fit into 2 048 x 2 048 pixels, bring the shorter side
to 768, then 85 tokens and 170 for each square of 512 pixels. It does not say whether smaller images are enlarged to
768: the usual number takes them as they are, the most is after enlarging. Other models count otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from fairspace.submissions.benchmarks.asks import Part, Shown, choose

CHARACTERS = 4
"""Of English text in a token."""
FRAME = 7
"""Tokens around a message and before its answer, as OpenAI's cookbook counts them: 3, 1 for the role, 3."""
SAMPLE = 200
"""Stimuli whose prompts are measured."""
_FIT, _SHORT, _TILE, _BASE, _EACH = 2048, 768, 512, 85, 170
_TWO_SIDED = 1.959963984540054


@dataclass(frozen=True)
class Span:
    """A number that is estimated.

    Args:
        usual: what to expect.
        most: what it can reach: at the longest answers that are allowed, or the upper end of what was measured.
        least: the lower end of what was measured; None where nothing was.
    """

    usual: float
    most: float
    least: float | None = None

    @property
    def low(self) -> float:
        """The lower end: the usual where no lower one is known."""
        return self.usual if self.least is None else self.least

    def __add__(self, other: Span) -> Span:
        known = self.least is not None or other.least is not None
        return Span(self.usual + other.usual, self.most + other.most, self.low + other.low if known else None)

    def __mul__(self, factor: float) -> Span:
        least = None if self.least is None else self.least * factor
        return Span(self.usual * factor, self.most * factor, least)

    def to_json(self) -> dict[str, float | None]:
        """As JSON data."""
        return {"usual": self.usual, "most": self.most, "least": self.least}


NOTHING = Span(0.0, 0.0)


@dataclass(frozen=True)
class Measured:
    """What the chosen stimuli of a part show and ask.

    Args:
        input: tokens of all prompts and images.
        images_shown: different images.
        images_sent: images that go with requests; one picture with 20 questions is sent 20 times.
        sampled: stimuli that were measured.
    """

    input: Span
    images_shown: int
    images_sent: int
    sampled: int


def text_tokens(text: str) -> float:
    """Tokens of an English text, by its characters."""
    return len(text) / CHARACTERS


def image_tokens(width: int, height: int) -> Span:
    """Tokens of an image; `usual` without enlarging it."""
    fit = min(1.0, _FIT / max(width, height))
    shorter = min(width, height) * fit
    return Span(*(_tiles(width * fit * scale, height * fit * scale) for scale in _scales(_SHORT / shorter)))


def measure(
    part: Part,
    positions: Sequence[int],
    *,
    image: int | None = None,
    sample: int = SAMPLE,
    characters: float = CHARACTERS,
) -> Measured:
    """The tokens of the chosen stimuli, from those of them whose ids have the smallest hashes.

    `most` of the tokens ends at the upper end of the 95 % interval of the sample's mean; with all stimuli in the sample
    nothing is left open.

    Args:
        part: the stimuli.
        positions: the chosen ones.
        image: tokens of an image, whatever its size; None for the documented rule.
        sample: how many stimuli are read at most.
        characters: of text in a token.

    Errors: RunError DATA_INVALID if an image cannot be read.
    """
    if not positions:
        return Measured(NOTHING, 0, 0, 0)
    chosen = [part.stimuli[place] for place in positions]
    read = [part.read(positions[place]) for place in choose(chosen, sample)]
    tokens = [_stimulus_tokens(shown, image, characters) for shown in read]
    scale = len(positions)
    usual, most = (_total([getattr(count, side) for count in tokens], scale) for side in ("usual", "most"))
    sent = sum(ask.image is not None for shown in read for ask in shown.asks)
    shown_images = sum(len(shown.images) for shown in read)
    return Measured(
        Span(usual[0], most[1]), round(scale * shown_images / len(read)), round(scale * sent / len(read)), len(read)
    )


def _stimulus_tokens(shown: Shown, image: int | None, characters: float) -> Span:
    sizes = [Span(image, image) if image is not None else _encoded(data) for data in shown.images]
    total = NOTHING
    for ask in shown.asks:
        text = len(ask.prompt) / characters + FRAME
        total += Span(text, text) + (NOTHING if ask.image is None else sizes[ask.image])
    return total


def _encoded(data: bytes) -> Span:
    from PIL import Image, UnidentifiedImageError

    from fairspace.submissions.running.errors import RunError

    try:
        with Image.open(BytesIO(data)) as picture:
            return image_tokens(*picture.size)
    except (UnidentifiedImageError, OSError) as error:
        mend = "build or fetch the dataset again"
        raise RunError("DATA_INVALID", "an image", str(error), "PNG, JPEG or WebP", mend) from error


def _total(sample: Sequence[float], of: int) -> tuple[float, float]:
    """A total from a simple random sample, and the upper end of its 95 % interval (Cochran 1977, chapter 2)."""
    n = len(sample)
    mean = sum(sample) / n
    if n == of or n == 1:
        return of * mean, of * mean
    variance = sum((x - mean) ** 2 for x in sample) / (n - 1)
    error = of * math.sqrt(variance / n * (1 - n / of))
    return of * mean, of * mean + _TWO_SIDED * error


def _scales(to_short: float) -> tuple[float, float]:
    """How an image is scaled: without and with enlarging."""
    return min(1.0, to_short), to_short


def _tiles(width: float, height: float) -> float:
    across, down = (max(1, math.ceil(round(side, 6) / _TILE)) for side in (width, height))
    return float(_BASE + _EACH * across * down)
