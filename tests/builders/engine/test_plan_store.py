"""A plan on disk chooses the same candidates whatever happened while it was filled."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from fairspace.builders.engine.plan_store import Candidate, PlanStore

CANDIDATES = [Candidate(f"k{n}", f"cell{n % 3}", f'{{"n": {n}}}') for n in range(50)]
ORDER = ("cell2", "cell0", "cell1")


def test_each_cell_gives_its_first_candidates_by_the_hash_of_seed_and_key(tmp_path: Path) -> None:
    plan = PlanStore(tmp_path / "plan.sqlite", 7)
    plan.add(CANDIDATES)
    assert plan.counts() == {"cell0": 17, "cell1": 17, "cell2": 16}
    chosen = plan.select(4, ORDER)
    assert len(chosen) == 12
    assert chosen.counts == {"cell2": 4, "cell0": 4, "cell1": 4}

    def rank(candidate: Candidate) -> bytes:
        return hashlib.sha256(f"7/{candidate.key}".encode()).digest()

    expected = [
        (cell, place, candidate.key, candidate.data)
        for cell in ORDER
        for place, candidate in enumerate(sorted((c for c in CANDIDATES if c.cell == cell), key=rank)[:4])
    ]
    assert [tuple(c) for c in chosen[0:12]] == expected
    assert [tuple(c) for c in chosen[3:9]] == expected[3:9]
    assert chosen[12:20] == []


def test_cells_may_have_limits_of_their_own(tmp_path: Path) -> None:
    plan = PlanStore(tmp_path / "plan.sqlite", 0)
    plan.add(CANDIDATES)
    chosen = plan.select({"cell0": 2, "cell1": 99, "cell9": 3}, [*ORDER, "cell9"])
    assert chosen.counts == {"cell2": 0, "cell0": 2, "cell1": 17, "cell9": 0}
    assert [c.cell for c in chosen[0:19]] == ["cell0"] * 2 + ["cell1"] * 17


def test_order_and_number_of_calls_change_nothing(tmp_path: Path) -> None:
    whole, pieces = PlanStore(tmp_path / "a.sqlite", 1), PlanStore(tmp_path / "b.sqlite", 1)
    whole.add(CANDIDATES)
    for candidate in reversed(CANDIDATES):
        pieces.add([candidate])
        pieces.add([candidate])
    assert whole.select(5, ORDER)[0:15] == pieces.select(5, ORDER)[0:15]
    other = PlanStore(tmp_path / "c.sqlite", 2)
    other.add(CANDIDATES)
    assert whole.select(5, ORDER)[0:15] != other.select(5, ORDER)[0:15]


def test_two_selections_stand_side_by_side_and_see_what_was_added_later(tmp_path: Path) -> None:
    plan = PlanStore(tmp_path / "plan.sqlite", 1)
    plan.add(CANDIDATES[:30])
    few, many = plan.select(2), plan.select(9)
    assert [len(few), len(many)] == [6, 27]
    assert [c for c in many[0:27] if c.place < 2] == few[0:6]
    plan.add(CANDIDATES)
    fresh = PlanStore(tmp_path / "fresh.sqlite", 1)
    fresh.add(CANDIDATES)
    assert plan.select(2)[0:6] == fresh.select(2)[0:6]


def test_a_key_with_other_content_is_refused(tmp_path: Path) -> None:
    plan = PlanStore(tmp_path / "plan.sqlite", 1)
    plan.add(CANDIDATES[:3])
    with pytest.raises(ValueError, match="k1 stands in the plan"):
        plan.add([CANDIDATES[0], Candidate("k1", "cell9", "{}")])
    assert plan.counts() == {"cell0": 1, "cell1": 1, "cell2": 1}


def test_a_plan_of_another_seed_is_refused(tmp_path: Path) -> None:
    PlanStore(tmp_path / "plan.sqlite", 1).close()
    with pytest.raises(ValueError, match="for seed 1, not 2"):
        PlanStore(tmp_path / "plan.sqlite", 2)


def test_a_killed_process_leaves_a_plan_that_goes_on(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from fairspace.builders.engine.plan_store import Candidate, PlanStore\n"
        "plan = PlanStore(Path(sys.argv[1]), 3)\n"
        "plan.add(Candidate(f'k{n}', f'cell{n % 3}', f'{{\"n\": {n}}}') for n in range(20))\n"
        "def until_killed():\n"
        "    yield Candidate('half', 'cell0', '{}')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "plan.add(until_killed())\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "plan.sqlite")], check=False)
    assert done.returncode == -9
    plan = PlanStore(tmp_path / "plan.sqlite", 3)
    assert sum(plan.counts().values()) == 20
    plan.add(CANDIDATES)
    fresh = PlanStore(tmp_path / "fresh.sqlite", 3)
    fresh.add(CANDIDATES)
    assert plan.select(9, ORDER)[0:27] == fresh.select(9, ORDER)[0:27]
