"""Which requests a model on this machine computes: of those that share a text, one, where no token is drawn.

`local.models.LocalAPI` keeps such answers. A plan that counts every request foretells hours for a benchmark that asks
twenty questions 2 800 times, which takes minutes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from fairspace.submissions.benchmarks.asks import Part
from fairspace.submissions.running.local.engines import runs_by_llama_cpp
from fairspace.submissions.running.local.found import GGUF, PACKAGES
from fairspace.submissions.running.planning.tokens import CHARACTERS, FRAME

_OURS = "local/"


@dataclass(frozen=True)
class Computed:
    """The requests whose answer is computed.

    Args:
        requests: how many.
        input: tokens of their prompts.
    """

    requests: int
    input: float


def computes_repeats_once(model: str, arguments: Mapping[str, Any], temperature: object) -> bool:
    """Whether a model answers requests of the same text once.

    Args:
        model: PROVIDER/MODEL.
        arguments: of the provider.
        temperature: None where nobody states one. A file that llama.cpp runs states none either, which is 0; what a
            model of transformers states is not known before it is opened.
    """
    if not model.startswith(_OURS):
        return False
    what = model.removeprefix(_OURS)
    is_file = what in PACKAGES or PurePath(what).suffix.lower() == GGUF
    return temperature == 0 or (temperature is None and runs_by_llama_cpp(is_file, arguments))


def computed(part: Part, positions: Sequence[int], characters: float = CHARACTERS) -> Computed | None:
    """The different texts among the requests of the chosen stimuli; None where images are shown."""
    texts: set[str] = set()
    for position in positions:
        asks = part.read(position).asks
        if any(ask.image is not None for ask in asks):
            return None
        texts.update(ask.prompt for ask in asks)
    return Computed(len(texts), sum(len(text) for text in texts) / characters + FRAME * len(texts))
