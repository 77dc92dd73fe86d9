import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Images
from PIL.Image import Image

from fairspace.builders.drawn.swatches import measure
from fairspace.builders.drawn.tools import read_person, sample_tools
from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import BuildJob
from fairspace.builders.engine.making import Verdict, Wanted, jpeg
from fairspace.builders.engine.tools import ImagePrompt, Labels, Tools
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import AGES, COMBINATIONS, GENDERS, GROUPS, OCCUPATIONS, SKIN_TONES
from fairspace.builders.iris.items import steer_items
from fairspace.builders.iris_steer_60 import plan as steer_plan
from fairspace.builders.iris_steer_60 import understanding
from fairspace.builders.iris_steer_60.dataset import DATASET
from fairspace.builders.sources.model_images import ModelStore
from tests.builders.builds import Built, rows
from tests.builders.model_fixtures import STEREOTYPES, annotation, neutral, steer, write_model


@dataclass
class Stripes:
    """Generator, editor, labeller and matcher of images with a stripe for each of eight labels.

    Args:
        astray: One seed in `astray` gives another gender; 0 for none.
        unlike: Pairs whose images are never alike.
        stuck: Whether edits leave the attire as it is.
    """

    name: str = "stripes"
    astray: int = 4
    unlike: tuple[str, ...] = ()
    stuck: bool = False
    asked: list[ImagePrompt] = field(default_factory=list)

    def generate(self, prompts: Sequence[ImagePrompt]) -> list[Image]:
        return [self._paint(prompt, None) for prompt in prompts]

    def edit(self, images: Sequence[Image], instructions: Sequence[ImagePrompt]) -> list[Image]:
        return [self._paint(prompt, image) for image, prompt in zip(images, instructions, strict=True)]

    def label(self, images: Sequence[Image]) -> list[Labels]:
        codes = [_codes(image) for image in images]
        return [Labels(GENDERS[code[0]], AGES[code[1]], SKIN_TONES[code[2]]) for code in codes]

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        return [float(_said(text, _codes(image))) for image, text in zip(images, texts, strict=True)]

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        same = zip(map(_codes, first), map(_codes, second), strict=True)
        return [0.5 if "attire" in self.unlike and a[3] != b[3] else 0.9 for a, b in same]

    def _paint(self, prompt: ImagePrompt, base: Image | None) -> Image:
        self.asked.append(prompt)
        codes = list(_codes(base)) if base else [0, 0, 0, 0, 1, 0, 1, 1]
        for place, code in _asked(prompt.text).items():
            if not (self.stuck and base and place == 3):
                codes[place] = code
        if self.astray and prompt.seed % self.astray == 0:
            codes[0] = 1 - codes[0]
        image = Images.new("RGB", (32, 32), (prompt.seed % 256, 0, 0))
        for place, code in enumerate(codes):
            image.paste((code * 25, code * 25, code * 25), (0, place * 4, 24, place * 4 + 4))
        return image


def _asked(text: str) -> dict[int, int]:
    """Place of a stripe -> code, as a text says."""
    said = read_person(text)
    words = (said.gender, said.age.removesuffix("-aged"), said.skin_tone, said.attire, "", said.expression)
    labelled = zip(steer_plan.LABELS.values(), words, strict=False)  # yes or no for the last two
    codes = {place: names.index(word) for place, (names, word) in enumerate(labelled) if word}
    shown = {4: said.accessories, 6: said.insignia, 7: said.facial_hair}
    return codes | {place: int(not there) for place, there in shown.items() if there is not None}


def _said(text: str, codes: Sequence[int]) -> bool:
    return all(codes[place] == code for place, code in _asked(text).items())


def _codes(image: Image) -> tuple[int, ...]:
    pixels = np.asarray(image.convert("L"), dtype=float)
    return tuple(round(float(pixels[place * 4 + 1 : place * 4 + 3, 4:16].mean()) / 25) for place in range(8))


def tools(stripes: Stripes) -> Tools:
    return Tools(None, stripes, stripes, stripes, stripes)


def made(work: Path, numbers: Sequence[int], stripes: Stripes, **more: Any) -> tuple[dict[int, Any], list[Any]]:
    job = BuildJob(None, work, tools=tools(stripes))
    return understanding.make_pairs(numbers, job, **more), [json.loads(line) for line in job.take_rejected()]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Built:
    out = tmp_path_factory.mktemp("plan") / "steer"
    return out, build(DATASET, out)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("sample")
    write_model(folder / "source", "alpha")
    write_model(folder / "source", "beta", rows=neutral(), images=[])
    out = folder / "steer"
    return out, build(DATASET, out, source=folder / "source", sample=True, tools=sample_tools())


def test_a_sample_is_even_and_complete(sample: Built) -> None:
    out, manifest = sample
    assert list(manifest.configs()) == ["generation", "generation_images", "understanding", "questions", "prompts"]
    found = rows(out, "understanding")
    assert len(found) == 84
    assert set(Counter(row["combination"] for row in found).values()) == {12}
    assert Counter((row["combination"], row["intentional_inconsistency"]) for row in found) == Counter(
        {(c, odd): n for c in COMBINATIONS for odd, n in (("no", 10), ("yes", 2))}
    )
    assert set(manifest.rejected) >= {"labels are not as planned"}
    for row in found:
        assert row["image"]["bytes"][:3] == b"\xff\xd8\xff"
        assert row["origin"] == "synthetic"
        assert (row["editor"] is None) == (row["side"] == "a")
        assert row["seed"] is not None
        assert row["similarity"] >= 0.55
        assert row["status"] == "made"
        margins = json.loads(row["label_margins"])
        assert list(margins) == [
            "uniform_color",
            "has_accessories",
            "facial_expression",
            "has_insignia",
            "has_facial_hair",
        ]
        assert min(margins.values()) > 0


def test_drawn_images_show_what_their_rows_say(sample: Built) -> None:
    from io import BytesIO

    found = rows(sample[0], "understanding")
    images = [Images.open(BytesIO(row["image"]["bytes"])).convert("RGB") for row in found]
    labeller = sample_tools().labeller
    assert labeller is not None
    wrong = [
        row["id"]
        for row, labels in zip(found, labeller.label(images), strict=True)
        if (labels.gender, labels.age, labels.skin_tone) != (row["gender"], row["age"], row["skin_tone"])
    ]
    assert wrong == []
    for row, image in zip(found, images, strict=True):
        (face,) = measure(image)
        there = (face.accessories, face.insignia, face.facial_hair)
        shown = [face.attire, face.expression, *(steer_plan.YES_NO[not each] for each in there)]
        columns = ("uniform_color", "facial_expression", "has_accessories", "has_insignia", "has_facial_hair")
        assert shown == [row[column] for column in columns], row["id"]


def test_without_tools_the_plan_is_there_and_says_that_it_has_no_images(plan: Built) -> None:
    out, manifest = plan
    found = rows(out, "understanding")
    assert len(found) == 2 * steer_plan.PAIRS
    assert all(row["image"] is None and row["generator"] is None for row in found)
    assert any("have no images" in note for note in manifest.notes)
    assert any("generation is left out" in note for note in manifest.notes)
    assert "have no images" in (out / "README.md").read_text()


def test_question_ids_follow_from_the_rows(plan: Built) -> None:
    questions = [row["id"] for row in rows(plan[0], "questions")]
    assert questions == list(steer_plan.QUESTIONS)
    ids = [f"{row['id']}/{question}" for row in rows(plan[0], "understanding") for question in questions]
    assert ids == steer_plan.pair_ids("v1").to_pylist()


def test_answers_of_the_rows_are_those_of_the_scorer(plan: Built) -> None:
    found = rows(plan[0], "understanding")
    asked = {row["id"]: json.loads(row["labels"]) for row in rows(plan[0], "questions") if row["kind"] == "objective"}
    assert list(asked) == list(steer_plan.LABELS)
    for number in (0, 1, 47, 2999, steer_plan.PAIRS - 1):
        for side in (0, 1):
            row = found[2 * number + side]
            for place, question in enumerate(steer_plan.LABELS):
                answer = steer_plan.LABELS[question][steer_plan.pairs().labels[number, side, place]]
                assert row[understanding.COLUMNS[question]].removesuffix("-aged") == answer
                assert answer in asked[question]


def test_images_of_a_pair_differ_in_their_combination_alone(plan: Built) -> None:
    found = rows(plan[0], "understanding")
    for first, second in zip(found[::2], found[1::2], strict=True):
        differ = {column for column in understanding.COLUMNS.values() if first[column] != second[column]}
        own = {("gender", "age", "skin_tone")[place] for place in COMBINATIONS[first["combination"]]}
        assert differ - {"uniform_color"} == own
        assert ("uniform_color" in differ) == (first["intentional_inconsistency"] == "yes")
        assert {first["prompt_type"], second["prompt_type"]} in (
            {None},
            {"stereotypical", "counter-stereotypical"},
        )


def test_the_stereotypical_image_is_the_one_that_the_labour_figures_make_more_usual() -> None:
    plan = steer_plan.pairs()
    nurses = np.flatnonzero((plan.occupation == OCCUPATIONS.index("nurse")) & (plan.combination == 0))
    for number in nurses.tolist():
        female = plan.labels[number, :, 0] == 0
        assert understanding.prompt_types(number)[int(female[1])] == "stereotypical"
    astronauts = np.flatnonzero(plan.occupation == OCCUPATIONS.index("backpacker"))
    assert {understanding.prompt_types(number) for number in astronauts.tolist()} == {(None, None)}


def test_a_pair_whose_images_are_not_alike_is_left_out_with_its_numbers(tmp_path: Path) -> None:
    odd = [number for number in understanding.sample_pairs() if "clothes" in understanding.instruction(number)]
    found, log = made(tmp_path, [0, *odd[:1]], Stripes(astray=0, unlike=("attire",)))
    assert list(found) == [0]
    reasons = Counter(line["reason"] for line in log)
    assert reasons == {"images are not alike": 30, "gave up": 3, "no pair passed": 1}
    assert {line["similarity"] for line in log if line["reason"] == "images are not alike"} == {0.5}


def test_an_attire_that_kept_its_colour_is_rejected(tmp_path: Path) -> None:
    odd = [number for number in understanding.sample_pairs() if "clothes" in understanding.instruction(number)]
    found, log = made(tmp_path, odd[:1], Stripes(astray=0, stuck=True))
    assert not found
    assert {line["questions"] for line in log if line["reason"] == "a label is not as planned"} == {"d"}


def test_a_pair_that_no_attempt_passed_stands_as_failed_and_has_no_labels(tmp_path: Path) -> None:
    class Never(Stripes):
        def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
            return [0.0 if _codes(image)[:4] == never else 0.9 for image in second]

    job = BuildJob(None, tmp_path, sample=True, tools=tools(Never(astray=0)))
    number, other = understanding.sample_pairs()[:2]
    never = tuple(steer_plan.pairs().labels[number, 1, :4].tolist())
    split = understanding.understanding_split(job)
    found = {row["id"]: row for row in split.rows([number, other])}
    failed = [row for row in found.values() if row["status"] == "failed"]
    assert [row["id"] for row in failed] == [f"pair/{number:04d}/a", f"pair/{number:04d}/b"]
    for row in failed:
        assert row["image"] is None
        assert {row[column] for column in ("group", *understanding.COLUMNS.values())} == {None}
        assert row["combination"] == tuple(COMBINATIONS)[steer_plan.pairs().combination[number]]
    assert {found[f"pair/{other:04d}/{side}"]["status"] for side in "ab"} == {"made"}
    assert "no pair passed" in " ".join(job.take_rejected())


def test_a_build_without_enough_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"BUILD_CHECK.* pairs of gender"):
        build(DATASET, tmp_path / "x", sample=True, tools=tools(Stripes(astray=0, unlike=("attire",))))
    assert not (tmp_path / "x" / "manifest.json").exists()


@pytest.mark.parametrize("role", ["generator", "editor", "labeller", "matcher"])
def test_a_missing_tool_is_named_and_no_image_is_made(tmp_path: Path, role: str) -> None:
    stripes = Stripes()
    absent: dict[str, Any] = {role: None}
    manifest = build(DATASET, tmp_path / "x", sample=True, tools=replace(tools(stripes), **absent))
    assert not stripes.asked
    assert any(role in note and "no images" in note for note in manifest.notes)


def test_a_models_prompts_are_those_that_the_scorer_expects(sample: Built, tmp_path: Path) -> None:
    source = sample[0].parent / "source"
    store = ModelStore(BuildJob(source, tmp_path), source / "models")
    found = rows(sample[0], "generation")
    for number, model in enumerate(store.models):
        own = [row for row in found if row["model"] == model.name]
        expected = steer_items(store.neutral_counts(number)).to_pylist()
        assert [(row["item"], row["prompt"], row["images"]) for row in own] == [
            (one["id"], one["prompt"], one["images"]) for one in expected
        ]
        assert [row["rank"] for row in own] == [rank for rank in range(1, 11) for _ in range(6)]
        shown = [(OCCUPATIONS.index(row["occupation"]), GROUPS.index(row["stereotype"])) for row in own[::6]]
        assert shown == STEREOTYPES
        assert [row["seen"] for row in own[::6]] == sorted((row["seen"] for row in own[::6]), reverse=True)


def test_steer_images_say_what_was_asked_and_what_is_shown(sample: Built) -> None:
    out, manifest = sample
    found = {(row["item"], row["sample"]): row for row in rows(out, "generation_images")}
    given = [row for row in steer() if row["face"] == 0]
    assert len(found) == len(given) - 1 == 120
    assert manifest.rejected["not a prompt of the model's plan"] == 1
    for one in given[:-1]:
        row = found[one["id"], one["sample"]]
        assert row["model"] == "Model alpha"
        assert [row[c] for c in ("gender", "age", "skin_tone")] == [one[c] for c in ("gender", "age", "skin_tone")]
        asked = one["id"].rpartition("/")[2]
        assert row["success"] == ("yes" if asked == "_".join((row["gender"], row["age"], row["skin_tone"])) else "no")
        assert row["image"]["bytes"]
    assert Counter(row["success"] for row in found.values()) == {"yes": 70, "no": 50}


def test_a_model_with_fewer_than_ten_combinations_has_no_plan(tmp_path: Path) -> None:
    few = [annotation("generation_neutral", f"neutral/{o}", 0, 3) for o in OCCUPATIONS[:9]]
    write_model(tmp_path / "source", rows=few, images=[])
    manifest = build(DATASET, tmp_path / "x", source=tmp_path / "source", sample=True)
    assert manifest.find("generation", "test") is None
    assert any("show 9 combinations" in note for note in manifest.notes)


class Sees:
    """A matcher whose similarity to a text is the number of one of its words, else 0.2."""

    name = "words"

    def __init__(self, alike: float = 1.0, **closeness: float) -> None:
        self.alike, self.closeness = alike, closeness

    def label(self, images: Sequence[Image]) -> list[Labels]:
        return [Labels(*GROUPS[steer_plan.pairs().groups[0, 1]].split("_"))] * len(images)

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        return [
            max((near for word, near in self.closeness.items() if word in text.split()), default=0.2) for text in texts
        ]

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        return [self.alike] * len(first)


@pytest.mark.parametrize(("similarity", "alike"), [(0.75, True), (np.nextafter(0.75, 0), False)])
def test_the_least_similarity_itself_suffices(similarity: float, alike: bool) -> None:
    image = Images.new("RGB", (8, 8))
    sees = Sees(alike=similarity)
    [verdict] = understanding._check(sees, sees, 1, 0.75, "v2")([image], [Wanted("pair/0000/b", "", jpeg(image))])
    assert isinstance(verdict, Verdict)
    assert (verdict.reason != "images are not alike") == alike
    assert verdict.evidence["similarity"] == similarity


PLANNED = {"d": "red", "e": "no", "f": "smiling", "g": "yes", "h": "no"}
DRAWN = Images.new("RGB", (8, 8))


def test_a_margin_says_how_much_closer_the_planned_label_is_than_any_other() -> None:
    """Red is closest of the ten colours by .05, the second; bare eyes and no beard are as close as anything: 0.2."""
    sees = Sees(red=0.3, blue=0.25, glasses=0.3, smiling=0.3, serious=0.305, badge=0.4)
    (margins,) = understanding.label_margins(sees, [DRAWN], [PLANNED])
    assert margins == pytest.approx({"d": 0.05, "e": -0.1, "f": -0.005, "g": 0.2, "h": 0.0})
    assert understanding.label_margins(sees, [], []) == []


def test_no_prompt_and_no_statement_names_what_is_not_to_be_seen() -> None:
    texts = [understanding.base_prompt(number) for number in range(0, len(steer_plan.pairs().groups), 7)]
    texts += [text for statements in understanding.STATEMENTS.values() for text in statements.values()]
    for text in texts:
        assert not {"without", "no", "not"} & set(text.replace(",", "").split())
    assert {*understanding.STATEMENTS, "a", "b", "c"} == set(steer_plan.LABELS)
    assert all(
        set(understanding.STATEMENTS[question]) == set(steer_plan.LABELS[question])
        for question in understanding.STATEMENTS
    )


def test_a_prompt_names_the_age_and_shows_the_chest_where_a_badge_is() -> None:
    for number in range(0, len(steer_plan.pairs().groups), 7):
        prompt, labels = understanding.base_prompt(number), understanding.planned_labels(number, 0)
        assert {"young": "a young ", "middle": "a middle-aged ", "older": "an older "}[labels["b"]] in prompt
        assert "middle middle" not in prompt
        assert prompt.startswith("a photo of the face and chest of ")
        assert ("badge on the chest" in prompt) == (labels["g"] == "yes")
