"""The examples of the metric cards can be run as they stand, but for the namespace, which needs the Hub."""

import re
from pathlib import Path

import evaluate
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("card", sorted((ROOT / "metrics").glob("*/README.md")), ids=lambda card: card.parent.name)
def test_every_example_of_a_card_runs(card: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    name = card.parent.name
    examples = re.findall(r"```python\n(.+?)```", card.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        assert f'evaluate.load("fairspace/{name}")' in example
        exec(example.replace('"fairspace/', '"metrics/'), {"evaluate": evaluate})
