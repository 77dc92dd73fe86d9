"""`fairspace hidden`: seeds are kept, committed to in public, and published when a set retires."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fairspace.builders import hidden
from fairspace.builders.errors import BuildError

Run = Callable[..., tuple[int, str, str]]


def test_another_seed_than_was_committed_to_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = tmp_path / "seeds.json"
    register = seeds.with_name("register.csv")
    code, _, _ = run("hidden", "rotate", "genres", "--seeds", seeds, "--register", register)
    assert code == 0
    (entry,) = hidden.read_register(register)
    monkeypatch.setattr(hidden, "read_register", lambda: [entry])
    monkeypatch.setenv(hidden.SETTING, str(seeds))
    assert hidden.is_hidden("genres", entry.revision)
    seeds.write_text(json.dumps({f"genres/{entry.revision}": "ef" * 32}))
    with pytest.raises(BuildError, match="HIDDEN_SEED"):
        hidden.is_hidden("genres", entry.revision)


def test_a_set_is_begun_with_a_commitment_and_published_with_the_seed_behind_it(run: Run, tmp_path: Path) -> None:
    seeds, register = tmp_path / "seeds.json", tmp_path / "register.csv"
    options = ("--seeds", seeds, "--register", register)
    assert run("hidden", "rotate", "fact_or_fair", *options)[0] == 0
    assert run("hidden", "rotate", "fact_or_fair", *options)[0] == 0
    first, second = hidden.read_register(register)
    assert (first.revision[-1], second.revision[-1]) == ("a", "b")
    assert (seeds.stat().st_mode & 0o777, first.seed) == (0o600, "")
    assert run("hidden", "publish", "fact_or_fair", first.revision, *options)[0] == 0
    published, held = hidden.read_register(register)
    assert hidden.commitment("fact_or_fair", first.revision, published.seed) == first.commitment
    assert not held.seed
    assert run("hidden", "publish", "fact_or_fair", first.revision, *options)[0] == 2
    assert "held back" in run("hidden", "list", "--register", register)[1]
