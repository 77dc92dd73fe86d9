"""The commands build, sources and publish: what they print, refuse, and write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from builders.build import read_manifest
from builders.sources import SOURCES
from submissions import cli

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["fairspace", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capfd.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return command


def test_build_writes_a_dataset_and_says_what_is_next(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "built" / "fact_or_fair"
    code, printed, _ = run("build", "fact_or_fair", "--out", out)
    assert code == 0
    assert "llm_objective: test, 66 rows in 1 files" in printed
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
        (("fact_or_fair", "--generator", "diffusers:x"), "fact_or_fair uses no generator; it takes no models"),
        (("genres", "--editor", "diffusers:x"), "genres uses no editor; it takes --generator, --refiner"),
        (("genres", "--include", "mst_e"), "genres has no source 'mst_e'"),
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
    assert "fairspace sources" in error
    assert printed == ""


def test_sources_lists_each_with_licence_and_place(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    (tmp_path / "utkface").mkdir()
    (tmp_path / "utkface" / "20_0_1_20170112191209346.jpg.chip.jpg").write_bytes(b"")
    code, printed, _ = run("sources", "--source", tmp_path)
    assert code == 0
    for source in SOURCES.values():
        assert source.title in printed
        assert source.address in printed
    assert "utkface" in printed


def test_publish_names_what_it_knows_and_refuses_a_sample(run: Run, tmp_path: Path) -> None:
    code, _, error = run("publish", "everything", "--built", tmp_path)
    assert code == 2
    assert "nothing called 'everything'" in error
    code, _, error = run("publish", "datasets", "--built", tmp_path)
    assert code == 1
    assert "BUILD_INCOMPLETE" in error
    assert run("build", "fact_or_fair", "--sample", "--out", tmp_path / "fact_or_fair")[0] == 0
    code, _, error = run("publish", "fact_or_fair", "--built", tmp_path, "--dry-run")
    assert code == 1
    assert "--allow-sample" in error
