import errno
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from fairspace.builders.engine.build import read_manifest
from fairspace.builders.engine.dataset import BuildManifest, Dataset
from fairspace.builders.engine.output import alone
from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.repository import Repo
from fairspace.builders.sources import SOURCES
from tests.hub.running import OWNER, Hub, online
from tests.submissions.conftest import Run


def test_build_writes_a_dataset_and_says_what_is_next(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "built" / "fact_or_fair"
    printed = run.fine("build", "fact_or_fair", "--out", out)
    assert "llm_objective: test, 198 rows in 1 files" in printed
    assert f"fairspace publish fact_or_fair --built {tmp_path / 'built'}" in printed
    assert read_manifest(out).find("llm_subjective", "test").rows == 45_600  # type: ignore[union-attr]
    assert (out / "README.md").is_file()
    run.fine("build", "fact_or_fair", "--out", out)


def test_a_build_without_its_source_says_where_to_get_it(run: Run, tmp_path: Path) -> None:
    error = run.refused(1, "build", "iris_classifier_25", "--out", tmp_path / "out")
    assert "SOURCE_MISSING" in error
    assert "fairspace build all --list-sources" in error


def test_an_out_folder_among_the_sources_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "utkface").mkdir()
    out = tmp_path / "utkface" / "out"
    error = run.refused(2, "build", "stereotypical_bias", "--source", tmp_path, "--out", out)
    assert "lies in the sources' folder" in error
    assert not out.exists()


def test_a_full_disk_is_told_without_a_traceback(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "Error writing bytes to file")

    monkeypatch.setattr("fairspace.builders.engine.build.build", full)
    error = run.refused(2, "build", "fact_or_fair", "--out", tmp_path / "out")
    assert "No space is left" in error
    assert "goes on where it was" in error


@pytest.mark.slow
def test_two_builds_do_not_write_into_one_folder(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "fact_or_fair"
    with alone(out):
        error = run.refused(1, "build", "fact_or_fair", "--sample", "--out", out)
    assert "another build is writing here" in error
    run.fine("build", "fact_or_fair", "--sample", "--out", out)


def test_all_builds_what_can_be_built_and_names_the_rest(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairspace.submissions.commands.build.NAMES", ("iris_classifier_25", "fact_or_fair"))
    code, printed, error = run("build", "all", "--out", tmp_path)
    assert code == 1
    assert "SOURCE_MISSING at iris_classifier_25" in error
    assert "llm_objective: test, 198 rows" in printed
    assert read_manifest(tmp_path / "fact_or_fair").dataset == "fact_or_fair"


def test_a_folder_of_another_name_is_said_to_need_the_datasets(run: Run, tmp_path: Path) -> None:
    printed = run.fine("build", "fact_or_fair", "--sample", "--out", tmp_path / "mine")
    assert "to publish it, name the folder fact_or_fair" in printed


def test_reviewed_images_reach_the_build_and_are_counted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How they are made anew is in `tests/builders/engine/test_reviews.py`."""
    refused = tmp_path / "refused.jsonl"
    refused.write_text('{"id": "a/1", "seed": 7}\n{"id": "a/1", "seed": -1}\n', encoding="utf-8")

    def made(dataset: Dataset, target: Path, *, options: dict[str, str], **_: object) -> BuildManifest:
        rejected = {"refused by a person": 1}
        return BuildManifest(dataset.name, "v1", 0, True, {}, options, {}, {}, (), rejected, ())

    monkeypatch.setattr("fairspace.builders.engine.build.build", made)
    out = tmp_path / "stereotypical_bias"
    assert "1 of the 2 images" in run.fine(
        "build", "stereotypical_bias", "--sample", "--reviewed", refused, "--out", out
    )


def test_publish_stops_when_the_hub_gives_no_answer(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def unavailable(repo: Repo, *_: object, **__: object) -> None:
        tried.append(repo.id)
        raise BuildError("HUB_UNAVAILABLE", repo.id, "no answer in 8 tries", "an answer", "run it again later")

    monkeypatch.setattr("fairspace.builders.publishing.repository.publish_repo", unavailable)
    code, _, error = run("publish", "metrics", "--built", tmp_path, "--dry-run")
    assert (code, len(tried), "HUB_UNAVAILABLE" in error) == (1, 1, True)


def test_sources_lists_each_with_licence_and_place(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    (tmp_path / "utkface").mkdir()
    (tmp_path / "utkface" / "20_0_1_20170112191209346.jpg.chip.jpg").write_bytes(b"")
    assert max(map(len, run("build", "all", "--list-sources")[1].splitlines())) <= 80
    printed = " ".join(run.fine("build", "all", "--list-sources", "--source", tmp_path).split())
    for source in SOURCES.values():
        assert source.title in printed
        assert source.address in printed
    assert "utkface" in printed


def test_publish_refuses_a_sample(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run.fine("build", "fact_or_fair", "--sample", "--out", tmp_path / "fact_or_fair")
    error = run.refused(1, "publish", "fact_or_fair", "--built", tmp_path, "--tag", "inaugural", "--dry-run")
    assert "--allow-sample" in error
    said = "datasets/fairspace/fact_or_fair: would be created"
    monkeypatch.setattr("fairspace.submissions.commands.build._publish", lambda *_: said)
    out = run.fine("publish", "fact_or_fair", "--built", tmp_path, "--dry-run")
    assert "a sample build: publishing it takes --allow-sample" in out

    def unreachable(*_: object) -> str:
        raise BuildError("HUB_UNAVAILABLE", "fairspace/fact_or_fair", "no answer", "the Hub", "try again")

    monkeypatch.setattr("fairspace.submissions.commands.build._publish", unreachable)
    code, out, error = run("publish", "fact_or_fair", "--built", tmp_path, "--dry-run")
    assert (code, "HUB_UNAVAILABLE" in error) == (1, True)
    assert out.startswith("Would publish datasets/fairspace/fact_or_fair\n  a sample build: publishing it takes")


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
    hub: Hub, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = HfApi(endpoint=hub.address, token=OWNER)
    out = run.fine("publish", "space", "--variable", "FAIRSPACE_ADMINS=ann", "--dry-run")
    assert "Would create the private dataset" in out
    assert out.startswith(f"Would publish spaces/{SPACE}\n")
    assert not [*api.list_datasets(author="fairspace"), *api.list_spaces(author="fairspace")]

    assert "FAIRSPACE_STORE_TOKEN" in run.fine("publish", "space", "--variable", "FAIRSPACE_ADMINS=ann")
    assert api.dataset_info(STORE).private
    variables, secrets = settings(hub)
    assert variables == {"FAIRSPACE_STORE": f"hf://datasets/{STORE}", "FAIRSPACE_ADMINS": "ann"}
    assert secrets.keys() == {"FAIRSPACE_SECRET"}
    files = api.list_repo_files(SPACE, repo_type="space")
    assert {"app.py", "requirements.txt", "fairspace/constraints.txt"} <= set(files)

    monkeypatch.setenv("FAIRSPACE_STORE_TOKEN", "hf_store")
    out = run.fine("publish", "space", "--store", "fairspace/other")
    assert secrets["FAIRSPACE_SECRET"] not in out
    again = settings(hub)
    assert again[0] == variables | {"FAIRSPACE_STORE": "hf://datasets/fairspace/other"}
    assert again[1] == secrets | {"HF_TOKEN": "hf_store"}, "a drawn key stays"
    assert f"spaces/{SPACE}: unchanged" in out
