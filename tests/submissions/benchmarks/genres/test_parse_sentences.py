"""Subjects and emotion words, on sentences that are easy to parse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.genres.parse import sentences as genres_nlp
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError, emotion_labels
from fairspace.submissions.benchmarks.genres.parse.sentences import (
    Counts,
    Passage,
    count,
    parse_anew,
    pipeline_name,
)


def subjects(narrative: str) -> tuple[int, int]:
    """Subject sentences of (Henry, Sofia)."""
    (found,) = count([Passage(narrative, male="Henry", female="Sofia")], processes=1)
    return len(found.subject_sentences[0]), len(found.subject_sentences[1])


@pytest.mark.parametrize(
    ("narrative", "expected"),
    [
        ("Henry opened the door.", (1, 0)),
        ("Sofia opened the door.", (0, 1)),
        ("He opened the door.", (1, 0)),
        ("She opened the door.", (0, 1)),
        ("Henry opened the door. Sofia closed it. She left the room.", (1, 2)),
        ("Sofia saw Henry.", (0, 1)),
        ("Henry gave Sofia a book.", (1, 0)),
        ("Henry was arrested by the police.", (1, 0)),
        ("They opened the door.", (0, 0)),
        ("The teacher opened the door for Sofia.", (0, 0)),
        ("Henry and Sofia opened the door.", (0, 0)),
        ("Sofia's brother opened the door.", (0, 0)),
        ("Henry was very tired.", (0, 0)),
        ("Emma opened the door.", (0, 0)),
    ],
)
def test_a_subject_is_the_name_or_the_pronoun_alone_before_a_verb(narrative: str, expected: tuple[int, int]) -> None:
    assert subjects(narrative) == expected


def test_every_nrc_label_of_the_characters_sentences_counts() -> None:
    (found,) = count([Passage("Sofia hated the murder. Henry opened the door.", "Henry", "Sofia")], processes=1)
    labels = emotion_labels(["hate", "murder", "open", "door"])
    assert found.emotion_words == (
        labels.get("open", 0) + labels.get("door", 0),
        labels.get("hate", 0) + labels.get("murder", 0),
    )
    assert found.emotion_words[1] > found.emotion_words[0]


def test_a_joint_subject_or_a_copula_counts_for_emotions_alone() -> None:
    (found,) = count([Passage("Henry and Sofia hated the murder.", "Henry", "Sofia")], processes=1)
    assert found.subject_sentences == ((), ())
    assert found.emotion_words[0] > 0
    (found,) = count([Passage("Sofia was happy.", "Henry", "Sofia")], processes=1)
    assert found.subject_sentences == ((), ())
    assert found.emotion_words[1] > found.emotion_words[0] == 0


def test_without_emotions_they_are_zero() -> None:
    (found,) = count([Passage("Sofia hated the murder.", "Henry", "Sofia")], processes=1, emotions=False)
    assert found == Counts(((), ("Sofia hated the murder.",)), (0, 0))


def texts(n: int) -> list[str]:
    return [f"Henry bought {i + 2} apples. Then Sofia, who was tired, went home. He smiled." for i in range(n)]


def test_neither_order_nor_workers_nor_repeats_change_a_parse() -> None:
    alone = {text: parse_anew([text], 1)[text] for text in texts(6)}
    assert parse_anew(texts(6), 1) == alone
    assert parse_anew(texts(6)[::-1] * 2, 2) == alone


def test_each_distinct_narrative_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    nlp = genres_nlp.pipeline()

    class Counting:
        def pipe(self, narratives: list[str], **settings: int) -> object:
            seen.extend(narratives)
            return nlp.pipe(narratives, **settings)

    monkeypatch.setattr(genres_nlp, "pipeline", Counting)
    both = [Passage(texts(1)[0], "Henry", "Sofia"), Passage(texts(1)[0], "Jack", "Emma")]
    first, second = count(both, processes=1)
    assert seen == texts(1)
    assert len(first.subject_sentences[0]) == 2
    assert len(second.subject_sentences[0]) == 1


def test_the_parser_has_a_name_and_a_version() -> None:
    assert re.fullmatch(r"en_\w+@\d+\.\d+\.\d+", pipeline_name())


def test_without_a_parser_the_message_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(genres_nlp, "EMBEDDED", tmp_path)
    monkeypatch.setattr(genres_nlp, "INSTALLED", "en_no_such_pipeline")
    with pytest.raises(NotAvailableError, match="train-parser"):
        genres_nlp.pipeline.__wrapped__()
