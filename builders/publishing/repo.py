"""A repository on the Hub as we name it, and what publishing did to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Repo:
    """A repository that we own.

    Args:
        id: `namespace/name`.
        kind: what it is.
        sdk: of a Space.
        gated: whether users must accept terms before they read files. A gate that somebody closed is never opened.
        private: whether it is created for members only; an existing repository stays as it is.
    """

    id: str
    kind: Literal["dataset", "space", "model"]
    sdk: str | None = None
    gated: bool = False
    private: bool = False

    @property
    def name(self) -> str:
        """As the Hub's addresses have it: `datasets/namespace/name`, and no prefix for a model."""
        return self.id if self.kind == "model" else f"{self.kind}s/{self.id}"


@dataclass(frozen=True)
class Outcome:
    """What publishing did, or would do.

    Args:
        repo: which.
        commit: the commit that holds the files; None if there is none yet (a dry run).
        added: paths that were not there.
        changed: paths that had other content.
        deleted: paths that are no longer wanted.
        tag: the tag that names this content; None if none was asked for, or it stays elsewhere.
        note: what a person should know besides; '' if nothing.
        foreseen: whether this is what a dry run found, and nothing was done.
    """

    repo: Repo
    commit: str | None
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    tag: str | None = None
    note: str = ""
    foreseen: bool = False

    def text(self) -> str:
        """For people: a line that sums up, and one per path."""
        by_sign = {"+": self.added, "~": self.changed, "-": self.deleted}
        counts = zip(("added", "changed", "deleted"), by_sign.values(), strict=True)
        summary = ", ".join(f"{len(paths)} {what}" for what, paths in counts if paths) or "unchanged"
        commit = "" if self.nothing or self.commit is None else f", commit {self.commit[:8]}"
        tag = f", tag {self.tag}" if self.tag else ""
        note = f" ({self.note})" if self.note else ""
        head = f"{self.repo.name}: {'would be ' * self.foreseen}{summary}{commit}{tag}{note}"
        return "\n".join([head, *(f"  {sign} {path}" for sign, paths in by_sign.items() for path in paths)])

    @property
    def nothing(self) -> bool:
        """Whether no file differed."""
        return not (self.added or self.changed or self.deleted)
