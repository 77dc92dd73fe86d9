import re
from dataclasses import replace

import pytest
from PIL import Image

from fairspace.builders.drawn import swatches, tools
from fairspace.builders.engine.making import jpeg
from fairspace.builders.engine.tools import ImagePrompt, Labels, Picture
from fairspace.builders.stereotypical_bias.plan import IMAGE_PROMPTS

PAIR = "a photo of a male and a female, at a young age, talking, in plain outfits, with calm faces, front view, calm"


def group(labels: Labels) -> str:
    return "_".join((labels.gender, labels.age, labels.skin_tone))


def test_an_edit_leaves_the_rest_of_the_picture_as_it_is() -> None:
    who = swatches.person("female", "middle-aged", "light", 5, attire="blue", occupation="doctor", facial_hair=False)
    image = swatches.draw_person(who, 5)
    edited = tools.redraw(image, swatches.SwatchPerson(attire="red"), 1)
    for corner in ((0, 0, 50, 384), (330, 0, 384, 384)):
        assert image.crop(corner).tobytes() == edited.crop(corner).tobytes()
    assert swatches.measure(edited) == [replace(who, attire="red")]
    (other,) = swatches.measure(tools.redraw(image, swatches.SwatchPerson(skin_tone="dark"), 1))
    assert other == replace(who, skin_tone="dark", monk=other.monk)
    nobody = swatches.draw_object("Neat", 1)
    assert tools.redraw(nobody, swatches.SwatchPerson("male"), 1).tobytes() == nobody.tobytes()


def test_a_share_of_prompts_is_not_followed() -> None:
    prompts = [
        ImagePrompt("a photo of the face of a young dark-color skintone female nurse", seed) for seed in range(120)
    ]
    groups = [group(labels) for labels in tools.DrawnLabeller().label(tools.DrawnGenerator().generate(prompts))]
    assert 8 <= sum(shown != "female_young_dark" for shown in groups) <= 28
    assert "__" in groups
    things = [ImagePrompt(text, seed) for text in IMAGE_PROMPTS.values() for seed in range(4)]
    drawn = tools.DrawnGenerator().generate(things)
    persons = tools.DrawnDetector().detect([Picture(str(place), jpeg(image)) for place, image in enumerate(drawn)])
    assert 2 <= sum(map(bool, persons)) <= 18
    assert all(box.width > 0 and 0 <= box.score <= 1 for boxes in persons for box in boxes)


def test_the_labeller_says_why_it_gives_no_labels() -> None:
    two, _ = swatches.draw_scene(
        [swatches.person("female", "young", "dark", 1), swatches.person("male", "older", "light", 2)], 1
    )
    shorn = swatches.draw_person(replace(swatches.person("female", "young", "middle", 3), gender=""), 3)
    read_labels = tools.DrawnLabeller().label([two, swatches.draw_object("Neat", 1), Image.new("RGB", (8, 8)), shorn])
    assert [labels.reason for labels in read_labels] == ["several faces", "no face", "no face", "unsure"]
    assert read_labels[3].skin_tone == "middle"
    assert group(read_labels[0]) == "__"


@pytest.mark.parametrize("seed", range(5))
def test_other_pictures_are_less_alike_than_the_same(seed: int) -> None:
    seeds = (seed, seed, seed + 50)
    first, again, other = (swatches.draw_face("male", "young", "dark", s, attire="green") for s in seeds)
    same, less = tools.DrawnMatcher().image_similarity([first, first], [again, other])
    assert same == 1.0
    assert 0 <= less < 0.95


def test_descriptions_have_six_short_phrases_and_no_gender() -> None:
    describer = tools.DrawnDescriber()
    gendered = re.compile(r"\b(?:he|she|his|hers?|him|(?:wo)?m[ae]n|boys?|girls?|(?:fe)?male|suit|dress|beard)\b")
    for phrase in (phrase for phrases in tools.PHRASES.values() for phrase in phrases):
        assert len(phrase.split()) <= 10
        assert not gendered.search(phrase)
        assert "," not in phrase
    found = describer.describe("cs/young/00/0", "prompt")
    assert found == describer.describe("cs/young/00/0", "prompt")
    assert found != describer.describe("cs/young/00/1", "prompt")
    assert len(set(found)) == tools.DESCRIPTIONS
    assert all(len(text.split(", ")) == len(tools.PHRASES) for text in found)
