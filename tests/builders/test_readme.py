import re
from pathlib import Path

import pytest

from fairspace.builders.registry import NAMES, dataset

PAGE = (Path(__file__).parents[2] / "builders" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_dataset_is_on_the_page_with_its_sources_and_tools(name: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}`"))
    _, _, configs, sources, tools, _ = row.split("|")
    declared = dataset(name)
    assert tuple(re.findall(r"`(\w+)`", sources)) == declared.sources
    assert set(re.findall(r"\w+", tools)) == set(declared.tools)
    assert re.findall(r"`(\w+)`", configs)
