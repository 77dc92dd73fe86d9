"""IRIS' profile codes: the eight archetypes, the models of each, and codes that contradict their rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairspace.leaderboard_space.boards.figures.figures import value_of
from fairspace.leaderboard_space.boards.iris import caution
from fairspace.leaderboard_space.boards.iris_space import TASKS, tau
from fairspace.metrics.iris_score.formula import profile_code
from fairspace.metrics.iris_score.standards import ARCHETYPES
from fairspace.submissions.results.row import Row

LETTERS = {
    "U": ("Utopian", "treats groups alike (IFS)"),
    "H": ("Heuristic", "treats groups unalike (IFS)"),
    "A": ("Accurate", "follows labour statistics (RFS)"),
    "D": ("Distorted", "departs from labour statistics (RFS)"),
    "F": ("Flexible", "departs from a stereotype when asked to (BIS)"),
    "R": ("Rigid", "keeps to a stereotype (BIS)"),
}
"""Letter -> its word, and what it says; the first of each pair where the score reaches the threshold."""
REWARDED = {
    "A": ("Accurate", "high RFS, which here rises with drift from labour statistics (E-IRIS-04)"),
    "D": ("Distorted", "low RFS, which here rises with drift from labour statistics (E-IRIS-04)"),
}
"""What the letters of RFS say for understanding under a standard by which drift raises the score."""
_EITHER = {
    "A": ("Accurate", "high RFS: in generation it follows labour statistics, in understanding see the note"),
    "D": ("Distorted", "low RFS: in generation it departs from labour statistics, in understanding see the note"),
}


def letters(standard: str) -> dict[str, tuple[str, str]]:
    """As `LETTERS`, in words that are true of both tasks under a standard."""
    return LETTERS | _EITHER if caution(standard) else LETTERS


@dataclass(frozen=True)
class Profile:
    """The code of one model in one task.

    Args:
        task: Understanding or Generation.
        code: three letters, '' if the model has none.
        missing: why there is none.
        formula: the code that the scores give, '' where it is the same or there is none.
        caution: Markdown that must stand beside the code, '' for none.
    """

    task: str
    code: str
    missing: str = ""
    formula: str = ""
    caution: str = ""

    @property
    def meanings(self) -> list[tuple[str, str]]:
        """Each letter's word, and what it says."""
        words = LETTERS | REWARDED if self.caution else LETTERS
        return [words[letter] for letter in self.code]

    @property
    def name(self) -> str:
        """Of the archetype."""
        return ARCHETYPES.get(self.code, "")


def profiles(row: Row, standard: str) -> list[Profile]:
    """Both codes of a model, understanding first."""
    return [_profile(row, task, standard) for task in TASKS]


def _profile(row: Row, task: str, standard: str) -> Profile:
    code = row.labels.get(f"profile_{task.lower()}", "")
    if code not in ARCHETYPES:
        lacking = [
            name
            for name in (f"{axis}_{task}" for axis in ("IFS", "RFS", "BIS"))
            if (value := value_of(row, name)) is None or value.value is None
        ]
        if lacking:
            return Profile(TASKS[task], "", f"no number for {', '.join(lacking)}")
        reason = "not printed" if row.provenance == "published" else "a score has no rank; see the model's page"
        return Profile(TASKS[task], "", reason)
    values = [value_of(row, f"{axis}_{task}") for axis in ("IFS", "RFS", "BIS")]
    numbers = [None if v is None else v.value if v.low is None else v.low for v in values]
    defined = [number for number in numbers if number is not None]
    formula = profile_code(defined[0], defined[1], defined[2], tau(standard)) if len(defined) == 3 else None
    beside = caution(standard) if task == "Und" else ""
    return Profile(TASKS[task], code, "", formula if formula and formula != code else "", beside)


def by_archetype(rows: Sequence[Row], standard: str) -> dict[str, list[tuple[Row, Profile]]]:
    """Code -> the models that have it, with the profile of that task; every archetype, with or without models."""
    by_code: dict[str, list[tuple[Row, Profile]]] = {code: [] for code in ARCHETYPES}
    for row in rows:
        for profile in profiles(row, standard):
            if profile.code:
                by_code[profile.code].append((row, profile))
    return by_code
