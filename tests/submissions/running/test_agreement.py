from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from fairspace.submissions.answers.likeness import TaskAnswers, shared_words
from fairspace.submissions.running.rerunning.agreement import PartAgreement, compare, pairs
from fairspace.submissions.running.rerunning.rerun import judged

N = 400
KEYS = [(f"item {number}", 0) for number in range(N)]
ALONE = {key: key[0] for key in KEYS}


def drawn(choices: int, steady: float, replaced: float, seed: int, stimuli: int = N) -> PartAgreement:
    """A model that gives each item's usual answer with a probability; a share of its answers is replaced."""
    random = np.random.default_rng(seed)
    usual = random.integers(0, choices, N)

    def said() -> np.ndarray:
        return np.where(random.random(N) < steady, usual, random.integers(0, choices, N))

    handed_in = np.where(random.random(N) < replaced, random.integers(0, choices, N), said())
    stimulus_of = {key: f"stimulus {number % stimuli}" for number, key in enumerate(KEYS)}
    answers = [
        TaskAnswers({key: str(word) for key, word in zip(KEYS, words, strict=True)}, words=False)
        for words in (handed_in, said(), said())
    ]
    compared = pairs(answers[0], answers[1], answers[2], stimulus_of)
    assert compared is not None
    return compare({"task": compared})


@pytest.mark.parametrize(
    ("choices", "steady", "replaced", "expected"),
    [
        (2, 1.0, 0.0, {"agrees"}),
        (4, 0.9, 0.0, {"agrees"}),
        (4, 1.0, 0.3, {"differs"}),
        (2, 1.0, 0.3, {"differs"}),
        (4, 0.9, 1.0, {"differs"}),
        (2, 0.1, 0.0, {"undecided"}),  # repeats itself only by chance
        (2, 0.1, 1.0, {"undecided"}),
    ],
)
def test_a_part_of_four_hundred_tells_replaced_answers_from_a_models_own(
    choices: int, steady: float, replaced: float, expected: set[str]
) -> None:
    verdicts = Counter(drawn(choices, steady, replaced, seed).verdict for seed in range(5))
    assert max(verdicts, key=lambda verdict: verdicts[verdict]) in expected
    if "differs" not in expected and replaced == 0:
        assert verdicts["differs"] <= 1


def test_the_interval_of_the_share_holds_it() -> None:
    held = [
        comparison.whole.foreign_low <= 0.2 <= comparison.whole.foreign_high
        for comparison in (drawn(4, 0.8, 0.2, seed) for seed in range(20))
    ]
    assert sum(held) >= 16  # of 20, 19 on average


def test_answers_that_go_together_count_for_less() -> None:
    apart, together = drawn(4, 0.8, 0.0, 1), drawn(4, 0.8, 0.0, 1, stimuli=8)
    assert together.whole.agreement == apart.whole.agreement
    assert together.whole.high - together.whole.low > 0.9 * (apart.whole.high - apart.whole.low)


def test_stories_are_alike_by_the_words_that_they_share() -> None:
    assert shared_words("A man walks", "a MAN walks") == 1
    assert shared_words("a b c", "c d e") == pytest.approx(1 / 5)
    assert shared_words("", "") == 1


def one(words: Callable[[int], str]) -> TaskAnswers:
    return TaskAnswers({key: words(number) for number, key in enumerate(KEYS)}, words=False)


def test_a_model_that_always_says_the_same_cannot_be_told_from_its_copy() -> None:
    same = one(lambda number: "A")
    compared = pairs(same, same, None, ALONE)
    assert compared is not None
    assert compare({"task": compared}).verdict == "undecided"


def test_a_task_whose_answers_are_foreign_is_seen_beside_larger_ones_that_agree() -> None:
    good, bad = one(lambda number: str(number % 7)), one(lambda number: str((number + 1) % 7))
    few = dict(list(ALONE.items())[:40])
    large, small = pairs(good, good, good, ALONE), pairs(bad, good, good, few)
    assert large is not None
    assert small is not None
    comparison = compare({"large": large, "small": small})
    assert comparison.tasks["small"].foreign_low > 0.5
    assert comparison.verdict == "differs"


def test_an_agreement_verifies_nothing_while_a_task_is_not_compared() -> None:
    compared = pairs(one(str), one(str), None, ALONE)
    assert compared is not None
    comparison = compare({"task": compared})
    assert judged(comparison, (), {}) == ("agrees", ())
    verdict, (reason,) = judged(comparison, ("narrative_analysis",), {})
    assert verdict == "undecided"
    assert "narrative_analysis" in reason
