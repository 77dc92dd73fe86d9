from pathlib import Path

import pytest

from tests import store


def test_a_stored_thing_is_made_once_and_again_when_its_sources_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "ROOT", tmp_path)
    monkeypatch.setattr(store, "STORE", tmp_path / "store")
    source = tmp_path / "code.py"
    calls: list[Path] = []

    def make(folder: Path) -> None:
        calls.append(folder)
        (folder / "thing").write_text(source.read_text())

    def thing() -> str:
        store._hash.cache_clear()
        return (store.stored("thing", make, ("code.py",)) / "thing").read_text()

    for text in ("first", "second"):
        source.write_text(text)
        assert [thing(), thing()] == [text, text]
    assert len(calls) == 2
    assert len(list((tmp_path / "store").glob("thing-*"))) == 1
    source.write_text("third")
    store._hash.cache_clear()
    with pytest.raises(ZeroDivisionError):
        store.stored("thing", lambda folder: 1 / 0, ("code.py",))
    assert not list((tmp_path / "store").glob("thing-?*"))
