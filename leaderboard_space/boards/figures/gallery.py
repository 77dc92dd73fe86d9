"""Figures on pages: draws them for the chosen models, and keeps drawings until their board changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairspace.leaderboard_space.boards.board_cache import Board
from fairspace.leaderboard_space.boards.figures.figures import Drawing, Figure, Place, Source
from fairspace.leaderboard_space.boards.tables.table import slug
from fairspace.leaderboard_space.boards.view import View
from fairspace.leaderboard_space.boards.views import VIEWS, check_choice
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
        address: of its image.
        drawing: of it.
    """

    about: Figure
    address: str
    drawing: Drawing


class Gallery:
    """Draws figures; a board keeps their drawings.

    Args:
        figures: (benchmark, name) -> figure.
    """

    def __init__(self, figures: dict[tuple[str, str], Figure]) -> None:
        self.figures = figures

    def drawing(
        self,
        state: State,
        benchmark: str,
        standard: str,
        name: str,
        models: Sequence[str] = (),
        table: str = "",
    ) -> Drawing:
        """A figure of some chosen models, among the rows of a table of the board, or of those that hold the models.

        SpaceError UNKNOWN_PAGE, BAD_PARAMETER or UNKNOWN_ENTRY.
        """
        figure = self.find(benchmark, name)
        view = VIEWS[benchmark]
        check_choice("table", table, ("", *map(slug, view.slices)))

        rows = board_of(state, benchmark, standard)

        def draw() -> Drawing:
            chosen = self._chosen(rows, models, figure)
            of = table or _table_of(view, chosen)
            kept = rows.get_or_make(("rows", of), lambda: _kept_by(view, of, rows))
            return figure.draw(Source(state, benchmark, standard, kept, chosen))

        return rows.get_or_make(("figure", name, table, *models), draw)

    def _chosen(self, rows: Board, models: Sequence[str], figure: Figure) -> tuple[Row, ...]:
        chosen, missing = chosen_rows(rows, models)
        if missing:
            raise SpaceError(
                "UNKNOWN_ENTRY", "models", repr(missing[0]), "entries of rows on this board", "see the board"
            )
        if len(chosen) < figure.needs:
            mend = f"add ?models= with up to {MOST_CHOSEN} entries, separated by commas"
            raise SpaceError("BAD_PARAMETER", "models", f"{len(chosen)} models", f"{figure.needs} or more", mend)
        return chosen

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
        self, state: State, benchmark: str, standard: str, where: Place, models: Sequence[str] = (), table: str = ""
    ) -> list[Placed]:
        """The figures of a page, drawn; those that need more models than were chosen are left out."""
        names = [f for (of, _), f in self.figures.items() if of == benchmark and where in f.places]
        return [self.placed(state, benchmark, standard, f.name, models, table) for f in names if len(models) >= f.needs]

    def placed(
        self, state: State, benchmark: str, standard: str, name: str, models: Sequence[str] = (), table: str = ""
    ) -> Placed:
        """One figure for the macro `figure`. Errors: as `drawing`."""
        parts = ([f"models={','.join(models)}"] if models else []) + ([f"table={table}"] if table else [])
        address = f"/figures/{benchmark}/{standard}/{name}.svg" + (f"?{'&'.join(parts)}" if parts else "")
        return Placed(
            self.find(benchmark, name), address, self.drawing(state, benchmark, standard, name, models, table)
        )


def _table_of(view: View, chosen: Sequence[Row]) -> str:
    """The first table that holds all chosen models; '' without models, or where no table holds all."""
    names = [slug(name) for name, part in view.slices.items() if chosen and all(map(part.keep, chosen))]
    return names[0] if names else ""


def _kept_by(view: View, table: str, rows: Board) -> Board:
    keep = next((part.keep for name, part in view.slices.items() if slug(name) == table), None)
    return rows if keep is None else Board(filter(keep, rows))


def board_of(state: State, name: str, standard: str) -> Board:
    """The rows of a board. SpaceError UNKNOWN_PAGE if there is no such benchmark or standard."""
    if name not in NAMES or standard not in benchmark(name).standards:
        names = ", ".join(benchmark(name).standards) if name in NAMES else ", ".join(NAMES)
        what = f"{name}, standard {standard}"
        raise SpaceError("UNKNOWN_PAGE", "the board", repr(what[:80]), f"one of: {names}", "choose one of these")
    return state.board(name, standard)


def chosen_rows(rows: Board, models: Sequence[str]) -> tuple[tuple[Row, ...], list[str]]:
    """The rows of some entries in the order given, each once, and the entries that the board does not have."""
    if len(models) > MOST_CHOSEN:
        count = f"{len(models)} models"
        raise SpaceError("BAD_PARAMETER", "models", count, f"at most {MOST_CHOSEN}", "remove some")
    wanted = list(dict.fromkeys(models))
    there = rows.by_entry
    return tuple(there[entry] for entry in wanted if entry in there), [e for e in wanted if e not in there]


def split_models(text: str) -> tuple[str, ...]:
    """The entries of a `models=` parameter, each once, without any sign that an entry never has."""
    parts = ("".join(sign for sign in part if sign.isalnum() or sign == "-")[:40] for part in text[:400].split(","))
    return tuple(dict.fromkeys(filter(None, parts)))
