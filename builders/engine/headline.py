"""A headline score: what the leaderboard of a dataset on the Hub lists, one task per score."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Headline:
    """A task of a dataset's `eval.yaml`.

    Args:
        score: its name in results.
        config: of the dataset, with the items that the score is about.
        about: the score in words.
        split: of the config.
    """

    score: str
    config: str
    about: str
    split: str = "test"

    @property
    def task(self) -> str:
        """Id of the task: the score's name in lower case."""
        return self.score.lower()
