"""Hidden item sets: a benchmark's grammar with another draw, from a seed that maintainers keep until the set retires.

A set is named after the revision that it is a draw of: `v2-hidden-2026a` is the first one of 2026 of `v2`. The register
(`reference/hidden.csv`) holds a commitment to each seed from the day that the set begins, and the seed itself once the
set is published; whoever has the register can check that the published seed is the one that was committed to. Until
then the seed lies in a file of the maintainers that `FAIRSPACE_HIDDEN` names; without it the revision is unknown.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fairspace.builders import REFERENCE
from fairspace.builders.errors import BuildError

SETTING = "FAIRSPACE_HIDDEN"
"""Names the file of the seeds that are held back: JSON, `benchmark/revision` -> seed."""
REGISTER = REFERENCE / "hidden.csv"
COLUMNS = ("benchmark", "revision", "commitment", "begun", "published", "seed")
BASES: Mapping[str, str] = {"fact_or_fair": "v2", "genres": "v1", "iris": "v2", "stereotypical_bias": "v2"}
"""Benchmark with hidden sets -> the revision whose grammar they draw from."""
PRACTICE: Mapping[str, str] = {"fact_or_fair": "v2-core", "genres": "v1", "iris": "v2", "stereotypical_bias": "v2"}
"""Benchmark with hidden sets -> the public revision with the same ids, which they are compared with."""
_NAME = re.compile(r"(?P<base>v[0-9]+)-hidden-(?P<year>[0-9]{4})(?P<letter>[a-z])")


@dataclass(frozen=True)
class HiddenSet:
    """A line of the register.

    Args:
        benchmark: its name.
        revision: of the set.
        commitment: see `commitment`.
        begun: the day on which it was registered, as 2026-01-31.
        published: the day on which it retired; '' while it is held back.
        seed: '' while it is held back.
    """

    benchmark: str
    revision: str
    commitment: str
    begun: str
    published: str = ""
    seed: str = ""


def read_register(file: Path = REGISTER) -> list[HiddenSet]:
    """The lines of a register, in order; none where there is no file."""
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        return [HiddenSet(**{name: row[name] for name in COLUMNS}) for row in csv.DictReader(stream)]


def commitment(benchmark: str, revision: str, seed: str) -> str:
    """What is published of a seed while it is held back: a sha256 from which nobody can tell it."""
    return hashlib.sha256(f"{benchmark}\0{revision}\0{seed}".encode()).hexdigest()


def base_revision(benchmark: str, revision: str) -> str:
    """The revision that a hidden set is a draw of, if its seed is at hand; else the revision itself.

    BuildError HIDDEN_SEED if the seed is not the one that was committed to.
    """
    return BASES[benchmark] if is_hidden(benchmark, revision) else revision


def is_hidden(benchmark: str, revision: str) -> bool:
    """Whether a revision is a hidden set whose seed is at hand, published or of the maintainers. As `base_revision`."""
    named = _NAME.fullmatch(revision)
    return named is not None and named["base"] == BASES.get(benchmark) and bool(_seed(benchmark, revision))


def drawn_bytes(benchmark: str, revision: str, *key: object) -> bytes:
    """32 bytes that a hidden set's seed and a key decide. BuildError HIDDEN_SEED, REVISION_UNKNOWN."""
    seed = _seed(benchmark, revision)
    if not seed:
        mend = f"name the file of its seed with {SETTING}, or wait until the set is published"
        raise BuildError("REVISION_UNKNOWN", f"dataset {benchmark}", f"revision {revision!r}", "a known seed", mend)
    return hmac.digest(bytes.fromhex(seed), repr(key).encode(), "sha256")


def next_revision(benchmark: str, year: int, known: list[HiddenSet]) -> str:
    """The name of the next set of a benchmark. BuildError HIDDEN_SEED if a year has no letter left."""
    before = [entry.revision for entry in known if entry.benchmark == benchmark]
    for letter in "abcdefghijklmnopqrstuvwxyz":
        if (name := f"{BASES[benchmark]}-hidden-{year}{letter}") not in before:
            return name
    raise BuildError("HIDDEN_SEED", benchmark, f"26 sets in {year}", "fewer", "rotate less often")


def _seed(benchmark: str, revision: str) -> str:
    """The seed of a set: the published one, or that of the maintainers' file; '' if neither is there."""
    registered = {(entry.benchmark, entry.revision): entry for entry in read_register()}
    entry = registered.get((benchmark, revision))
    seed = (entry.seed if entry else "") or held_seeds().get(f"{benchmark}/{revision}", "")
    if entry is not None and seed and commitment(benchmark, revision, seed) != entry.commitment:
        what, mend = "another seed than was committed to", "take the seed that the set was registered with"
        raise BuildError("HIDDEN_SEED", f"{benchmark}, {revision}", what, f"one of {entry.commitment[:16]}…", mend)
    return seed


def held_seeds() -> dict[str, str]:
    """`benchmark/revision` -> seed, of the maintainers' file; {} if none is named. BuildError HIDDEN_SEED."""
    named = os.environ.get(SETTING, "")
    if not named:
        return {}
    try:
        seeds = json.loads(Path(named).read_text(encoding="utf-8"))
        if not all(len(bytes.fromhex(seed)) == 32 for seed in seeds.values()):
            raise ValueError("seeds of other lengths")
        return dict(seeds)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        expected, mend = "JSON: benchmark/revision -> 64 hexadecimal digits", "name the file that `hidden rotate` wrote"
        raise BuildError("HIDDEN_SEED", f"{SETTING}={named}", str(error)[:200], expected, mend) from error
