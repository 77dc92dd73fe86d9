from collections.abc import Iterable
from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.genres.parse import sentences
from fairspace.submissions.benchmarks.registry import benchmark
from tests import store
from tests.scored_baselines import baseline
from tests.stored_parses import Parsed, kept_parses


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


@pytest.mark.slow
def test_kept_parses_are_what_the_parser_says_today(monkeypatch: pytest.MonkeyPatch) -> None:
    """If not: `python -m tests.stored_parses`."""
    parse_anew = getattr(sentences.parse_anew, "__wrapped__")  # noqa: B009
    compared: list[str] = []

    def compare(narratives: Iterable[str], processes: int | None = None) -> Parsed:
        wanted = sorted(narratives)
        kept = kept_parses(wanted)
        assert sorted(kept) == wanted
        some = wanted[::40]
        assert parse_anew(some, 1) == kept_parses(some)
        compared.extend(some)
        return kept

    monkeypatch.setattr(sentences, "_PARSED", {})
    monkeypatch.setattr(sentences, "parse_anew", compare)
    bench = benchmark("genres")
    bench.measure(bench.read(baseline("random", bench.name)))
    assert len(compared) > 70
