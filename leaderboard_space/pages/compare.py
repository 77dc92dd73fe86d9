"""The comparison of rows, at `/compare/<benchmark>`; `compare.js` computes it from files of tables and rows."""

import hashlib
from typing import Any

import numpy as np
import orjson
from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.table import slug
from fairspace.leaderboard_space.boards.view import View
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.pages.figures import board_of
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.comparing import drawn_scores
from fairspace.submissions.results.scoring import find_standard, rescore

router = APIRouter(include_in_schema=False)


@router.get("/compare/{benchmark}")
def compare(request: Request, benchmark: str) -> Response:
    """The page on which two or more rows of a board are chosen and compared, under the default standard."""
    if benchmark not in NAMES:
        raise SpaceError("UNKNOWN_PAGE", "the comparison", repr(benchmark[:80]), f"one of: {', '.join(NAMES)}", "see /")
    view, standard = VIEWS[benchmark], find_benchmark(benchmark).default
    # of tables of the same rows, the first
    titles = {part.keep: slug(title) for title, part in [*view.slices.items()][::-1]}
    tables = [f"/board/{benchmark}/{standard}/{title}/board.json" for title in [*titles.values()][::-1]]
    return page(
        request,
        "compare.html.jinja",
        view=view,
        views=VIEWS.values(),
        standard=standard,
        tables=tables,
        scores=orjson.dumps(rules(view, standard)).decode(),
        ratios=find_benchmark(benchmark).scoring.logarithmic,
    )


def rules(view: View, standard: str) -> dict[str, dict[str, Any]]:
    """How each score of a board is compared: `quality` (even, right or ''), `best` number, and `limits`, None for none.

    As in `submissions.comparing`; a total, and a mean of facts and fairness, are never more even.
    """
    bench = find_benchmark(view.benchmark)
    limits = bench.scoring.table(find_standard(bench, standard), AS_RELEASED).limits
    by_score = {}
    for part in view.slices.values():
        for name in (column.score for column in (part.total, *part.columns)):
            ideal, mixture = bench.ideal(name, standard), name.startswith(part.total.score)
            best = None if ideal is None else ideal.number
            quality = "even" if best is not None else "right" if ideal is None and bench.higher_is_better else ""
            if mixture or (ideal is not None and ideal.mixed):
                quality = ""
            ends = [float(end) if np.isfinite(end) else None for end in limits.get(name, (np.inf, np.inf))]
            by_score[name] = {"quality": quality, "best": best, "limits": ends}
    return by_score


@router.get("/compare/{benchmark}/{standard}/{entry}.json")
def margins(request: Request, benchmark: str, standard: str, entry: str) -> Response:
    """The scores of a row with draws, their `bounds` over missing answers, and `same`, equal for equal questions.

    SpaceError UNKNOWN_ENTRY for a row that was not scored here.
    """
    state = space_of(request).state
    full = state.full(entry) if entry in board_of(state, benchmark, standard).by_entry else None
    if full is None:
        raise SpaceError("UNKNOWN_ENTRY", "the row", repr(entry[:40]), "a row that was scored here", "see the board")
    proofs = {task: held.keys for task, held in sorted(full.consistency.items())}
    (drawn,) = drawn_scores(benchmark, [rescore(full, standard)], standard)
    scores = {
        name: {
            **{"value": score.value, "debiased": score.debiased, "bounds": score.bounds},
            "draws": [float(f"{draw:.7g}") for draw in score.draws],
        }
        for name, score in drawn.items()
    }
    same = hashlib.sha256(repr(proofs).encode()).hexdigest() if proofs else ""
    content = orjson.dumps({"same": same, "scores": scores})  # a number that is none becomes null
    return Response(content, media_type="application/json")
