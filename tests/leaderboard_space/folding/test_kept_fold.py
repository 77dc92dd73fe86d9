"""A fold that was kept gives the boards of a fold from nothing, or is not believed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.folding import kept_fold, logged_rows
from fairspace.leaderboard_space.folding.kept_fold import KeptFold
from fairspace.leaderboard_space.result_events import add_result
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LOG, LocalStorage
from fairspace.submissions.results.result import Result
from tests.submissions.results.test_tiers import result, waves

SECRET = "a secret of these tests"


def told(number: int) -> Result:
    """A result with draws, and answers that are like those of no other."""
    model = result(f"model {number}", 0.1 + number / 50, waves(0.01, number + 1))
    return replace(model, signature={**model.signature, "answers": f"{number:064x}"})


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of four results, of which one is withdrawn and one verified, and the fold of it."""
    folder = tmp_path_factory.mktemp("kept")
    storage = LocalStorage(folder / "store")
    entries = [add_result(storage, told(number)).body["entry"] for number in range(4)]
    for kind, entry in (("withdrawn", entries[0]), ("verified", entries[1])):
        storage.append([Draft(kind, kind, {"entry": entry, "by": "ada", "reason": "so"})])  # type: ignore[arg-type]
    state = opened(folder)
    state.snapshot()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairspace.leaderboard_space.state._WORTH_KEEPING", 1)
        state.keep()
    return folder


def opened(folder: Path, secret: str = SECRET) -> State:
    """The state of a store, with what was kept where it is believed."""
    storage = LocalStorage(folder / "store")
    state = State(storage, kept=KeptFold(storage, folder / "fold", secret))
    state.refresh()
    return state


def from_nothing(folder: Path) -> bytes:
    """The boards of the log alone."""
    state = State(LocalStorage(folder / "store"))
    state.refresh()
    return state.snapshot()


def resumes(folder: Path, secret: str = SECRET) -> bool:
    """Whether a start goes on from what was kept; its boards are those of the log either way."""
    state = opened(folder, secret)
    assert state.snapshot() == from_nothing(folder)
    assert state.kept is not None
    return state.kept.number > 0


@pytest.fixture
def copied(kept: Path, tmp_path: Path) -> Path:
    """A copy of the folder, to be altered."""
    (tmp_path / "store").mkdir()
    for name in ("fold", f"store/{LOG}"):
        (tmp_path / name).write_bytes((kept / name).read_bytes())
    return tmp_path


def test_a_kept_fold_and_what_was_appended_since_give_the_boards_of_a_fold_from_nothing(copied: Path) -> None:
    assert resumes(copied)
    add_result(LocalStorage(copied / "store"), told(4))
    assert resumes(copied)
    state = opened(copied)
    add_result(state.storage, told(5))  # the storage knows where its log ends
    assert state.refresh() == 8
    assert state.snapshot() == from_nothing(copied)


def test_rows_that_were_kept_are_not_made_again(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    boards = from_nothing(kept)
    monkeypatch.setattr(logged_rows, "logged_row", lambda *given: pytest.fail("made again"))
    assert opened(kept).snapshot() == boards


@pytest.mark.parametrize("name", ["fold", f"store/{LOG}"])
def test_a_kept_fold_is_not_believed_if_it_or_the_log_was_altered(copied: Path, name: str) -> None:
    content = bytearray((copied / name).read_bytes())
    place = content.rindex(b"model 3")
    content[place : place + 7] = b"model 4"
    (copied / name).write_bytes(content)
    storage = LocalStorage(copied / "store")
    assert KeptFold(storage, copied / "fold", SECRET).load() is None


def test_a_kept_fold_is_not_believed_with_another_secret_or_by_another_software(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not resumes(copied, "another secret")
    monkeypatch.setattr(kept_fold, "_software", lambda: b"another")
    monkeypatch.setattr("pickle.Unpickler", None)  # whose classes may have gone is not even read
    assert not resumes(copied)


def test_a_kept_fold_holds_no_secret(kept: Path) -> None:
    content = (kept / "fold").read_bytes()
    assert SECRET.encode() not in content


def test_a_shorter_log_is_folded_from_nothing(copied: Path) -> None:
    log = copied / "store" / LOG
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:3]))
    assert not resumes(copied)
