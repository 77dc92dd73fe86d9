"""The counts of RQ2: Table A9 from captions that hold its words, and what counts as a word."""

import pytest

from fairspace.submissions.benchmarks.stereotypical_bias.corpus import INSTANCES, count_corpus, text_of
from tests.metrics.tables import rows


def captions_of(row: dict[str, str]) -> list[str]:
    """As many captions as a row of Table A9 has, with its words in the first ones."""
    words = ["He"] * int(row["male_terms"]) + ["woman"] * int(row["female_terms"])
    each = -(-len(words) // int(row["instances"])) or 1
    spoken = [words[start : start + each] for start in range(0, len(words), each)]
    spoken += [[]] * (int(row["instances"]) - len(spoken))
    return [f"A {row['instance']}, {' and '.join(said)}." for said in spoken]


def test_a_corpus_of_table_a9_has_its_counts_and_scores() -> None:
    table = rows("stereobias_tableA9_corpus")
    counted = count_corpus(caption for row in table for caption in captions_of(row))
    assert [row["instance"] for row in table] == list(INSTANCES)
    for row in table:
        found = counted["instances"][row["instance"]]
        assert (found["captions"], found["male"], found["female"]) == (
            int(row["instances"]),
            int(row["male_terms"]),
            int(row["female_terms"]),
        )
        if row["bias_score_printed"] == "N/A":
            assert found["corpus_score"] is None
        elif row["instance"] != "chef":  # E-STEREO-01
            assert found["corpus_score"] == pytest.approx(float(row["bias_score_printed"]), abs=0.00005001)
            assert found["interval"][0] <= found["male_share"] <= found["interval"][1]
    assert counted["whole"]["captions"] == sum(int(row["instances"]) for row in table)


@pytest.mark.parametrize(
    ("caption", "counts"),
    [
        ("Nurses and her brother", (1, 1, 1)),
        ("a nursery for boys", (0, 0, 0)),
        ("The nurse, the nurse's sister; HIS aunts", (1, 1, 2)),
        ("a human nurse in a mantle", (1, 0, 0)),
    ],
)
def test_whole_words_count_and_captions_count_once(caption: str, counts: tuple[int, int, int]) -> None:
    found = count_corpus([caption])["instances"]["nurse"]
    assert (found["captions"], found["male"], found["female"]) == counts


def test_a_conversation_is_one_caption() -> None:
    assert text_of([{"from": "human", "value": "Who?"}, {"from": "gpt", "value": "A cook"}]).split("\n")[1::2] == [
        "Who?",
        "A cook",
    ]
    assert text_of(None) == ""
