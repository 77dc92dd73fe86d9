import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Images
from PIL.Image import Image

from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import BuildJob, BuildManifest
from fairspace.builders.engine.making import seed
from fairspace.builders.engine.tools import Tools
from fairspace.builders.errors import BuildError
from fairspace.builders.genres import dataset as plan_dataset
from fairspace.builders.genres import plan
from fairspace.builders.genres.dataset import SIMILARITY, clean, descriptions, fault, lint, telling
from fairspace.builders.genres.plan import CLARITY, REALISTIC
from tests.builders.builds import Built, Killed, SeedPainter, files, no_card, red_of, rows, table
from tests.sample_builds import sample_builds

ELEMENT = plan.load_elements()[0]
GOOD = tuple(f"reading page {n}, in plain knitwear, calm mood" for n in range(5))


@dataclass
class Eye:
    """Likes dark red: about three in four images are above the threshold."""

    name: str = "eye"
    low: bool = False

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        found = [0.45 - image.getpixel((0, 0))[0] / 750 for image in images]  # type: ignore[index]
        return [0.25 if self.low else similarity for similarity in found]

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        raise AssertionError("these builds compare no two images")


@dataclass
class Writer:
    """Answers by number of the call for an element, then repeats the last answer."""

    answers: Sequence[Sequence[str]] = (GOOD,)
    name: str = "writer"
    asked: list[tuple[str, str]] = field(default_factory=list)

    def describe(self, element: str, prompt: str) -> list[str]:
        calls = sum(known == element for known, _ in self.asked)
        self.asked.append((element, prompt))
        return list(self.answers[min(calls, len(self.answers) - 1)])


def make(out: Path, tools: Tools | None = None, **arguments: Any) -> BuildManifest:
    return build(plan_dataset.DATASET, out, tools=tools or Tools(), describe=no_card, **arguments)


def tools(**changed: Any) -> Tools:
    return Tools(**{"generator": SeedPainter(), "matcher": Eye(), "describer": Writer(), **changed})


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Built:
    out = tmp_path_factory.mktemp("texts") / "genres"
    return out, make(out)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Built:
    out = tmp_path_factory.mktemp("sample") / "genres"
    return out, make(out, tools(), sample=True, seed=5)


def test_288_elements_give_1440_pairs_72_per_relational_model_and_half_conflict(texts: Built) -> None:
    _, manifest = texts
    assert {split.config: split.rows for split in manifest.splits} == {
        "pairs": 1440,
        "elements": 288,
        "single": 2880,
        "published": 378,
    }
    elements, pairs = manifest.find("elements", "test"), manifest.find("pairs", "test")
    assert elements is not None
    assert pairs is not None
    assert elements.counts["relation"] == {"cs": 72, "em": 72, "mp": 72, "ar": 72}
    assert elements.counts["plot"] == {"conflict": 144, "cooperation": 144}
    assert set(elements.joint.values()) == {36}
    assert pairs.joint == {group: 5 * count for group, count in elements.joint.items()}
    assert set(pairs.counts["age"].values()) == {480}


def test_without_models_the_texts_stand_and_a_note_says_what_is_missing(texts: Built) -> None:
    out, manifest = texts
    assert manifest.notes == ("image is null: no describer and no generator and no matcher was named.",)
    built = table(out, "pairs")
    assert built["text_prompt"].to_pylist() == plan.pairs("v1")["text_prompt"].to_pylist()
    for column in ("image", "image_description", "visual_prompt", "seed", "clip_similarity", "generator", "origin"):
        assert built[column].null_count == 1440


def test_the_pairs_are_those_that_answers_are_scored_by(texts: Built) -> None:
    built, items = table(texts[0], "pairs"), plan.pairs("v1")
    for column in items.column_names:
        other = {"image": "image_number"}.get(column, column)
        assert built[other].to_pylist() == items[column].to_pylist(), column


def test_the_elements_are_those_of_the_plan(texts: Built) -> None:
    built = [(row["id"], row["scenario_text"]) for row in rows(texts[0], "elements")]
    assert built == [(element.id, element.text) for element in plan.load_elements()]


def test_a_sample_has_images_of_one_element_per_relational_model_and_plot(sample: Built) -> None:
    out, manifest = sample
    built = rows(out, "pairs")
    assert len(built) == 1440
    pictured = [row for row in built if row["image"] is not None]
    cells = [(row["relation"], row["plot"]) for row in pictured]
    assert len(cells) == 40
    assert {cells.count(cell) for cell in cells} == {5}
    assert len(set(cells)) == 8
    assert manifest.notes == ("A sample: images of 8 of the 288 elements; of the others, texts alone.",)


def test_an_image_says_how_it_was_made_and_passed(sample: Built) -> None:
    for row in rows(sample[0], "pairs"):
        if row["image"] is None:
            assert row["visual_prompt"] is None
            continue
        assert (row["generator"], row["origin"]) == ("painter", "synthetic")
        assert row["clip_similarity"] > SIMILARITY
        assert row["seed"] in {seed(5, row["id"], attempt) for attempt in range(50)}
        assert row["clip_similarity"] == pytest.approx(0.45 - red_of(row["seed"]) / 750, abs=6e-5)
        with Images.open(BytesIO(row["image"]["bytes"])) as image:
            assert abs(image.getpixel((4, 4))[0] - red_of(row["seed"])) < 4  # type: ignore[index]
        assert row["image_description"] == GOOD[row["image_number"]]


def test_the_visual_prompt_is_put_together_as_in_table_10(sample: Built) -> None:
    drawn = set()
    ages = {"young": "at a young age", "middle": "in middle age", "old": "in old age"}
    for row in rows(sample[0], "pairs"):
        if row["visual_prompt"]:
            head = f"a photo of a male and a female, {ages[row['age']]}, {row['image_description']}, "
            assert row["visual_prompt"].startswith(head)
            realistic, clarity = row["visual_prompt"].removeprefix(head).split(", ")
            assert realistic in REALISTIC
            assert clarity in CLARITY
            drawn.add((realistic, clarity))
    assert len(drawn) > 20


def test_rejected_images_are_logged_with_their_similarity(sample: Built) -> None:
    out, manifest = sample
    lines = [json.loads(line) for line in (out / "review/rejected.jsonl").read_text().splitlines()]
    assert manifest.rejected == {"unlike its prompt": len(lines)}
    assert len(lines) > 3
    assert all(line["similarity"] <= SIMILARITY for line in lines)


def test_no_description_in_a_build_tells_gender_or_role() -> None:
    for row in rows(sample_builds() / "genres", "elements"):
        for text in json.loads(row["image_descriptions"] or "[]"):
            assert not telling(text, row["relationship_description"])


def test_a_build_that_was_killed_goes_on_and_asks_no_description_twice(sample: Built, tmp_path: Path) -> None:
    writer, painter, rest = Writer(), SeedPainter(lives=9), SeedPainter()
    dying, living = (tools(generator=each, describer=writer) for each in (painter, rest))
    with pytest.raises(Killed):
        make(tmp_path / "resumed", dying, sample=True, seed=5)
    make(tmp_path / "resumed", living, sample=True, seed=5)
    assert files(tmp_path / "resumed") == files(sample[0])
    assert len(writer.asked) == 8
    assert (
        len(painter.asked) + len(rest.asked)
        <= 40 + len(sample[0].joinpath("review/rejected.jsonl").read_text().splitlines()) + 8
    )


def test_an_image_at_the_threshold_is_not_kept_and_a_build_without_images_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("fairspace.builders.genres.dataset.ATTEMPTS", 3)
    with pytest.raises(BuildError, match=r"BUILD_CHECK at genres/pairs: 0 images.*that pass 0.25"):
        make(tmp_path / "genres", tools(matcher=Eye(low=True)), sample=True)


def described(work: Path, describer: Any, elements: Sequence[plan.Element] = (ELEMENT,)) -> tuple[Any, list[str]]:
    job = BuildJob(None, work, tools=tools(describer=describer))
    return descriptions(job, elements), job.take_rejected()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a woman reading, in plain knitwear, calm mood", "calm mood' has 'woman'"),
        ("he reads, with lipstick, calm mood", "has 'he', 'lipstick'"),
        ("Emma reads, in plain knitwear, calm mood", "has 'emma'"),
        ("[start]reading, in plain knitwear, calm mood", "has brackets left over"),
        ("reading, calm mood", "has fewer than 3 phrases"),
        (", ".join(["a calm mood of reading"] * 13), "has more than 60 words"),
    ],
)
def test_an_unusable_description_has_its_fault(text: str, found: str) -> None:
    assert found in fault(text, ELEMENT)


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        ((*GOOD[:2], "he reads, with lipstick, calm mood", *GOOD[3:]), "has 'he', 'lipstick'"),
        ((*GOOD[:4], GOOD[0].upper()), "4 different descriptions instead of 5"),
    ],
)
def test_an_unusable_description_is_asked_for_again_and_logged(
    tmp_path: Path, bad: tuple[str, ...], found: str
) -> None:
    others = [text.replace("page", "leaf") for text in GOOD]
    writer = Writer((bad, others))
    texts, [line] = described(tmp_path, writer)
    assert json.loads(line)["reason"] == "description refused"
    assert found in json.loads(line)["fault"]
    assert found in writer.asked[1][1]
    assert list(texts[ELEMENT.id]) == [text for text in bad if text in GOOD] + others[:1]


def test_descriptions_that_stay_unusable_are_refused_with_the_element(tmp_path: Path) -> None:
    writer = Writer((GOOD[:4],))
    with pytest.raises(BuildError, match=r"TOOL_OUTPUT at writer, element cs/young/00/0: 4 different descriptions"):
        described(tmp_path, writer)
    assert len(writer.asked) == 2


def test_a_role_is_refused_only_where_it_tells_who_is_who() -> None:
    captain = next(e for e in plan.load_elements() if "team captain" in e.description)
    named = "the captain nods, in plain knitwear, calm mood"
    assert fault(named, captain) == f"{named!r} has 'captain'"
    assert fault(named, ELEMENT) == ""


@pytest.mark.parametrize(
    "text",
    [
        "1. reading a page, in plain knitwear, calm mood.",
        '"A photo of a male and a female, at a young age, reading a page, in plain knitwear, calm mood"',
        "Prompt 2: reading a page,\n in plain  knitwear,, calm mood,",
        "- an image of a female and a male, who are in old age, reading a page, in plain knitwear, calm mood",
    ],
)
def test_what_a_model_puts_around_a_description_is_taken_off(text: str) -> None:
    assert clean(text) == "reading a page, in plain knitwear, calm mood"


@pytest.mark.parametrize(
    "text",
    [
        *("His key is gone.", "The fiancée waits.", "The saleswoman waits.", "A nurse waits.", "Her desk is empty."),
        *("The FIANCÉE waits.", "A seamstress calls.", "the linewoman", "men"),
    ],
)
def test_a_planted_gendered_word_stops_the_build(text: str) -> None:
    with pytest.raises(BuildError, match=r"BUILD_CHECK at genres_elements.csv, element cs/young/00/0: a text with"):
        lint([replace(ELEMENT, text=text)])
