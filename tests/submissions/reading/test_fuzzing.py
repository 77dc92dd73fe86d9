import random
from pathlib import Path

import pytest

from tests.submissions.reading.fuzzing import FAMILIES, measure

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("family", FAMILIES)
def test_no_recipe_breaks_the_check(family: str, tmp_path: Path) -> None:
    draw = random.Random(family)
    for _ in range(2):
        recipe = [draw.randrange(1 << 16) for _ in range(8)]
        recipe[1:3] = 3, 2  # few shards of a hundred lines or so
        assert "GIVEN UP" not in measure(family, tuple(recipe), tmp_path).codes
