import re
from pathlib import Path

import yaml

from fairspace.builders.publishing.artifacts import PACKAGES, ROOT, choose, space_requirements
from fairspace.submissions.version import VERSION

CONSTRAINTS = dict(re.findall(r"^([\w-]+)==([^;\s]+)", (ROOT.parent / "constraints.txt").read_text(), re.MULTILINE))


def published(tmp_path: Path) -> dict[str, bytes]:
    (space,) = choose(["space"], tmp_path / "built", tmp_path / "ares", "fairspace", False)
    assert (space.repo.id, space.repo.kind, space.repo.sdk) == ("fairspace/leaderboard", "space", "gradio")
    files = space.files(tmp_path)
    return {path: found if isinstance(found, bytes) else found.read_bytes() for path, found in files.items()}


def test_the_card_names_the_pinned_gradio_and_lets_users_sign_in(tmp_path: Path) -> None:
    card = yaml.safe_load(published(tmp_path)["README.md"].split(b"---")[1])
    assert card["sdk"] == "gradio"
    assert card["sdk_version"] == CONSTRAINTS["gradio"]
    assert card["hf_oauth"] is True
    assert card["app_file"] == "app.py"
    assert card["python_version"] == "3.11"


def test_the_space_has_every_package_its_data_and_its_requirements(tmp_path: Path) -> None:
    files = published(tmp_path)
    assert b"fairspace.leaderboard_space.serving import main" in files["app.py"]
    assert {path.split("/")[0] for path in files if "/" in path} == {"fairspace"}
    assert {path.split("/")[1] for path in files if path.count("/") > 1} == set(PACKAGES)
    for path in ("assets/style.css", "templates/base.html.jinja", "storage/hub.py", "pages/board.py"):
        assert f"fairspace/leaderboard_space/{path}" in files
    assert not [path for path in files if "__pycache__" in path or path.endswith(".pyc")]
    names = {re.split(r"[<>=\[]", line)[0] for line in files["requirements.txt"].decode().splitlines()}
    assert {"gradio", "orjson", "pyarrow", "spacy"} <= names
    assert files["fairspace/VERSION"].decode() == f"{VERSION}\n"


def test_every_requirement_of_the_space_has_the_one_version_that_it_is_tested_with(tmp_path: Path) -> None:
    lines = published(tmp_path)["requirements.txt"].decode().splitlines()
    assert lines == space_requirements()
    pinned = dict(re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?==([\w.]+)", line).groups() for line in lines)  # type: ignore[union-attr, misc]
    assert pinned["torch"] == CONSTRAINTS["torch"].partition("+")[0], "any build of that version"
    assert {name: pinned[name] for name in ("numpy", "spacy", "scipy", "transformers", "thinc")} == {
        name: CONSTRAINTS[name] for name in ("numpy", "spacy", "scipy", "transformers", "thinc")
    }, "what scores are made with, and what that needs"
    assert "huggingface_hub[oauth]" in {line.split("==")[0] for line in lines}
    assert "pytest" not in pinned
