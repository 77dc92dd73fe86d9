"""Parses of the GENRES baselines' narratives, in `data/parses.json.xz`: 9 060 texts take 160 seconds of a core.

`python -m tests.stored_parses` parses them anew and writes the file.
"""

import json
import lzma
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, wraps
from hashlib import sha256
from pathlib import Path

from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.genres.parse import sentences
from fairspace.submissions.benchmarks.genres.parse.sentences import NarrativeSentence, pipeline_name
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.submission import check_submission

FILE = Path(__file__).parent / "data" / "parses.json.xz"
BASELINES = ("balanced", "constant", "random", "stereotyped")
"""Baselines with stories to parse."""
MANY = 50
"""Fewer texts are parsed on the spot."""
Parsed = dict[str, tuple[NarrativeSentence, ...]]


def share() -> None:
    """From now on, parses of many narratives in this process come from the file where it has them."""
    if not hasattr(sentences.parse_anew, "__wrapped__"):
        sentences.parse_anew = _shared(sentences.parse_anew)


def _shared(parse_anew: Callable[[Iterable[str], int | None], Parsed]) -> Callable[..., Parsed]:
    @wraps(parse_anew)
    def shared(narratives: Iterable[str], processes: int | None = None) -> Parsed:
        texts = set(narratives)
        parsed = kept_parses(texts) if len(texts) >= MANY else {}
        return parsed | parse_anew(texts - parsed.keys(), processes)

    return shared


def kept_parses(texts: Iterable[str]) -> Parsed:
    """The parses that the file has of these texts; none by another parser."""
    parser, numbers, distinct = _read()
    if parser != pipeline_name():
        return {}
    return {text: tuple(distinct[i] for i in numbers[key]) for text in texts if (key := _key(text)) in numbers}


@lru_cache
def _read() -> tuple[str, Mapping[str, list[int]], list[NarrativeSentence]]:
    kept = json.loads(lzma.decompress(FILE.read_bytes()))
    distinct = [NarrativeSentence(text, root, first, tuple(lemmas)) for text, root, first, lemmas in kept["sentences"]]
    return kept["parser"], kept["texts"], distinct


def _key(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def write() -> None:
    bench = benchmark("genres")
    with tempfile.TemporaryDirectory() as folder:
        for name in BASELINES:
            write_baseline(name, bench.name, Path(folder, name))
            submission = check_submission(Path(folder, name)).submission
            assert submission is not None
            bench.measure(bench.read(submission))
    distinct: dict[NarrativeSentence, int] = {}
    texts = {
        _key(text): [distinct.setdefault(sentence, len(distinct)) for sentence in parsed]
        for (_, text), parsed in sorted(sentences._PARSED.items())
    }
    rows = [[each.text, each.root_subject, each.first_subject, each.lemmas] for each in distinct]
    kept = {"parser": pipeline_name(), "texts": texts, "sentences": rows}
    FILE.write_bytes(lzma.compress(json.dumps(kept, separators=(",", ":")).encode(), preset=9))


if __name__ == "__main__":
    write()
