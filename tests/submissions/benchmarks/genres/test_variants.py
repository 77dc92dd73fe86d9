"""Exchanged names of the two characters, read by the parser that this machine has."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from fairspace.submissions.benchmarks.genres.parse import sentences
from fairspace.submissions.benchmarks.genres.parse.sentences import Passage, Sentence, count
from fairspace.submissions.benchmarks.genres.variants import swapped

PASSAGE = Passage("Henry opened the door. Sofia closed the window.", "Henry", "Sofia")


def subjects(passage: Passage) -> tuple[int, int]:
    """Subject sentences of the male and the female character."""
    (counts,) = count([passage], processes=1, emotions=False)
    return len(counts.subject_sentences[0]), len(counts.subject_sentences[1])


def test_exchanged_names_keep_case_possessive_and_people() -> None:
    passage = Passage("MIA met Jack's dog. Jack saw Mia, not Mias.", "Jack", "Mia")
    assert swapped(passage) == Passage("JACK met Mia's dog. Mia saw Jack, not Mias.", "Mia", "Jack")
    assert swapped(swapped(passage)) == passage


def test_exchanged_names_move_nothing_where_both_parse_alike() -> None:
    assert subjects(PASSAGE) == subjects(swapped(PASSAGE)) == (1, 1)


def test_exchanged_names_show_a_parser_that_misses_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = sentences.parse

    def missing_sofia(texts: Iterable[str], processes: int | None = None) -> dict[str, tuple[Sentence, ...]]:
        parsed = parse(texts, processes)
        return {text: tuple(s for s in each if "sofia" not in s.root_subjects) for text, each in parsed.items()}

    monkeypatch.setattr(sentences, "parse", missing_sofia)
    assert (subjects(PASSAGE), subjects(swapped(PASSAGE))) == ((1, 0), (0, 1))
