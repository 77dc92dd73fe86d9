import math

import numpy as np
import pytest

from fairspace.submissions.running.quality.models import FACE, PHOTO, Vector, antonym_score, cosine, mean_to_others


def vector(*values: float) -> Vector:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((1, 0), (2, 0), 1.0),
        ((1, 0), (0, 3), 0.0),
        ((1, 0), (-1, 0), -1.0),
        ((1, 0), (3, 4), 0.6),
        ((3, 4), (4, 3), 0.96),
    ],
)
def test_the_cosine_is_that_of_the_angle(one: tuple[float], other: tuple[float], expected: float) -> None:
    assert cosine(vector(*one), vector(*other)) == expected
    assert cosine(vector(*other), vector(*one)) == expected


def test_clip_iqa_is_the_softmax_of_a_hundred_cosines() -> None:
    """Cosines 0.6 and 0.59 at scale 100: 1 / (1 + exp(-1)) = 0.731059 (to float32's digits of 0.59)."""
    good, bad = vector(1, 0), vector(0.59, math.sqrt(1 - 0.59**2))
    image = vector(0.6, 0.8)
    gap = 0.6 - (0.6 * 0.59 + 0.8 * math.sqrt(1 - 0.59**2))
    assert antonym_score(image, [(good, bad)], 100.0) == pytest.approx(1 / (1 + math.exp(-100 * gap)), abs=2e-6)
    straight = vector(1, 0)
    assert antonym_score(straight, [(vector(0.6, 0.8), vector(0.59, math.sqrt(1 - 0.59**2)))], 100.0) == pytest.approx(
        0.731059, abs=2e-5
    )


def test_clip_iqa_is_a_half_in_the_middle_and_reaches_both_ends() -> None:
    good, bad = vector(1, 0), vector(-1, 0)
    assert antonym_score(vector(0, 1), [(good, bad)], 100.0) == 0.5
    assert antonym_score(good, [(good, bad)], 100.0) == 1.0
    assert antonym_score(bad, [(good, bad)], 100.0) == 0.0
    assert antonym_score(good, [(good, bad), (bad, good)], 100.0) == 0.5


def test_the_words_are_those_of_the_paper_for_photos() -> None:
    assert PHOTO == (("Good photo.", "Bad photo."),)
    assert all("face" in word for pair in FACE for word in pair)


def test_reference_similarity_is_the_mean_cosine_to_the_others() -> None:
    a, b, c = vector(1, 0), vector(0, 2), vector(3, 4)
    assert mean_to_others([a, b, c]) == [pytest.approx(0.3), pytest.approx(0.4), pytest.approx(0.7)]
    assert mean_to_others([a, a]) == [1.0, 1.0]
    assert mean_to_others([a, -a]) == [-1.0, -1.0]


def test_an_image_without_others_has_no_reference_similarity() -> None:
    assert mean_to_others([vector(1, 0)]) == [None]
    assert mean_to_others([]) == []


def test_the_sum_gives_what_the_pairs_give() -> None:
    many = list(np.random.default_rng(2).normal(size=(9, 32)).astype(np.float32))
    for place, mean in enumerate(mean_to_others(many)):
        pairs = [cosine(many[place], other) for number, other in enumerate(many) if number != place]
        assert mean == pytest.approx(sum(pairs) / 8, abs=2e-6)
