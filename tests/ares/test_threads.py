from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from fairspace.ares.evaluating.evaluate import open_model
from fairspace.ares.threads_ares import split


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_parts_are_whole_passes_one_for_each_thread(two_threads: None) -> None:
    def sizes(rows: int, tile: int) -> list[int]:
        return [len(part) for part in split(torch.zeros(rows, 1), tile)]

    assert sizes(64, 8) == [32, 32]
    assert sizes(9, 4) == [8, 1]
    assert sizes(5, 1) == [3, 2]
    assert sizes(1, 1) == [1]
    assert sizes(0, 4) == [0]
    assert [len(part) for part in split(torch.zeros(64, 1, device="meta"), 8)] == [64]


def test_images_have_the_same_numbers_with_one_thread_and_with_two(tiny_ares: Path, two_threads: None) -> None:
    model = open_model(tiny_ares)
    torch.manual_seed(0)
    pixels = torch.rand(19, 3, model.config.image_size, model.config.image_size)
    seen = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        seen.append(model.observe(pixels, everything=True))
    for name, part in seen[0].items():
        assert np.array_equal(part.numbers, seen[1][name].numbers, equal_nan=True)
