import hashlib

import pytest

from fairspace.builders.engine.making import Candidate, PlanStore

CANDIDATES = [Candidate(f"k{n}", f"cell{n % 3}", n) for n in range(50)]
ORDER = ("cell2", "cell0", "cell1")


def filled(seed: int) -> PlanStore:
    plan = PlanStore(seed)
    plan.add(CANDIDATES)
    return plan


def test_each_cell_gives_its_first_candidates_by_the_hash_of_seed_and_key() -> None:
    plan = filled(7)
    assert plan.counts() == {"cell0": 17, "cell1": 17, "cell2": 16}

    def rank(candidate: Candidate) -> bytes:
        return hashlib.sha256(f"7/{candidate.key}".encode()).digest()

    assert [tuple(chosen) for chosen in plan.select(4, ORDER)] == [
        (cell, place, candidate.key, candidate.data)
        for cell in ORDER
        for place, candidate in enumerate(sorted((c for c in CANDIDATES if c.cell == cell), key=rank)[:4])
    ]


def test_cells_may_have_limits_of_their_own() -> None:
    chosen = filled(0).select({"cell0": 2, "cell1": 99, "cell9": 3}, [*ORDER, "cell9"])
    assert [c.cell for c in chosen] == ["cell0"] * 2 + ["cell1"] * 17


def test_order_and_number_of_calls_change_nothing_and_the_seed_does() -> None:
    pieces = PlanStore(1)
    for candidate in reversed(CANDIDATES):
        pieces.add([candidate])
        pieces.add([candidate])
    assert filled(1).select(5, ORDER) == pieces.select(5, ORDER)
    assert filled(1).select(5, ORDER) != filled(2).select(5, ORDER)


def test_a_key_with_other_content_is_refused() -> None:
    plan = filled(1)
    with pytest.raises(ValueError, match="k1 stands in the plan"):
        plan.add([CANDIDATES[0], Candidate("k1", "cell9", 0)])
