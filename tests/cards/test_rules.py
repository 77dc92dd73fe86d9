from pathlib import Path
from typing import Any

import pytest
import yaml

from fairspace.builders.errors import BuildError
from fairspace.builders.registry import NAMES
from fairspace.cards.dataset_card import check_card, front_matter
from fairspace.cards.metric_card import metric_card

ROOT = Path(__file__).parents[2]
GOOD: dict[str, Any] = {
    "pretty_name": "Title",
    "license": "cc-by-4.0",
    "language": ["en"],
    "size_categories": ["n<1K"],
    "task_categories": ["question-answering"],
    "source_datasets": ["original"],
    "annotations_creators": ["found"],
    "tags": ["fairness"],
    "configs": [{"config_name": "plain", "data_files": [{"split": "test", "path": "plain/test-*.parquet"}]}],
}


def card(**changes: Any) -> str:
    data = {key: value for key, value in (GOOD | changes).items() if value is not None}
    return f"---\n{yaml.safe_dump(data)}---\n\n# Title\n"


def faults(text: str, kind: str) -> str:
    try:
        check_card(text, kind, "README.md")
    except BuildError as error:
        return str(error)
    return ""


def test_a_good_card_passes() -> None:
    assert faults(card(), "dataset") == ""
    assert "CARD_INVALID" in faults(card(), "space")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("license", None),
        ("license", "do what you like"),
        ("license", "other"),
        ("pretty_name", ""),
        ("language", "english"),
        ("size_categories", ["small"]),
        ("size_categories", []),
        ("task_categories", []),
        ("tags", [1]),
        ("source_datasets", []),
        ("annotations_creators", "found"),
        ("configs", []),
        ("configs", [{"config_name": "a b", "data_files": [{"split": "test", "path": "x"}]}]),
        ("configs", [{"config_name": "a", "data_files": []}]),
        ("configs", GOOD["configs"] * 2),
        ("configs", [{**GOOD["configs"][0], "default": True}, {**GOOD["configs"][0], "default": True}]),
    ],
)
def test_a_broken_key_is_named(key: str, value: Any) -> None:
    with pytest.raises(BuildError, match=r"CARD_INVALID at README\.md") as raised:
        check_card(card(**{key: value}), "dataset", "README.md")
    assert key.rstrip("s") in raised.value.what + raised.value.expected


@pytest.mark.parametrize("text", ["# no front matter\n", "---\n- a list\n---\n", "---\na: [\n---\n"])
def test_a_card_without_a_readable_block_is_refused(text: str) -> None:
    with pytest.raises(BuildError, match="CARD_INVALID"):
        front_matter(text, "README.md")


@pytest.mark.parametrize(
    "folder", [*sorted(p.parent for p in ROOT.glob("metrics/*/README.md")), ROOT / "leaderboard_space"]
)
def test_the_cards_of_metrics_and_space_pass(folder: Path) -> None:
    metric = folder.parent.name == "metrics"
    text = metric_card(folder) if metric else (folder / "README.md").read_text(encoding="utf-8")
    front = front_matter(text, folder.name)
    assert front["sdk"] == "gradio"
    assert {name.partition("/")[2] for name in front.get("datasets", ())} <= {*NAMES}
    if metric:
        about = front.get("short_description") or front["description"]
        assert len(about) > 30
        assert "#" not in about
    else:
        assert front["datasets"] == sorted(f"fairspace/{name}" for name in NAMES)
        assert front["models"] == ["fairspace/ares"]
    assert faults(text, "space") == ""
    assert "sdk" in faults(text.replace("sdk: gradio", "sdk: none"), "space")
