import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.builders.engine.build import read_manifest
from fairspace.builders.errors import BuildError, absent_packages, install_command
from fairspace.builders.registry import NAMES, dataset
from tests.builders.builds import table
from tests.sample_builds import sample_builds

PAGE = (Path(__file__).parents[2] / "builders" / "README.md").read_text(encoding="utf-8")
WITHOUT_SENTENCE = {("iris_ideal_52", "gap"): {"occupation", "gender", "age", "skin_tone"}}
COUNTED = {
    "fact_or_fair": ("llm_objective", "llm_subjective", "t2i", "truth", "statistics", "published"),
    "genres": ("pairs", "elements", "single", "published"),
}
"""Dataset -> configs whose rows its paper or plan counts."""


@pytest.mark.parametrize("name", NAMES)
def test_every_row_has_an_id_of_its_own_and_every_column_its_sentence_on_the_card(name: str) -> None:
    folder = sample_builds() / name
    for split in read_manifest(folder).splits:
        found = table(folder, split.config, split.split)
        assert len(set(found["id"].to_pylist())) == len(found) == split.rows > 0, split
        explained = {"id", *split.fields} | WITHOUT_SENTENCE.get((name, split.config), set())
        assert explained >= set(found.column_names), split


@pytest.mark.parametrize(("name", "config"), [(name, config) for name, among in COUNTED.items() for config in among])
def test_a_build_with_other_counts_is_refused(name: str, config: str) -> None:
    manifest = read_manifest(sample_builds() / name)
    fewer = tuple(replace(s, rows=s.rows - (s.config == config)) for s in manifest.splits)
    with pytest.raises(BuildError, match=f"BUILD_CHECK at {name}/{config}"):
        dataset(name).check(replace(manifest, splits=fewer))
    none = tuple(s for s in manifest.splits if s.config != config)
    with pytest.raises(BuildError, match=f"BUILD_CHECK at {name}/{config}: 0 rows"):
        dataset(name).check(replace(manifest, splits=none))


@pytest.mark.parametrize("name", NAMES)
def test_every_dataset_is_on_the_page_with_its_sources_and_tools(name: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}`"))
    _, _, configs, sources, tools, _ = row.split("|")
    declared = dataset(name)
    assert tuple(re.findall(r"`(\w+)`", sources)) == declared.sources
    assert set(re.findall(r"\w+", tools)) == set(declared.tools)
    assert re.findall(r"`(\w+)`", configs)


COMMANDS = [
    (
        {"url": "file:///home/my%20code", "dir_info": {"editable": True}},
        "pip install -c '/home/my code/constraints.txt' -e '/home/my code[ares]'",
    ),
    ({"url": "file:///code", "dir_info": {}}, "pip install -c '/code/constraints.txt' '/code[ares]'"),
    (
        {"url": "https://host/fairspace", "vcs_info": {"vcs": "git", "commit_id": "0f1e"}},
        "pip install 'fairspace[ares] @ git+https://host/fairspace@0f1e'",
    ),
    (
        {"url": "file:///fairspace-0.1.0-py3-none-any.whl", "archive_info": {}},
        "pip install 'fairspace[ares] @ file:///fairspace-0.1.0-py3-none-any.whl'",
    ),
    ({}, "pip install 'fairspace[ares]'"),
]


class Installed:
    def __init__(self, origin: object) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return json.dumps(self.origin) if self.origin else None


@pytest.mark.parametrize(("origin", "command"), COMMANDS)
def test_an_extra_is_installed_from_where_fairspace_came_from(
    monkeypatch: pytest.MonkeyPatch, origin: object, command: str
) -> None:
    monkeypatch.setattr("fairspace.builders.errors.distribution", lambda name: Installed(origin))
    assert install_command("ares") == command


def test_only_absent_packages_are_named() -> None:
    assert absent_packages("json", "no_such_package", "nor_this") == "no-such-package, nor-this"
    assert absent_packages("json") == ""
