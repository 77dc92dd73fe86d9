"""Packed errors are those that were logged."""

import orjson
import pytest

from fairspace.leaderboard_space.folding.packed_errors import packed_errors
from fairspace.leaderboard_space.folding.packed_values import Alike
from fairspace.submissions.results.row_errors import Errors
from fairspace.submissions.uncertainty.uncertainty import Uncertainty

FULL = Uncertainty("image", 52, 200, 3, 0.1, 0.2, 0.6, "bca", 0.25, 0.55, 0.38, 0.05, 0.12, "of images alone")
BARE = Uncertainty("item", 9, 100, 0, 0.0, -1.5, 2.0, "exact", -1.5, 2.0)


def test_packed_errors_are_what_was_logged() -> None:
    """Whatever optional numbers and notes an uncertainty has."""
    errors = Errors({"total": FULL, "part": BARE}, {"profile F": 0.93})
    packed = packed_errors(orjson.loads(orjson.dumps(errors.to_json())), Alike())
    assert dict(packed.scores) == errors.scores
    assert packed.to_json() == errors.to_json()
    assert ("part" in packed.scores, "other" in packed.scores, len(packed.scores)) == (True, False, 2)


def test_a_score_without_errors_is_a_missing_key() -> None:
    """As of every mapping."""
    packed = packed_errors({"scores": {"total": BARE.to_json()}, "chances": {}}, Alike())
    assert packed.scores.get("part") is None
    with pytest.raises(KeyError):
        packed.scores["part"]


def test_results_share_the_texts_of_their_errors() -> None:
    """Thousands of results have the same units, methods and notes."""
    alike = Alike()
    for error in (FULL, FULL, BARE):
        packed_errors({"scores": {"total": error.to_json()}, "chances": {}}, alike)
    assert len(alike.errors) == 2
