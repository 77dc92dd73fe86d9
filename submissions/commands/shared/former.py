"""Names that commands had before this release: they work until the next one, and say the new name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

RENAMED: Mapping[str, tuple[str, ...]] = {
    "board": ("leaderboard", "show"),
    "plan": ("run", "--dry-run"),
    "rescore": ("score",),
    "validate": ("standard", "validate"),
}
"""Former name -> the words of today's command."""
_RENAMED_OPTIONS = {"plan": {"--concurrency": "--max-connections"}}
_GROUP = ("show", "serve", "hub", "-h", "--help")


def current_words(words: Sequence[str]) -> list[str]:
    """The words of a command line with today's name of the command; a former name is noted on standard error."""
    former, *rest = words or ("",)
    if former == "leaderboard" and not {*rest[:1]} & {*_GROUP}:
        current: tuple[str, ...] = ("leaderboard", "serve")
    elif former in RENAMED:
        current = RENAMED[former]
    else:
        return list(words)
    typer.echo(f"fairspace: `fairspace {former}` is now `fairspace {' '.join(current)}`.", err=True)
    options = _RENAMED_OPTIONS.get(former, {})
    return [*current, *(_renamed(word, options) for word in rest)]


def _renamed(word: str, options: Mapping[str, str]) -> str:
    name, equals, value = word.partition("=")
    return options.get(name, name) + equals + value
