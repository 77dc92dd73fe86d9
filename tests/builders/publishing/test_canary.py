"""The canary of a release: in the card, its metadata and a file; and the exact test that shows exposure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from fairspace.builders.errors import BuildError
from fairspace.builders.hidden import HiddenSet
from fairspace.builders.publishing import hidden_sets
from fairspace.builders.publishing.canary import (
    FILE,
    KEY,
    canary_guid,
    canary_rows,
    canary_text,
    read_canary,
    with_canary,
)
from fairspace.submissions.running.canary import probe_canary

CARD = "---\nlicense: cc-by-4.0\n---\n# A dataset\n\nIts text.\n"
SECRET = bytes(range(32))


def test_a_release_carries_its_canary_in_card_metadata_and_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"README.md": CARD.encode(), "a.parquet": b"rows"}
    monkeypatch.delenv(KEY, raising=False)
    assert with_canary(files, "genres", "v1") == files
    monkeypatch.setenv(KEY, SECRET.hex())
    released = with_canary(files, "genres", "v1")
    guid = canary_guid(SECRET, "genres", "v1")
    card = released["README.md"]
    assert isinstance(card, bytes)
    _, metadata, text = card.decode().split("---\n", 2)
    assert yaml.safe_load(metadata) == {"license": "cc-by-4.0", "canary": guid}
    assert guid in text
    assert released["a.parquet"] == b"rows"
    content = released[FILE]
    assert isinstance(content, bytes)
    (tmp_path / FILE).write_bytes(content)
    assert read_canary(tmp_path / FILE) == canary_rows(SECRET, "genres", "v1")
    assert canary_guid(SECRET, "genres", "v2") != guid
    monkeypatch.setenv(KEY, "short")
    with pytest.raises(BuildError, match="CONFIG_INVALID"):
        with_canary(files, "genres", "v1")


def test_a_file_that_is_no_canary_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("nothing of the kind")
    with pytest.raises(BuildError, match="SOURCE_LAYOUT"):
        read_canary(tmp_path / FILE)


def test_a_model_that_has_read_the_file_is_told_from_one_that_has_not() -> None:
    rows = canary_rows(SECRET, "genres", "v1")
    remembered = {row.begin: row.end for row in rows[::4]}  # a quarter of the lines

    def trained(prompts: Sequence[str]) -> list[str]:
        begins = [prompt.splitlines()[-1].removesuffix(" =>") for prompt in prompts]
        return [remembered.get(begin, "I cannot know that.") for begin in begins]

    exposure = probe_canary(rows, trained)
    assert (exposure.continued, exposure.control) == (16, 0)
    assert exposure.is_exposed
    fresh = probe_canary(rows, lambda prompts: ["babab babab babab babab"] * len(prompts))
    assert fresh.p > 0.1
    assert not fresh.is_exposed


def test_a_model_that_repeats_what_it_is_shown_is_not_exposed() -> None:
    rows = canary_rows(SECRET, "genres", "v1")
    exposure = probe_canary(rows, lambda prompts: prompts)
    assert exposure.continued <= 1
    assert not exposure.is_exposed


def test_lines_of_two_keys_have_nothing_in_common() -> None:
    one, other = canary_rows(SECRET, "genres", "v1"), canary_rows(bytes(32), "genres", "v1")
    assert not {row.begin for row in one} & {row.begin for row in other}
    text = canary_text("fairspace-canary:genres:v1:0", one)
    assert len(text) < 64 << 10


def test_a_release_states_the_commitments_to_its_hidden_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"README.md": CARD.encode()}
    held = HiddenSet("genres", "v1-hidden-2099a", "0" * 64, "2099-01-31")
    monkeypatch.setattr(hidden_sets, "read_register", lambda: [held])
    assert hidden_sets.with_hidden_sets(files, "fact_or_fair") == files
    released = hidden_sets.with_hidden_sets(files, "genres")
    card, register = released["README.md"], released[hidden_sets.FILE]
    assert isinstance(card, bytes)
    assert isinstance(register, bytes)
    assert f"| `v1-hidden-2099a` | 2099-01-31 | held back | `{'0' * 64}` |" in card.decode()
    assert register.decode().splitlines()[1] == f"genres,v1-hidden-2099a,{'0' * 64},2099-01-31,,"
