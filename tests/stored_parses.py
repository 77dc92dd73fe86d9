"""Parses of whole submissions of narratives, made once for all workers: 2 880 texts take a minute of one core."""

import hashlib
import pickle
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path

from fairspace.submissions.benchmarks.genres.parse import sentences
from fairspace.submissions.benchmarks.genres.parse.sentences import pipeline_name
from tests.store import stored

MANY = 500
"""Fewer texts are parsed on the spot."""
_SOURCES = ("submissions/benchmarks/genres/parse", "submissions/benchmarks/genres/parser")
_Parsed = dict[str, tuple[sentences.Sentence, ...]]


def share() -> None:
    """From now on, parses of many narratives in this process come from the store; one process makes them."""
    if not hasattr(sentences.parse_anew, "__wrapped__"):
        sentences.parse_anew = _shared(sentences.parse_anew)


def _shared(parse_anew: Callable[[Iterable[str], int | None], _Parsed]) -> Callable[..., _Parsed]:
    @wraps(parse_anew)
    def shared(narratives: Iterable[str], processes: int | None = None) -> _Parsed:
        unique = sorted(set(narratives))
        if len(unique) < MANY:
            return parse_anew(unique, processes)
        digest = hashlib.sha256("\0".join([pipeline_name(), *unique]).encode()).hexdigest()[:16]

        def make(folder: Path) -> None:
            (folder / "parsed.pickle").write_bytes(pickle.dumps(parse_anew(unique, 1)))

        whole: _Parsed = pickle.loads((stored(f"parsed-{digest}", make, _SOURCES) / "parsed.pickle").read_bytes())
        return whole

    return shared
