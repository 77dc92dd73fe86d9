import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from fairspace.builders.engine.build import read_manifest
from fairspace.builders.engine.dataset import BuildManifest, Dataset
from fairspace.builders.engine.output import alone
from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.repository import Repo
from fairspace.builders.sources import SOURCES

Run = Callable[..., tuple[int, str, str]]


def test_build_writes_a_dataset_and_says_what_is_next(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "built" / "fact_or_fair"
    code, printed, _ = run("build", "fact_or_fair", "--out", out)
    assert code == 0
    assert "llm_objective: test, 198 rows in 1 files" in printed
    assert f"fairspace publish fact_or_fair --built {tmp_path / 'built'}" in printed
    assert read_manifest(out).find("llm_subjective", "test").rows == 45_600  # type: ignore[union-attr]
    assert (out / "README.md").is_file()
    assert run("build", "fact_or_fair", "--out", out)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("genre",), "did you mean 'genres'?"),
        (("genres", "--source", "nowhere"), "There is no folder nowhere"),
        (("genres", "--source", ".", "--sample"), "--sample draws its own sources"),
        (("fact_or_fair", "--tool", "generator=diffusers:x"), "fact_or_fair uses no generator; it takes no models"),
        (("genres", "--tool", "generater=diffusers:x"), "did you mean 'generator'?"),
        (("genres", "--tool", "editor=diffusers:x"), "genres uses no editor; it takes generator, refiner"),
        (("genres", "--include", "mst_e"), "genres cannot include 'mst_e'"),
        (("fact_or_fair", "--reviewed", "x.jsonl"), "fact_or_fair makes no images"),
        (("all", "--reviewed", "x.jsonl"), "--reviewed is about one dataset"),
    ],
)
def test_wrong_use_is_told_before_anything_is_written(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    code, _, error = run("build", *arguments, "--out", tmp_path / "out")
    assert code == 2
    assert said in error
    assert not (tmp_path / "out").exists()


def test_a_build_without_its_source_says_where_to_get_it(run: Run, tmp_path: Path) -> None:
    code, printed, error = run("build", "iris_classifier_25", "--out", tmp_path / "out")
    assert code == 1
    assert "SOURCE_MISSING" in error
    assert "fairspace build all --list-sources" in error
    assert printed == ""


def test_an_out_folder_among_the_sources_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "utkface").mkdir()
    code, _, error = run("build", "stereotypical_bias", "--source", tmp_path, "--out", tmp_path / "utkface" / "out")
    assert code == 2
    assert "lies in the sources' folder" in error
    assert not (tmp_path / "utkface" / "out").exists()


def test_a_full_disk_is_told_without_a_traceback(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "Error writing bytes to file")

    monkeypatch.setattr("fairspace.builders.engine.build.build", full)
    code, _, error = run("build", "fact_or_fair", "--out", tmp_path / "out")
    assert code == 2
    assert "No space is left" in error
    assert "goes on where it was" in error


@pytest.mark.slow
def test_two_builds_do_not_write_into_one_folder(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "fact_or_fair"
    with alone(out):
        code, _, error = run("build", "fact_or_fair", "--sample", "--out", out)
    assert code == 1
    assert "another build is writing here" in error
    assert run("build", "fact_or_fair", "--sample", "--out", out)[0] == 0


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
    code, printed, _ = run("build", "fact_or_fair", "--sample", "--out", tmp_path / "mine")
    assert code == 0
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
    code, printed, _ = run("build", "stereotypical_bias", "--sample", "--reviewed", refused, "--out", out)
    assert code == 0
    assert "1 of the 2 images" in printed


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
    code, printed, _ = run("build", "all", "--list-sources", "--source", tmp_path)
    assert code == 0
    printed = " ".join(printed.split())
    for source in SOURCES.values():
        assert source.title in printed
        assert source.address in printed
    assert "utkface" in printed


def test_publish_names_what_it_knows_and_refuses_a_sample(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, error = run("publish", "everything", "--built", tmp_path)
    assert code == 2
    assert "nothing called 'everything'" in error
    code, _, error = run("publish", "datasets", "--built", tmp_path)
    assert code == 1
    assert "BUILD_INCOMPLETE" in error
    assert run("build", "fact_or_fair", "--sample", "--out", tmp_path / "fact_or_fair")[0] == 0
    code, _, error = run("publish", "fact_or_fair", "--built", tmp_path, "--tag", "inaugural", "--dry-run")
    assert code == 1
    assert "--allow-sample" in error
    said = "datasets/fairspace/fact_or_fair: would be created"
    monkeypatch.setattr("fairspace.submissions.commands.build._publish", lambda *_: said)
    code, out, _ = run("publish", "fact_or_fair", "--built", tmp_path, "--dry-run")
    assert code == 0
    assert "a sample build: publishing it takes --allow-sample" in out

    def unreachable(*_: object) -> str:
        raise BuildError("HUB_UNAVAILABLE", "fairspace/fact_or_fair", "no answer", "the Hub", "try again")

    monkeypatch.setattr("fairspace.submissions.commands.build._publish", unreachable)
    code, out, error = run("publish", "fact_or_fair", "--built", tmp_path, "--dry-run")
    assert (code, "HUB_UNAVAILABLE" in error) == (1, True)
    assert out.startswith("Would publish datasets/fairspace/fact_or_fair\n  a sample build: publishing it takes")


def test_a_plan_of_a_cohort_needs_its_dataset(run: Run, tmp_path: Path) -> None:
    code, _, err = run("build", "genres", "--out", tmp_path / "built", "--cohort", tmp_path)
    assert code == 2
    assert "--cohort is for iris_steer_60" in err
    assert not (tmp_path / "built").exists()
