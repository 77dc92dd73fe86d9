"""The examples of the metric cards can be run as they stand, but for the namespace, which needs the Hub."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("card", sorted((ROOT / "metrics").glob("*/README.md")), ids=lambda card: card.parent.name)
def test_every_example_of_a_card_runs(card: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import evaluate

    load = evaluate.load
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(
        evaluate, "load", lambda name: load(name.replace("fairspace/", "metrics/"), cache_dir=str(tmp_path))
    )
    examples = re.findall(r"```python\n(.+?)```", card.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        assert f'evaluate.load("fairspace/{card.parent.name}")' in example
        exec(example, {})
