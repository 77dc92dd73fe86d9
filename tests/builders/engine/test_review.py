from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Images
from PIL import ImageDraw
from PIL.Image import Image

from fairspace.builders.engine import review
from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import Dataset, Job, Manifest, Row, Split
from fairspace.builders.engine.making import Wanted, jpeg, make
from fairspace.builders.engine.review import CELLS
from fairspace.builders.engine.tools import Prompt, Tools

AGES = ("young", "middle-aged", "older")
OCCUPATIONS = tuple(f"occupation {n}" for n in range(10))


COLUMNS = {
    "occupation": (OCCUPATIONS, ""),
    "age": (AGES, ""),
    "image": ("image", ""),
    "edited": ("image", ""),
}


def face(number: int, size: tuple[int, int] = (96, 96)) -> Image:
    image = Images.new("RGB", size, (number * 37 % 256, number * 91 % 256, 120))
    ImageDraw.Draw(image).ellipse((20, 20, 76, 76), "beige")
    return image


class Painter:
    name = "painter"

    def generate(self, prompts: Sequence[Prompt]) -> list[Image]:
        return [face(prompt.seed % 251) for prompt in prompts]


def no_card(out: Path, dataset: Dataset, manifest: Manifest) -> None:
    """A made-up dataset has no card."""


def people(units: int) -> Dataset:
    """Nine in ten are young, so a plain draw would show hardly anybody else."""

    def rows(part: Sequence[int], job: Job) -> Iterator[Row]:
        wanted = [Wanted(f"people/{number:04}", "a person") for number in part]
        refuse = lambda images, asked: [  # noqa: E731
            "too blue" if np.asarray(image)[0, 0, 1] < 40 else "" for image in images
        ]
        for number, (one, image) in zip(part, make(job, wanted, refuse, config="people"), strict=True):
            assert image is not None
            picture = {"bytes": jpeg(image), "path": f"{number}.jpg"}
            age = 0 if number % 10 else 1 + number // 10 % 2
            yield {
                "id": one.key,
                "occupation": OCCUPATIONS[number % 7],
                "age": AGES[age] if number % 11 else None,
                "image": picture if number < 140 else None,
                "edited": picture if number % 3 and number < 140 else None,
            }

    def splits(job: Job) -> list[Split]:
        return [
            Split(
                config="people",
                about="A person.",
                columns=COLUMNS,
                units=range(units),
                rows=lambda part: rows(part, job),
                shard=70,
            )
        ]

    return Dataset("people", "People", "iris", "v1", "CC0-1.0", (), splits)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Manifest]:
    out = tmp_path_factory.mktemp("built") / "people"
    return out, build(people(150), out, tools=Tools(generator=Painter()), describe=no_card)


def test_a_build_leaves_a_sheet_per_split_and_one_of_rejected_candidates(built: tuple[Path, Manifest]) -> None:
    out, manifest = built
    assert manifest.rejected["too blue"] > 5
    assert sorted(path.name for path in (out / "review").glob("*.png")) == ["people-test.png", "rejected-people.png"]
    for path in (out / "review").glob("*.png"):
        with Images.open(path) as sheet:
            assert 400 < sheet.width <= 1900
            assert len(set(sheet.convert("RGB").resize((60, 60)).tobytes())) > 20


def test_a_sheet_shows_every_group_evenly(built: tuple[Path, Manifest]) -> None:
    out, manifest = built
    (split,) = manifest.splits
    shown = review.split_cells(out, split)
    assert len(shown) == CELLS
    assert max(cell.lines[0] for cell in shown) < "people/0140"
    assert len({cell.lines[0] for cell in shown}) == CELLS
    ages = [cell.lines[1].split(", ")[1] for cell in shown]
    assert min(ages.count("middle-aged"), ages.count("older")) >= 5
    assert ages.count("age?") >= 7
    occupations = [cell.lines[1].split(", ")[0] for cell in shown]
    assert {name: occupations.count(name) >= 4 for name in OCCUPATIONS[:7]} == dict.fromkeys(OCCUPATIONS[:7], True)
    assert any(cell.images[1] is None for cell in shown)
    assert all(cell.images[0] is not None for cell in shown)


def test_captions_say_what_yes_and_no_are_about() -> None:
    row = {"has_insignia": 1, "consistent": 0, "second_occupation": None, "age": 2}
    answers = ["no", "yes"]
    labels = {"has_insignia": answers, "consistent": answers, "second_occupation": ["x"], "age": AGES}
    assert review.said(row, labels) == ["insignia", "no consistent", "second occupation?", "older"]
