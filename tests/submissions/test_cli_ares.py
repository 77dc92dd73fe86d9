"""The commands of ARES: what they print, refuse, and write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ares.tiny import tiny_model
from builders.drawing import draw_face

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("ares") / "tiny")


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    place = folder / "generation_neutral" / "neutral" / "nurse"
    place.mkdir(parents=True)
    for sample in range(4):
        draw_face(("female", "male")[sample % 2], "young", "dark", sample).save(place / f"{sample}.png")
    (place / "4.png").write_bytes(b"no image")
    return folder


def test_annotate_gives_every_image_one_row_and_says_how(run: Run, model: Path, images: Path, tmp_path: Path) -> None:
    code, printed, _ = run("ares", "annotate", images, "--model", model, "--out", tmp_path / "out")
    assert code == 0
    assert "5 images, 5 rows" in printed
    assert "perceived presentation" in printed
    rows = pq.read_table(next((tmp_path / "out").glob("annotations-*.parquet"))).to_pylist()
    assert [row["sample"] for row in rows] == list(range(5))
    assert [row["status"] for row in rows] == ["ok"] * 4 + ["unreadable"]
    assert {row["id"] for row in rows} == {"neutral/nurse"}


@pytest.mark.parametrize(
    ("option", "value", "code", "said"),
    [
        ("--column", "x", 2, "write NAME=COLUMN"),
        ("--engine", "spark", 1, "CONFIG_INVALID"),
        ("--precision", "int8", 1, "CONFIG_INVALID"),
        ("--model", "nowhere/at/all", 1, "TOOL_MISSING"),
    ],
)
def test_wrong_options_are_told_in_a_sentence(
    run: Run, model: Path, images: Path, tmp_path: Path, option: str, value: str, code: int, said: str
) -> None:
    named = {"--model": model, "--out": tmp_path / "out"} | {option: value}
    arguments = [part for pair in named.items() for part in pair]
    found, _, error = run("ares", "annotate", images, *arguments)
    assert (found, said in error) == (code, True), error
    assert "Traceback" not in error


def test_evaluate_prints_the_configurations_and_writes_tables(run: Run, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "evaluation"
    code, printed, _ = run("ares", "evaluate", model, "--data", "drawn:60", "--out", out, "--timed", 0)
    assert code == 0
    for row in ("E1", "E4", "ARES"):
        assert f"\n{row}" in printed
    assert "no vision-language model was named" in printed
    assert (out / "report.md").is_file()
    assert (out / "tables" / "ablations.csv").is_file()


def test_train_refuses_a_configuration_that_is_not_there(run: Run, tmp_path: Path) -> None:
    code, _, error = run("ares", "train", "--config", "huge", "--data", "drawn:10", "--out", tmp_path / "out")
    assert code in (1, 2)
    assert "huge" in error
    assert "Traceback" not in error
