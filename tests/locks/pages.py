"""Texts of public pages over a store with two scored baselines of each benchmark, beside the printed rows.

`python -m tests.locks.pages FOLDER` writes them, to compare two states of the code line by line.
"""

import re
import sys
import tempfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from fairspace.leaderboard_space.boards.models import slug_of
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.version import VERSION
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.scored_baselines import baseline

MODELS = ("constant", "stereotyped")
RESAMPLES = 200
"""IRIS' rows have no intervals here: their draws differ where a processor adds otherwise."""
_HIDDEN = re.compile(r"<(script|style|svg)\b.*?</\1>", re.DOTALL)
_TITLES = re.compile(r'\b(?:alt|aria-label|title|content|placeholder)="([^"]*)"')
_TAG = re.compile(r"<[^>]*>")
_CHANGING = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z| UTC|\+00:00)?|\b[0-9a-f]{16,64}\b")
"""Times of an event and digests of code or of files."""
_LONG = re.compile(r"-?\b\d+\.\d{7,}(?:e[-+]?\d+)?\b")
"""A number whose last digits differ where a processor adds otherwise."""


def entries(space: Opened) -> dict[str, str]:
    """Entry of each scored row -> benchmark and model; a baseline's entry changes with the version."""
    return {row.entry: f"{row.result.benchmark}-{row.result.meta['model']}" for row in space.space.state.entries()}


def addresses(space: Opened) -> Iterator[str]:
    """The front page, texts, and of each benchmark its board, a model, a scored row and a printed row."""
    yield from ("/", "/about", "/how-to-submit", "/standards", "/api/v1/boards", "/api/v1/standards")
    for name in NAMES:
        rows = space.client.get(f"/api/v1/boards/{name}").json()["rows"]
        printed = next(row for row in rows if row["provenance"] == "published")
        scored = [entry for entry, row in entries(space).items() if row.startswith(name)]
        yield f"/board/{name}"
        yield from (f"/compare/{name}", f"/api/v1/boards/{name}", f"/models/{slug_of(printed['model'])}")
        for entry in (*scored, printed["entry"]):
            yield from (
                f"/model/{name}/{entry}",
                f"/model/{name}/{entry}/scores.csv",
                f"/model/{name}/{entry}/scores.tex",
            )


def text_of(content: str) -> str:
    """The words of a page, one line for each piece of text, with those of titles; no times, digests, last digits."""
    if content.lstrip().startswith("<"):
        body = _HIDDEN.sub(" ", content)
        pieces = [*_TAG.split(body), *_TITLES.findall(body)]
        content = "\n".join(filter(None, (" ".join(unescape(piece).split()) for piece in pieces)))
    content = _LONG.sub(lambda number: f"{float(number[0]):.6g}", content)
    return _CHANGING.sub("...", content)


def texts() -> Iterator[tuple[str, str]]:
    """Address and text of each page; ids of entries are replaced by the names of the models."""
    with tempfile.TemporaryDirectory() as folder:
        results = tuple(
            score_submission(baseline(model, name), resamples=0 if name == "iris" else RESAMPLES)
            for name in NAMES
            for model in MODELS
        )
        with opened(Path(folder), results, resamples=0) as space:
            for address in dict.fromkeys(addresses(space)):
                answer = space.client.get(address)
                assert answer.status_code == 200, f"{address}: {answer.status_code}"
                text = answer.text.replace(VERSION, "...")
                for entry, row in entries(space).items():
                    address, text = (part.replace(entry, row) for part in (address, text))
                yield address, text_of(text)


if __name__ == "__main__":
    for place, text in texts():
        file = Path(sys.argv[1]) / (place.strip("/").replace("/", "_") or "front")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
