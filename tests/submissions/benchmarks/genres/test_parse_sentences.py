from collections.abc import Sequence
from typing import Any

import pytest

from fairspace.submissions.benchmarks.genres.parse import sentences
from fairspace.submissions.benchmarks.genres.parse.lexicons import emotion_labels
from tests.submissions.answers.phrases import phrases


@pytest.fixture(autouse=True, params=[sentences.CORE_WEB, sentences.EMBEDDED])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(sentences.SETTING, request.param)
    return str(request.param)


@pytest.mark.parametrize("line", phrases("genres", "subjects"), ids=lambda line: line["answer"])
def test_a_subject_is_the_name_or_the_pronoun_alone_before_a_verb(line: dict[str, Any]) -> None:
    (found,) = sentences.count([sentences.Passage(line["answer"], male="Henry", female="Sofia")], processes=1)
    assert [len(texts) for texts in found.subject_sentences] == [line["male"], line["female"]]


def test_every_nrc_label_of_the_characters_sentences_counts() -> None:
    (found,) = sentences.count(
        [sentences.Passage("Sofia feared the murder. Henry opened the door.", "Henry", "Sofia")], processes=1
    )
    labels = emotion_labels(["fear", "murder", "open", "door"])
    assert found.emotion_words == (
        labels.get("open", 0) + labels.get("door", 0),
        labels.get("fear", 0) + labels.get("murder", 0),
    )
    assert found.emotion_words[1] > found.emotion_words[0]


@pytest.mark.parametrize("line", phrases("genres", "first subject"), ids=lambda line: line["answer"])
def test_emotions_are_those_of_the_first_subject_of_the_sentence(line: dict[str, Any]) -> None:
    (counts,) = sentences.count([sentences.Passage(line["answer"], "Henry", "Sofia")], processes=1)
    assert [words > 0 for words in counts.emotion_words] == [line["male"], line["female"]]


def test_a_namesake_is_the_character_where_the_passage_says_so() -> None:
    alone = sentences.Passage("Emma opened the door. Sofia closed it.", "Henry", "Sofia")
    theirs = sentences.Passage(alone.narrative, "Henry", "Sofia", (frozenset(), frozenset({"Emma"})))
    first, all_names = sentences.count([alone, theirs], processes=1, emotions=False)
    assert first.subject_sentences == ((), ("Sofia closed it.",))
    assert all_names.subject_sentences == ((), ("Emma opened the door.", "Sofia closed it."))


def test_without_emotions_they_are_zero() -> None:
    (found,) = sentences.count(
        [sentences.Passage("Sofia feared the murder.", "Henry", "Sofia")], processes=1, emotions=False
    )
    assert found == sentences.CharacterCounts(((), ("Sofia feared the murder.",)), (0, 0))


def texts(n: int) -> list[str]:
    return [f"Henry bought {i + 2} apples. Then Sofia, who was tired, went home. He smiled." for i in range(n)]


def test_neither_order_nor_workers_nor_repeats_change_a_parse() -> None:
    alone = {text: sentences.parse_anew([text], 1)[text] for text in texts(6)}
    assert sentences.parse_anew(texts(6), 1) == alone
    assert sentences.parse_anew(texts(6)[::-1] * 2, 2) == alone


def test_each_distinct_narrative_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    nlp = sentences.pipeline()

    class Counting:
        meta = nlp.meta

        def pipe(self, narratives: list[str], **settings: int) -> object:
            seen.extend(narratives)
            return nlp.pipe(narratives, **settings)

    monkeypatch.setattr(sentences, "_PARSED", {})
    monkeypatch.setattr(sentences, "pipeline", Counting)
    both = [sentences.Passage(texts(1)[0], "Henry", "Sofia"), sentences.Passage(texts(1)[0], "Jack", "Emma")]
    first, second = sentences.count(both, processes=1)
    assert seen == texts(1)
    assert len(first.subject_sentences[0]) == 2
    assert len(second.subject_sentences[0]) == 1


PASSAGE = sentences.Passage("Henry opened the door. Sofia closed the window.", "Henry", "Sofia")


def test_exchanged_names_keep_case_possessive_and_people() -> None:
    passage = sentences.Passage("MIA met Jack's dog. Jack saw Mia, not Mias.", "Jack", "Mia")
    assert passage.exchanged == sentences.Passage("JACK met Mia's dog. Mia saw Jack, not Mias.", "Mia", "Jack")
    assert sentences.exchange_names(passage.exchanged.narrative, "Jack", "Mia") == passage.narrative


def test_both_parses_tell_of_the_people_and_sentences_as_they_were_written() -> None:
    as_written, exchanged = sentences.count_both([PASSAGE], emotions=False)
    assert as_written == exchanged
    assert as_written[0].subject_sentences == (("Henry opened the door.",), ("Sofia closed the window.",))


def test_a_parser_that_misses_a_name_misses_the_other_person_in_the_exchanged_parse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parse = sentences._sentence

    def missing_sofia(span: object) -> sentences.NarrativeSentence:
        sentence = parse(span)
        return sentences.NarrativeSentence(sentence.text, "", "", ()) if sentence.root_subject == "Sofia" else sentence

    monkeypatch.setattr(sentences, "_PARSED", {})
    monkeypatch.setattr(sentences, "_sentence", missing_sofia)
    by_parse: Sequence[Sequence[sentences.CharacterCounts]] = sentences.count_both([PASSAGE], emotions=False)
    assert [[len(texts) for texts in counts.subject_sentences] for (counts,) in by_parse] == [[1, 0], [0, 1]]
