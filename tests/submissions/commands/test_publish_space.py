import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from tests.hub.running import OWNER, Hub, online

SPACE, STORE = "fairspace/leaderboard", "fairspace/leaderboard-store"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("HF_TOKEN", OWNER)
    monkeypatch.setattr("fairspace.builders.publishing.artifacts.PACKAGES", ("leaderboard_space",))  # ten times smaller
    with Hub.start(tmp_path / "hub") as running, online(ENDPOINT=running.address):
        yield running


def settings(hub: Hub) -> tuple[dict[str, str], dict[str, str]]:
    """Variables and secrets on the Hub, which shows no secret's value."""
    [file] = (hub.root / "repositories" / "space").glob("*/leaderboard.json")
    kept = json.loads(file.read_text(encoding="utf-8"))
    return kept["variables"], kept["secrets"]


@pytest.mark.filterwarnings("ignore:Use 'content=<...>' to upload:DeprecationWarning")  # by the Hub's client
def test_a_space_is_published_with_all_that_it_needs_and_keeps_what_it_has(
    hub: Hub, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    api = HfApi(endpoint=hub.address, token=OWNER)
    code, out, _ = run("publish", "space", "--variable", "FAIRSPACE_ADMINS=ann", "--dry-run")
    assert (code, "Would create the private dataset" in out) == (0, True)
    assert out.startswith(f"Would publish spaces/{SPACE}\n")
    assert not [*api.list_datasets(author="fairspace"), *api.list_spaces(author="fairspace")]

    code, out, _ = run("publish", "space", "--variable", "FAIRSPACE_ADMINS=ann")
    assert (code, "FAIRSPACE_STORE_TOKEN" in out) == (0, True)
    assert api.dataset_info(STORE).private
    variables, secrets = settings(hub)
    assert variables == {"FAIRSPACE_STORE": f"hf://datasets/{STORE}", "FAIRSPACE_ADMINS": "ann"}
    assert secrets.keys() == {"FAIRSPACE_SECRET"}
    files = api.list_repo_files(SPACE, repo_type="space")
    assert {"app.py", "requirements.txt", "fairspace/constraints.txt"} <= set(files)

    monkeypatch.setenv("FAIRSPACE_STORE_TOKEN", "hf_store")
    code, out, _ = run("publish", "space", "--store", "fairspace/other")
    assert (code, secrets["FAIRSPACE_SECRET"] in out) == (0, False)
    again = settings(hub)
    assert again[0] == variables | {"FAIRSPACE_STORE": "hf://datasets/fairspace/other"}
    assert again[1] == secrets | {"HF_TOKEN": "hf_store"}, "a drawn key stays"
    assert f"spaces/{SPACE}: unchanged" in out


@pytest.mark.parametrize("variable", ["ann", "HF_TOKEN=hf_x", "FAIRSPACE_SECRET=x", "FAIRSPACE_WORKERS=many"])
def test_what_is_no_variable_or_a_secret_is_refused(run: Callable[..., tuple[int, str, str]], variable: str) -> None:
    assert run("publish", "space", "--variable", variable)[0] == 2
