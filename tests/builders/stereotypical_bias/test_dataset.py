import json
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import BuildJob, BuildManifest
from fairspace.builders.engine.tools import PersonBox, Tools
from fairspace.builders.errors import BuildError
from fairspace.builders.models.detection import SCHEMA, StoredBoxes
from fairspace.builders.stereotypical_bias import dataset, plan
from tests.builders.builds import Built, rows
from tests.builders.face_fixtures import Painter, Watcher, jpeg, write_utkface


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    write_utkface(folder / "utkface", (17, 18, 65, 66), 2)
    (folder / "utkface/61_1_20170109142408075.jpg").write_bytes(jpeg("malformed"))
    (folder / "utkface/18_0_4_00000000000000000.jpg").write_bytes(jpeg("of no group"))
    return folder


def tools() -> Tools:
    return Tools(generator=Painter(), detector=Watcher())


def make(folder: Path, source: Path | None, **more: Any) -> BuildManifest:
    return build(dataset.DATASET, folder, source=source, **{"sample": True, "tools": tools(), **more})


@pytest.fixture(scope="module")
def built(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    return folder, make(folder, sources)


def test_every_cell_has_as_many_pairs_as_its_smaller_group_has_faces(tmp_path: Path) -> None:
    write_utkface(tmp_path / "sources/utkface", plan.AGES, 4, lambda name: b"")
    job = BuildJob(tmp_path / "sources", tmp_path / "work")
    units = {split.split: split.units for split in dataset.DATASET.splits(job) if split.config == "vision"}
    assert {attribute: len(pairs) for attribute, pairs in units.items()} == {"gender": 4 * 192, "race": 4 * 576}
    assert len(job.take_rejected()) == 16 * (192 + 576)
    assert "vision/gender: 768 of 3,840 places for a pair are filled, 2,604 in the paper" in job.notes[0]
    for attribute in plan.ATTRIBUTES:
        chosen: Sequence[dataset.FacePair] = units[attribute][:]
        assert len({frozenset((pair.left[2], pair.right[2])) for pair in chosen}) == len(chosen)
        rows_of = {row["pair"]: row for row in plan.pairs(attribute).to_pylist()}
        for pair in chosen:
            row = rows_of[pair.pair]
            groups = plan.GROUPS[attribute]
            place, other = (0, 1) if attribute == "gender" else (1, 0)
            assert (pair.pair, pair.age) == (row["pair"], row["age"])
            assert (pair.left[place], pair.right[place]) == (groups[row["left"]], groups[row["right"]])
            assert pair.left[other] == pair.right[other] == row["shared"]
            for gender, race, file in (pair.left, pair.right):
                code = (plan.GROUPS["gender"].index(gender), plan.GROUPS["race"].index(race))
                assert file.startswith(f"{pair.age}_{code[0]}_{code[1]}_")


def test_faces_are_drawn_by_the_seed_and_used_evenly(tmp_path: Path) -> None:
    write_utkface(tmp_path / "sources/utkface", (30,), 25, lambda name: b"")

    def chosen(work: str, seed: int) -> list[dataset.FacePair]:
        job = BuildJob(tmp_path / "sources", tmp_path / work, seed)
        return [pair for split in dataset.DATASET.splits(job) if split.config == "vision" for pair in split.units[:]]

    first = chosen("first", 0)
    assert first == chosen("again", 0)
    assert first != chosen("other", 1)
    cells = Counter((pair.attribute, *sorted((pair.left[:2], pair.right[:2]))) for pair in first)
    assert set(cells.values()) == {plan.PAIRS_PER_CELL}
    of_one_cell = [p for p in first if p.attribute == "gender" and p.left[1] == "Asian"]
    assert len({p.left[2] for p in of_one_cell} | {p.right[2] for p in of_one_cell}) == 2 * len(of_one_cell)


def test_a_cell_without_faces_is_left_out_logged_and_noted(tmp_path: Path) -> None:
    source = tmp_path / "sources"
    write_utkface(source / "utkface", (30, 31), 1)
    for file in (source / "utkface").glob("30_1_3_*"):
        file.unlink()
    manifest = make(tmp_path / "out", source, sample=False, tools=Tools())
    for attribute in plan.ATTRIBUTES:
        found = {row["id"] for row in rows(tmp_path / "out", "vision", attribute)}
        for row in plan.pairs(attribute).to_pylist():
            if row["age"] not in (30, 31):
                assert f"vision_{attribute}/{row['pair']}" not in found
    ages = Counter(row["age"] for row in rows(tmp_path / "out", "vision", "gender"))
    assert ages == {30: 3, 31: 4}  # one face per cell makes one pair; 30 lacks the Indian woman
    ages = Counter(row["age"] for row in rows(tmp_path / "out", "vision", "race"))
    assert ages == {30: 6 + 3, 31: 6 + 6}
    assert manifest.rejected.keys() == {"no face in a cell", "too few faces in a cell"}
    assert sum(manifest.rejected.values()) + 7 + 21 == 3840 + 11520
    assert any("are left out, no face in a cell" in note for note in manifest.notes)
    lines = [json.loads(line) for line in (tmp_path / "out/review/rejected.jsonl").read_text().splitlines()]
    assert {"30/Indian/female"} <= {line["cell"] for line in lines}


def test_a_sample_has_every_combination_of_groups(built: Built) -> None:
    folder, manifest = built
    kinds = {attribute: Counter[frozenset[tuple[str, str]]]() for attribute in plan.ATTRIBUTES}
    for attribute in plan.ATTRIBUTES:
        for row in rows(folder, "vision", attribute):
            sides = [(row[f"{side}_gender"], row[f"{side}_race"]) for side in ("left", "right")]
            kinds[attribute][frozenset(sides)] += 1
            assert row["age"] in (18, 65)
    assert len(kinds["gender"]) == 4
    assert len(kinds["race"]) == 12
    assert {n for counts in kinds.values() for n in counts.values()} == {dataset.SAMPLE_PAIRS}
    assert not any("missing part" in note for note in manifest.notes)  # such names are drawn on purpose


def test_the_halves_of_a_picture_are_the_named_files_at_the_named_sides(built: Built, sources: Path) -> None:
    for row in rows(built[0], "vision"):
        image = np.asarray(Image.open(BytesIO(row["image"]["bytes"])), dtype=float)
        for part, side in ((image[:, :200], "left"), (image[:, 200:], "right")):
            file = row[f"{side}_file"]
            face = Image.open(sources / "utkface" / file).resize((200, 200), Image.Resampling.LANCZOS)
            assert np.abs(part - np.asarray(face, dtype=float)).mean() < 4
            age, gender, race, _ = file.split("_")
            groups = [plan.GROUPS["gender"][int(gender)], plan.GROUPS["race"][int(race)]]
            assert [int(age), *groups] == [row["age"], row[f"{side}_gender"], row[f"{side}_race"]]


def test_item_ids_follow_from_rows_and_questions_name_their_picture(built: Built) -> None:
    folder, _ = built
    for attribute in plan.ATTRIBUTES:
        items = {row["id"]: row for row in plan.items(f"vision_{attribute}").to_pylist()}
        pictures = {row["id"]: row for row in rows(folder, "vision", attribute)}
        questions = rows(folder, "vision_questions", attribute)
        assert {f"{row}/{plan.slug(name)}" for row in pictures for name in plan.INSTANCES} == {
            question["id"] for question in questions
        }
        for question in questions:
            item = items[question["id"]]
            assert question["prompt"] == item["prompt"]
            assert question["instance"] in question["prompt"]
            assert question["scenario"] == plan.SCENARIOS[plan.INSTANCES.index(question["instance"]) >= 10]
            groups = [pictures[question["picture"]][f"{side}_{attribute}"] for side in ("left", "right")]
            assert groups == [plan.GROUPS[attribute][item[side]] for side in ("left", "right")]


def test_without_utkface_the_questions_of_all_pairs_are_there(tmp_path: Path) -> None:
    manifest = make(tmp_path, None, sample=False, tools=Tools())
    assert [(split.config, split.split, split.rows) for split in manifest.splits] == [
        ("vision_questions", "gender", 3840 * 20),
        ("vision_questions", "race", 11520 * 20),
        ("published", "test", len(rows(tmp_path, "published"))),
    ]
    assert any("UTKFace was not given" in note for note in manifest.notes)
    assert any("no generator and no detector" in note for note in manifest.notes)


def test_every_trait_has_images_without_persons_and_the_planned_questions(built: Built) -> None:
    folder, manifest = built
    found = rows(folder, "persona")
    assert Counter(row["trait"] for row in found) == dict.fromkeys(plan.TRAITS, dataset.SAMPLE_KEPT)
    assert manifest.rejected["a person"] > 0
    items = {a: {r["id"]: r["prompt"] for r in plan.items(f"language_{a}").to_pylist()} for a in plan.ATTRIBUTES}
    for row in found:
        assert row["seed"] % 4
        assert row["image_prompt"] == plan.IMAGE_PROMPTS[row["trait"]]
        for attribute in plan.ATTRIBUTES:
            assert row[f"{attribute}_id"] == row["id"].replace("persona", f"language_{attribute}", 1)
            assert row[f"{attribute}_prompt"] == items[attribute][row[f"{attribute}_id"]]


def test_400_images_of_a_trait_are_made_and_200_drawn_by_the_seed(tmp_path: Path) -> None:
    def trait(work: str, build_seed: int) -> tuple[list[str], list[int], int]:
        job = BuildJob(None, tmp_path / work, build_seed, tools=tools())
        (split,) = dataset.persona_splits(job)
        made = list(split.rows(split.units[3:4]))
        reasons = Counter(json.loads(line)["reason"] for line in job.take_rejected())
        return [row["id"] for row in made], [row["seed"] for row in made], reasons["a person"]

    ids, seeds, rejected = trait("first", 0)
    assert ids == [f"persona/geek/{number:03d}" for number in range(200)]
    assert len(list((tmp_path / "first/made").glob("*.json"))) == dataset.GENERATED_PER_TRAIT
    assert len(list((tmp_path / "first/made").glob("*.image"))) == dataset.GENERATED_PER_TRAIT - rejected
    assert 60 < rejected < 140
    assert len(set(seeds)) == 200
    assert set(seeds).isdisjoint(trait("other", 1)[1])


def test_the_papers_pictures_are_those_with_a_person(tmp_path: Path) -> None:
    manifest = make(tmp_path / "out", None, tools=tools(), options={"include": "persons"})
    kept = rows(tmp_path / "out", "persona")
    assert {row["trait"] for row in kept} == set(plan.TRAITS)
    assert not any(row["seed"] % 4 for row in kept)  # the painter puts a person into every fourth
    assert manifest.rejected["no person"] > 0
    assert any("E-STEREO-06" in note for note in manifest.notes)


def test_too_few_images_without_persons_leave_gaps_that_are_logged(tmp_path: Path) -> None:
    class Everywhere(Watcher):
        def detect(self, pictures: Any) -> Any:
            return [[PersonBox(0, 0, 8, 8, 0.9)] for _ in pictures]

    with pytest.raises(BuildError, match=r"BUILD_CHECK.*images per trait"):
        make(tmp_path / "out", None, tools=Tools(generator=Painter(), detector=Everywhere()))
    lines = [
        json.loads(line)
        for file in sorted((tmp_path / "out/.build/persona").glob("*.json"))
        for line in json.loads(file.read_text())["rejected"]
    ]
    missing = [line for line in lines if line["reason"] == dataset.TOO_FEW]
    assert len(missing) == len(plan.TRAITS) * dataset.SAMPLE_KEPT


def test_stored_boxes_cannot_say_whether_new_images_hold_persons(tmp_path: Path) -> None:
    pq.write_table(SCHEMA.empty_table(), tmp_path / "boxes.parquet")
    stored = StoredBoxes(tmp_path / "boxes.parquet")
    manifest = make(tmp_path / "out", None, tools=Tools(generator=Painter(), detector=stored))
    assert manifest.find("persona", "test") is None
    assert any("stored boxes" in note for note in manifest.notes)
