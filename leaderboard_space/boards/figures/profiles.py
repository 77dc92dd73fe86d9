"""IRIS' profile codes: the eight archetypes, and the models of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairspace.leaderboard_space.boards.figures.figures import value_of
from fairspace.leaderboard_space.boards.iris import caution
from fairspace.leaderboard_space.boards.iris_space import TASKS
from fairspace.metrics.iris_score.standards import ARCHETYPES
from fairspace.submissions.benchmarks.published import Footnote
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
    """The code of one model in one task, as it follows from the scores.

    Args:
        task: Understanding or Generation.
        code: three letters, '' if the model has none.
        missing: why there is none.
        footnotes: on a code that the paper prints otherwise.
        rewarded: whether drift from labour statistics raises its RFS.
    """

    task: str
    code: str
    missing: str = ""
    footnotes: tuple[Footnote, ...] = ()
    rewarded: bool = False

    @property
    def meanings(self) -> list[tuple[str, str]]:
        """Each letter's word, and what it says."""
        words = LETTERS | REWARDED if self.rewarded else LETTERS
        return [words[letter] for letter in self.code]

    @property
    def name(self) -> str:
        """Of the archetype."""
        return ARCHETYPES.get(self.code, "")


def profiles(row: Row, standard: str) -> list[Profile]:
    """Both codes of a model, understanding first."""
    return [_profile(row, task, standard) for task in TASKS]


def _profile(row: Row, task: str, standard: str) -> Profile:
    label = f"profile_{task.lower()}"
    code = row.labels.get(label, "")
    if code in ARCHETYPES:
        footnotes = tuple(note for note in row.footnotes if note.score == label)
        return Profile(TASKS[task], code, "", footnotes, bool(caution(standard)) and task == "Und")
    lacking = [
        name
        for name in (f"{axis}_{task}" for axis in ("IFS", "RFS", "BIS"))
        if (value := value_of(row, name)) is None or value.value is None
    ]
    if lacking:
        return Profile(TASKS[task], "", f"no number for {', '.join(lacking)}")
    reason = "not printed" if row.provenance == "published" else "a score has no rank; see the model's page"
    return Profile(TASKS[task], "", reason)


def by_archetype(rows: Sequence[Row], standard: str) -> dict[str, list[tuple[Row, Profile]]]:
    """Code -> the models that have it, with the profile of that task; every archetype, with or without models."""
    by_code: dict[str, list[tuple[Row, Profile]]] = {code: [] for code in ARCHETYPES}
    for row in rows:
        for profile in profiles(row, standard):
            if profile.code:
                by_code[profile.code].append((row, profile))
    return by_code
