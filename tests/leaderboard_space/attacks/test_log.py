"""A flipped bit in the log is located by line, and mending loses nothing else."""

import random
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.events import START, Draft, Event, digest
from fairspace.leaderboard_space.intake import add_result, result_draft
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.checking import check, mend
from fairspace.leaderboard_space.storage.local import COUNT, LOG, LocalStorage
from fairspace.submissions.errors import UsageError
from tests.leaderboard_space.factory import accepted, ended, mark, result

Run = Callable[..., tuple[int, str, str]]
USERS = ("ada", "bob", "eve")


def filled(root: Path) -> LocalStorage:
    """A store with a model's row, a baseline's row, and every fate of a submission."""
    storage = LocalStorage(root)
    add_result(storage, result("fact_or_fair", "stereotyped"))
    handed_in = [accepted(user, f"file of {user}".encode()) for user in USERS]
    for draft, files in handed_in:
        storage.append([draft], files)
    names = [str(draft.body["id"]) for draft, _ in handed_in]
    draft, files = result_draft(result("fact_or_fair", "constant", "a model"), USERS[0])
    row = {"key": draft.body["key"], "entry": draft.body["entry"], "same": False}
    storage.append([draft, ended("scored", names[0], **row)], files)
    storage.append([ended("refused", names[1], faults=[])])
    storage.append([ended("failed", names[2], reason="It failed.")])
    storage.append([mark("withdrawn", row["entry"])])
    storage.append([mark("restored", row["entry"])])
    return storage


def of_an_earlier_version(lines: list[bytes]) -> list[bytes]:
    earlier: list[bytes] = []
    for line in lines:
        previous = digest(earlier[-1]) if earlier else START
        earlier.append(replace(Event.of_line(line), previous=previous, sha256="").line())
    return earlier


def flipped(line: bytes, place: int, bit: int) -> bytes:
    return line[:place] + bytes([line[place] ^ (1 << bit)]) + line[place + 1 :]


def rows(root: Path) -> dict[str, tuple[str, str, bool]]:
    state = State(LocalStorage(root))
    state.refresh()
    return {entry.entry: (entry.key, entry.user, entry.withdrawn is None) for entry in state.entries()}


def named_line(root: Path) -> int:
    with pytest.raises(StorageError, match="STORE_CORRUPT") as raised:
        list(LocalStorage(root).events())
    (number,) = re.findall(r"line (\d+)$", raised.value.where)
    return int(number)


def test_a_flipped_bit_is_an_error_of_its_line_and_costs_no_other(tmp_path: Path) -> None:
    filled(tmp_path)
    before = rows(tmp_path)
    lines = (tmp_path / LOG).read_bytes().splitlines(keepends=True)
    keys = [Event.of_line(line).key for line in lines]
    draw = random.Random(0)
    for number, line in enumerate(lines, 1):
        tail = line.index(b',"previous":"')
        place = draw.randrange(tail) if number % 2 else draw.randrange(tail, len(line) - 1)
        damaged = [*lines[: number - 1], flipped(line, place, draw.randrange(7)), *lines[number:]]
        (tmp_path / COUNT).unlink(missing_ok=True)  # of the log that was mended last
        (tmp_path / LOG).write_bytes(b"".join(damaged))
        assert named_line(tmp_path) == number, damaged[number - 1]
        mended = mend(tmp_path)
        events = list(LocalStorage(tmp_path).events())
        kept = [event.key for event in events]
        assert kept[:-1] == [*keys[: number - 1], kept[number - 1], *keys[number:]]
        assert events[-1].kind == "mended"
        assert kept[number - 1] in (keys[number - 1], f"lost:{number}")
        if mended.lost:
            assert mended.lost == (number,)
            assert [path.read_bytes() for path in mended.aside] == [damaged[number - 1]]
        assert rows(tmp_path).keys() >= before.keys() - ({Event.of_line(lines[number - 1]).body.get("entry")})
    assert mend(tmp_path).aside == (), "a mended log is sound"


@pytest.mark.parametrize("count", ["99999999", "9" * 20, "123456 and more", "-7", "12"])
def test_mending_ends_whatever_the_count_says(tmp_path: Path, count: str) -> None:
    filled(tmp_path)
    before, lines = rows(tmp_path), (tmp_path / LOG).read_bytes().splitlines(keepends=True)
    (tmp_path / COUNT).write_text(count)
    mended = mend(tmp_path)
    damaged = int(count) if count.isdigit() and int(count) > 10_000 else None
    assert (mended.count, rows(tmp_path)) == (damaged, before)
    assert mended.lost == (() if damaged or not count.isdigit() else tuple(range(len(lines) + 1, 13)))
    assert mend(tmp_path) == replace(mended, count=None, lost=()), "and the count is right again"


def test_a_deleted_log_is_mended_like_an_empty_one(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / LOG).unlink()
    count = int((tmp_path / COUNT).read_text())
    with pytest.raises(StorageError, match="STORE_CORRUPT"):
        check(LocalStorage(tmp_path))
    assert mend(tmp_path).lost == tuple(range(1, count + 1))
    report = check(LocalStorage(tmp_path))
    assert (report.faults, report.unnamed) == ((), 0), "the log says what it lost"
    assert sum(note.startswith("no event names") for note in report.notes) == 5
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no events"):
        mend(tmp_path / "empty")


def test_a_log_and_a_count_that_are_older_than_the_files_are_told_by_the_exit_code(run: Run, tmp_path: Path) -> None:
    filled(tmp_path)
    assert run("store", tmp_path)[0] == 0
    lines = (tmp_path / LOG).read_bytes().splitlines(keepends=True)
    (tmp_path / LOG).write_bytes(b"".join(lines[:2]))
    (tmp_path / COUNT).write_text("2\n")
    code, out, err = run("store", tmp_path)
    assert (code, out.count("no event names"), "Files without an event" in err) == (4, 3, True)
    for path in (LOG, COUNT):
        (tmp_path / path).unlink()
    assert run("store", tmp_path, "--mend")[0] == 4, "nothing is left that says how many events there were"
    (tmp_path / COUNT).write_text("99999999")
    code, _, err = run("store", tmp_path, "--mend")
    assert (code, "events.count said 99999999" in err) == (4, True)


def test_a_log_cut_anywhere_is_refused_and_named(tmp_path: Path) -> None:
    filled(tmp_path / "whole")
    lines = (tmp_path / "whole" / LOG).read_bytes().splitlines(keepends=True)
    for kept in range(len(lines)):
        for torn in (0, len(lines[kept]) // 2):
            root = tmp_path / f"{kept}-{torn}"
            shutil.copytree(tmp_path / "whole", root)
            (root / LOG).write_bytes(b"".join(lines[:kept]) + lines[kept][:torn])
            with pytest.raises(StorageError, match=rf"STORE_CORRUPT.*{kept} events, but {len(lines)} were appended"):
                check(LocalStorage(root))
            with pytest.raises(StorageError, match="STORE_CORRUPT"):
                LocalStorage(root).append([Draft("withdrawn", "withdrawn:x", {"entry": "x"})])
            mended = mend(root)
            assert mended.lost == tuple(range(kept + 1, len(lines) + 1))
            report = check(LocalStorage(root))
            assert report.rows + report.submissions + len(report.notes) - 1 == 5, "files without an event are named"
            assert report.faults == ()


Damage = Callable[[list[bytes]], list[bytes]]
ZEROS = bytes(300) + b"\n"
DAMAGES: dict[str, tuple[Damage, tuple[int, ...]]] = {
    "without its end": (lambda lines: [*lines[:4], lines[4][:-1] + b"\x0b", *lines[5:]], (5, 6)),
    "zeros": (lambda lines: [*lines[:4], bytes(len(lines[4]) - 1) + b"\n", *lines[5:]], (5,)),
    "two of zeros": (lambda lines: [*lines[:4], ZEROS, ZEROS, *lines[6:]], (5, 6)),
    "swapped and doubled": (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:], lines[2]], ()),
}


@pytest.mark.parametrize("earlier", [False, True], ids=["today", "earlier version"])
@pytest.mark.parametrize(("damage", "lost"), DAMAGES.values(), ids=DAMAGES.keys())
def test_all_lines_but_the_broken_ones_stay(
    tmp_path: Path, earlier: bool, damage: Damage, lost: tuple[int, ...]
) -> None:
    filled(tmp_path)
    lines = (tmp_path / LOG).read_bytes().splitlines(keepends=True)
    lines = of_an_earlier_version(lines) if earlier else lines
    keys = [Event.of_line(line).key for line in lines]
    (tmp_path / LOG).write_bytes(b"".join(lines))
    assert len(rows(tmp_path)) > 1, "a log of either version opens"
    (tmp_path / LOG).write_bytes(b"".join(damage(lines)))
    mended = mend(tmp_path)
    assert mended.lost == lost
    expected = [f"lost:{number}" if number in lost else key for number, key in enumerate(keys, 1)]
    assert [event.key for event in LocalStorage(tmp_path).events()][:-1] == expected
    report = check(LocalStorage(tmp_path))
    assert report.faults == ()
    assert any("lost" in note for note in report.notes) == bool(lost), "a check accepts and names them"


def test_a_mended_log_goes_on_and_a_process_that_read_it_before_does_not(tmp_path: Path) -> None:
    storage = filled(tmp_path)
    lines = (tmp_path / LOG).read_bytes().splitlines(keepends=True)
    reader = LocalStorage(tmp_path)
    assert len(list(reader.events())) == len(lines)
    (tmp_path / LOG).write_bytes(b"".join([*lines[:6], b"\n", *lines[7:]]))
    mend(tmp_path)
    for process in (storage, reader):
        with pytest.raises(StorageError, match="STORE_CORRUPT"):
            process.append([Draft("lost", "one more")])
    LocalStorage(tmp_path).append([Draft("lost", "one more")])
    assert len(list(LocalStorage(tmp_path).events())) == len(lines) + 2
