"""Figures on pages: draws them for the chosen models, and keeps drawings until their board changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fairspace.leaderboard_space.boards.board_cache import BoardCache, by_entry
from fairspace.leaderboard_space.boards.figures.figures import Drawing, Figure, Place, Source
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.state import State
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.results.row import Row

MOST_CHOSEN = 4
"""Models that a reader can choose for a figure."""


@dataclass(frozen=True)
class Placed:
    """A figure on a page, with all that the macro `figure` shows.

    Args:
        about: which.
        address: of its JSON.
        drawing: of it.
        caution: Markdown that must stand beside it, '' for none.
    """

    about: Figure
    address: str
    drawing: Drawing
    caution: str = ""


class Gallery:
    """Draws figures and caches the drawings until their board changes.

    Args:
        figures: (benchmark, name) -> figure.
        most: drawings that are kept.
    """

    def __init__(self, figures: dict[tuple[str, str], Figure], most: int = 64) -> None:
        self.figures = figures
        self._kept: BoardCache[Drawing] = BoardCache(most)

    def drawing(self, state: State, benchmark: str, standard: str, name: str, models: Sequence[str] = ()) -> Drawing:
        """A figure of some chosen models. SpaceError UNKNOWN_PAGE, BAD_PARAMETER or UNKNOWN_ENTRY."""
        figure = self.find(benchmark, name)

        def draw(rows: tuple[Row, ...]) -> Drawing:
            return self._drawn(figure, Source(state, benchmark, standard, rows), models)

        return self._kept.get_or_make(
            (benchmark, standard, name, *models), lambda: board_of(state, benchmark, standard), draw
        )

    def _drawn(self, figure: Figure, source: Source, models: Sequence[str]) -> Drawing:
        chosen, missing = chosen_rows(source.rows, models)
        if missing:
            raise SpaceError(
                "UNKNOWN_ENTRY", "models", repr(missing[0]), "entries of rows on this board", "see the board"
            )
        if len(chosen) < figure.needs:
            mend = f"add ?models= with up to {MOST_CHOSEN} entries, separated by commas"
            raise SpaceError("BAD_PARAMETER", "models", f"{len(chosen)} models", f"{figure.needs} or more", mend)
        return figure.draw(replace(source, chosen=chosen))

    def find(self, benchmark: str, name: str) -> Figure:
        """The figure of that name. SpaceError UNKNOWN_PAGE."""
        figure = self.figures.get((benchmark, name))
        if figure is None:
            names = ", ".join(figure_name for of, figure_name in self.figures if of == benchmark) or ", ".join(NAMES)
            raise SpaceError(
                "UNKNOWN_PAGE", "the figure", f"{benchmark}/{name}"[:80], f"one of: {names}", "see the board"
            )
        return figure

    def place(
        self, state: State, benchmark: str, standard: str, where: Place, models: Sequence[str] = ()
    ) -> list[Placed]:
        """The figures of a page, drawn; those that need more models than were chosen are left out."""
        names = [f for (of, _), f in self.figures.items() if of == benchmark and where in f.places]
        return [self.placed(state, benchmark, standard, f.name, models) for f in names if len(models) >= f.needs]

    def placed(self, state: State, benchmark: str, standard: str, name: str, models: Sequence[str] = ()) -> Placed:
        """One figure for the macro `figure`. Errors: as `drawing`."""
        address = f"/figures/{benchmark}/{standard}/{name}.json" + (f"?models={','.join(models)}" if models else "")
        drawing = self.drawing(state, benchmark, standard, name, models)
        about = self.find(benchmark, name)
        return Placed(about, address, drawing, about.caution(standard))


def board_of(state: State, name: str, standard: str) -> tuple[Row, ...]:
    """The rows of a board. SpaceError UNKNOWN_PAGE if there is no such benchmark or standard."""
    if name not in NAMES or standard not in benchmark(name).standards:
        names = ", ".join(benchmark(name).standards) if name in NAMES else ", ".join(NAMES)
        what = f"{name}, standard {standard}"
        raise SpaceError("UNKNOWN_PAGE", "the board", repr(what[:80]), f"one of: {names}", "choose one of these")
    return state.board(name, standard)


def chosen_rows(rows: tuple[Row, ...], models: Sequence[str]) -> tuple[tuple[Row, ...], list[str]]:
    """The rows of some entries in the order given, each once, and the entries that the board does not have."""
    if len(models) > MOST_CHOSEN:
        count = f"{len(models)} models"
        raise SpaceError("BAD_PARAMETER", "models", count, f"at most {MOST_CHOSEN}", "remove some")
    wanted = list(dict.fromkeys(models))
    by_name = by_entry(rows)
    return tuple(by_name[entry] for entry in wanted if entry in by_name), [e for e in wanted if e not in by_name]


def split_models(text: str) -> tuple[str, ...]:
    """The entries of a `models=` parameter, each once, without any sign that an entry never has."""
    parts = ("".join(sign for sign in part if sign.isalnum() or sign == "-")[:40] for part in text[:400].split(","))
    return tuple(dict.fromkeys(filter(None, parts)))
