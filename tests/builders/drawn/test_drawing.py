from __future__ import annotations

from io import BytesIO
from itertools import product
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fairspace.builders.drawn.drawing import THINGS, draw_face, draw_object, draw_scene, draw_sitter, sitter
from fairspace.builders.drawn.figure import BUCKETS, HAIR, MONK, distance, grey_hair, hair_colours
from fairspace.builders.drawn.tools import measure, person_box
from fairspace.builders.iris.groups import AGES, GENDERS, SKIN_TONES
from fairspace.builders.iris_ideal_52.persons import overlap
from fairspace.builders.iris_steer_60.plan import COLOURS, LABELS
from fairspace.builders.stereotypical_bias.plan import TRAITS

GROUPS = list(product(GENDERS, AGES, SKIN_TONES))


def copied(image: Image.Image, size: int = 384) -> Image.Image:
    stream = BytesIO()
    image.save(stream, "JPEG", quality=95)
    return Image.open(stream).convert("RGB").resize((size, size))


def details(seed: int, gender: str) -> dict[str, Any]:
    random = np.random.RandomState(seed)
    return {
        "attire": COLOURS[random.randint(len(COLOURS))],
        "expression": LABELS["f"][random.randint(3)],
        "accessories": bool(random.randint(2)),
        "insignia": bool(random.randint(2)),
        "facial_hair": gender == "male" and bool(random.randint(2)),
    }


@pytest.mark.parametrize(("size", "times"), [(384, 6), (200, 3)])
def test_every_label_can_be_measured_in_a_copy(size: int, times: int) -> None:
    wrong, checked = [], 0
    for number, (gender, age, tone) in enumerate(GROUPS * times):
        shown = details(number, gender)
        faces = measure(copied(draw_sitter(sitter(gender, age, tone, number, **shown), number, size=size)))
        assert len(faces) == 1
        face = faces[0]
        found = {"attire": face.attire, "expression": face.expression, "accessories": face.accessory != "none"}
        found |= {"insignia": face.insignia, "facial_hair": face.facial_hair}
        assert (face.gender, face.age, face.skin_tone) == (gender, age, tone)
        wrong += [(number, name, value) for name, value in found.items() if value != shown[name]]
        checked += len(found)
    assert len(wrong) <= 0.01 * checked, wrong


@pytest.mark.parametrize("monk", MONK)
def test_each_swatch_is_told_from_its_neighbours(monk: int) -> None:
    tone = next(name for name, swatches in BUCKETS.items() if monk in swatches)
    found = [measure(copied(draw_face("female", "young", tone, seed, monk=monk)))[0].monk for seed in range(3)]
    assert found == [monk] * 3


def test_an_incomplete_face_has_the_same_labels_as_far_as_they_are_seen() -> None:
    halves = covered = 0
    for number, group in enumerate(GROUPS * 2):
        shown = details(number, group[0])
        (face,) = measure(copied(draw_sitter(sitter(*group, number, **shown), number, incomplete="any")))
        assert (face.gender, face.age, face.skin_tone) == group
        assert face.facial_hair in (None, shown["facial_hair"])
        halves += face.side != 0
        covered += face.expression == ""
    assert halves >= 10
    assert covered >= 5


def test_a_seed_gives_the_same_picture_and_another_seed_another() -> None:
    first, second, other = (draw_face("male", "older", "dark", seed, size=128).tobytes() for seed in (7, 7, 8))
    assert first == second
    assert first != other


def test_persons_of_a_scene_are_found_in_their_boxes() -> None:
    for seed in range(12):
        groups = [GROUPS[(seed * 5 + place * 7) % len(GROUPS)] for place in range(1 + seed % 3)]
        people = [sitter(*group, seed * 10 + place) for place, group in enumerate(groups)]
        image, boxes = draw_scene(people, seed, (640, 400))
        assert image.size == (640, 400)
        faces = measure(image)
        assert [(face.gender, face.age, face.skin_tone) for face in faces] == groups
        assert all(overlap(person_box(f, image.size), box) > 0.9 for f, box in zip(faces, boxes, strict=True))


def test_a_scene_without_persons_is_an_empty_room() -> None:
    image, boxes = draw_scene([], 3)
    assert boxes == []
    assert measure(image) == []


def test_every_trait_has_its_things_and_nobody_is_seen_in_them() -> None:
    assert tuple(THINGS) == TRAITS
    for name, seed in product(THINGS, range(4)):
        assert measure(copied(draw_object(name, seed))) == []
    assert all(len(measure(draw_object(name, 1, person=True))) == 1 for name in THINGS)


def test_hair_stands_out_from_every_skin() -> None:
    for monk, skin in MONK.items():
        assert len(hair_colours(monk)) >= 2
        assert set(hair_colours(monk)) <= set(HAIR)
        assert distance(grey_hair(monk), skin) > 45
