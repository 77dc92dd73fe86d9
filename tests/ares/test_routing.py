import numpy as np
import pytest

from fairspace.ares.routing_ares import cut, vote


@pytest.mark.parametrize(
    ("experts", "label"),
    [
        ([[0.6, 0.4, 0.0], [0.6, 0.3, 0.1], [0.0, 1.0, 0.0]], 0),  # two of three, however sure the third is
        ([[0.9, 0.1, 0.0], [0.0, 0.8, 0.2]], 0),  # means 0.45, 0.45, 0.1: the first
        ([[0.9, 0.0, 0.1], [0.3, 0.65, 0.05], [0.0, 0.6, 0.4], [0.95, 0.05, 0.0]], 0),
        (
            [[1.0, 0.0, 0.0], [0.1, 0.9, 0.0], [0.5, 0.49, 0.01], [0.0, 0.9, 0.1]],
            1,
        ),  # means 0.4 and 0.57
        ([[0.4, 0.3, 0.3], [0.0, 0.51, 0.49], [0.0, 0.49, 0.51]], 1),  # 0.13, 0.433 and 0.433
        ([[0.34, 0.33, 0.33], [0.1, 0.5, 0.4], [0.4, 0.45, 0.15], [0.5, 0.4, 0.1]], 1),
    ],
)
def test_a_tie_goes_to_the_tied_label_with_the_larger_mean(experts: list[list[float]], label: int) -> None:
    assert vote(np.array([experts])).tolist() == [label]


def test_a_value_at_a_cut_belongs_to_the_higher_label() -> None:
    assert cut(np.array([0.49, 0.5, 1.5, 1.49]), [0.5, 1.5]).tolist() == [0, 1, 2, 1]
