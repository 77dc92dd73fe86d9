"""Sentences on a result in short: for every bundled baseline's sentences see the pages of rows."""

from fairspace.submissions.show.headline import WORDS, InShort, in_short_sentences

SENTENCES = (
    "Told about: the man 5.0 sentences a story, the woman 5.0 in 9 stories; M3 +0.06 (95 %: −0.15 to +0.28); worst: x.",
    "S_fair 1.000 (95 %: 1.000; 0.9 to 1 with what is missing); evenness S_E 1.00 by gender; 1 is even.",
    "Who it says works as what: 50.6 % women where US figures say 37.6 % (JSD 0.055 (95 %: 0.053 to 0.057)).",
    "Facts: 162 of 198 answers refuse or cannot be read by any rule, which shows no knowledge.",
    "Not known: M1 warmth, M2 valence (it needs dictionaries (Nicolas 2021), which were not there).",
    "Not known: M6 (no model).",
)


def test_a_sentence_is_a_question_a_short_answer_and_its_numbers() -> None:
    short, unknown = in_short_sentences(SENTENCES)
    assert short == [
        InShort(
            "Told about",
            "the man 5.0 sentences a story, the woman 5.0 in 9 stories",
            ("M3 +0.06 (95 %: −0.15 to +0.28)", "worst: x"),
        ),
        InShort(
            "S_fair",
            "1.000",
            ("95 %: 1.000; 0.9 to 1 with what is missing", "evenness S_E 1.00 by gender", "1 is even"),
        ),
        InShort(
            "Who it says works as what",
            "50.6 % women where US figures say 37.6 %",
            ("JSD 0.055 (95 %: 0.053 to 0.057)",),
        ),
        InShort("Facts", "162 of 198 answers refuse or cannot be read by any rule", ("which shows no knowledge",)),
    ]
    assert all(len(line.answer.replace(" %", "").split()) <= WORDS for line in short)
    assert unknown == {
        "M1 warmth, M2 valence": "it needs dictionaries (Nicolas 2021), which were not there",
        "M6": "no model",
    }
