import math
from dataclasses import replace
from io import BytesIO
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fairspace.builders.drawn.swatches import (
    BUCKETS,
    MARKER,
    MISSING,
    MONK,
    STRIPS,
    SwatchPerson,
    draw_face,
    draw_object,
    draw_person,
    draw_scene,
    find,
    measure,
    person,
    wall,
)
from fairspace.builders.iris.groups import AGES, GENDERS, OCCUPATIONS, SKIN_TONES
from fairspace.builders.iris_steer_60.plan import COLOURS, LABELS
from fairspace.builders.stereotypical_bias.plan import TRAITS
from tests.ares.hostile import encoded

GROUPS = list(product(GENDERS, AGES, SKIN_TONES))


def copied(image: Image.Image, size: int | None = None, quality: int = 88) -> Image.Image:
    copy = Image.open(BytesIO(encoded(image, "JPEG", quality=quality))).convert("RGB")
    return copy if size is None else copy.resize((size, size))


def labelled(number: int) -> SwatchPerson:
    """A person with every label; 54 numbers in a row hold each group three times, 52 each occupation."""
    random = np.random.RandomState(number)
    gender, age, tone = GROUPS[number % len(GROUPS)]
    details = {name: bool(random.randint(2)) for name in ("accessories", "insignia", "facial_hair")}
    return person(
        gender,
        age,
        tone,
        number,
        attire=COLOURS[random.randint(len(COLOURS))],
        expression=LABELS["f"][random.randint(3)],
        occupation=OCCUPATIONS[number % len(OCCUPATIONS)],
        **details,
    )


@pytest.mark.parametrize("size", [384, 160])
def test_every_label_is_read_in_a_copy(size: int) -> None:
    people = [labelled(number) for number in range(54)]
    assert {who.occupation for who in people} == set(OCCUPATIONS)
    for number, who in enumerate(people):
        assert measure(copied(draw_person(who, number, (384, size)[number % 2]), size)) == [who]


@pytest.mark.parametrize("monk", MONK)
def test_each_swatch_is_told_from_its_neighbours(monk: int) -> None:
    tone = next(name for name, swatches in BUCKETS.items() if monk in swatches)
    copies = [copied(draw_face("female", "young", tone, seed, monk=monk)) for seed in range(3)]
    assert [measure(copy)[0].monk for copy in copies] == [monk] * 3


def test_an_incomplete_person_lacks_one_of_three_labels_and_has_the_others() -> None:
    lacking = []
    for number in range(30):
        who = labelled(number)
        (seen,) = measure(copied(draw_person(who, number, incomplete=True)))
        assert seen.updated(who) == who
        lacking += [name for name in ("gender", "age", "skin_tone") if not getattr(seen, name)]
        unsaid: dict[str, Any] = {lacking[-1]: "", "monk": seen.monk}
        assert seen == replace(who, **unsaid)
    assert len(lacking) == 30
    assert set(lacking) == {"gender", "age", "skin_tone"}


def test_a_label_that_is_covered_is_not_guessed() -> None:
    image = draw_person(labelled(1), 1)
    (place,) = find(np.asarray(image, dtype=np.int16))
    image.paste((255, 255, 255), (0, round(place.y + place.width / 8), 384, round(place.y + place.width / 4)))
    assert measure(image) == [replace(labelled(1), gender="")]


def test_a_seed_gives_the_same_picture_and_another_seed_another() -> None:
    first, second, other = (draw_face("male", "older", "dark", seed, size=128).tobytes() for seed in (7, 7, 8))
    assert first == second
    assert first != other


def test_persons_of_a_scene_are_found_in_their_boxes() -> None:
    for seed in range(12):
        people = [labelled(seed * 5 + number * 7) for number in range(1 + seed % 3)]
        image, boxes = draw_scene(people, seed, (640, 400))
        assert image.size == (640, 400)
        assert measure(copied(image)) == people
        found = [place.box(image.size) for place in find(np.asarray(image, dtype=np.int16))]
        assert np.abs(np.subtract(boxes, found)).max() <= 1


def test_a_scene_without_persons_is_an_empty_room() -> None:
    image, boxes = draw_scene([], 3)
    assert boxes == []
    assert measure(image) == []


def test_every_trait_has_its_thing_and_nobody_is_seen_in_it() -> None:
    for name, seed in product(TRAITS, range(4)):
        assert measure(copied(draw_object(name, seed))) == []
    assert all(len(measure(draw_object(name, 1, with_person=True))) == 1 for name in TRAITS)


def test_no_label_looks_like_another_the_marker_or_nothing() -> None:
    assert set(STRIPS["attire"]) == set(COLOURS)
    assert set(STRIPS["occupation"]) == set(OCCUPATIONS)
    walls = [wall(np.random.RandomState(seed)) for seed in range(2000)]
    assert min(math.dist(colour, special) for colour in walls for special in (MARKER, MISSING)) > 75
    for name, colours in STRIPS.items():
        assert min(math.dist(*pair) for pair in combinations(colours.values(), 2)) > (10 if name == "monk" else 69)
        assert min(math.dist(colour, special) for colour in colours.values() for special in (MARKER, MISSING)) > 90
