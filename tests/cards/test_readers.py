import re

import pytest

from tests.papers import NAMES
from tests.readings import BLIND, ROOT, of_benchmark, section, with_section

CARDS = {path.parent.name: path.read_text(encoding="utf-8") for path in (ROOT / "metrics").glob("*/README.md")}


@pytest.mark.parametrize("name", NAMES)
def test_one_card_of_every_benchmark_shows_its_readers(name: str) -> None:
    [card] = [text for text in CARDS.values() if f"<!-- readers of {name} -->" in text]
    assert with_section(card) == card, "write it anew: python -m tests.readings --write"


def test_a_card_without_the_place_stays_as_it_is() -> None:
    assert with_section("# a card\n") == "# a card\n"


@pytest.mark.parametrize("name", NAMES)
def test_every_task_with_blind_answers_has_a_line(name: str) -> None:
    lines = re.findall(r"^\| `(\w+)` \|", section(name), re.MULTILINE)
    assert lines == [errors.task.partition("/")[2] for errors in of_benchmark(name)]
    assert bool(lines) == (BLIND / f"{name}.jsonl").is_file()
