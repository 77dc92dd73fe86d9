from pathlib import Path

import pytest

from fairspace.ares.modeling_ares import AresModel
from fairspace.builders.drawn.swatches import draw_face, draw_scene, person
from fairspace.builders.drawn.tools import sample_tools
from fairspace.builders.models.labelling import AresLabeller
from fairspace.builders.models.opening import open_tools
from tests.tiny_ares import random_ares


@pytest.fixture(scope="module")
def model() -> Path:
    return random_ares()


def test_labels_are_those_of_the_model(model: Path) -> None:
    faces = [draw_face("female", "young", "dark", seed) for seed in range(3)]
    labeller = open_tools(labeller=f"ares:{model}").labeller
    assert isinstance(labeller, AresLabeller)
    found = labeller.label(faces)
    for labels, answers in zip(found, AresModel.from_pretrained(model).eval().classify(faces), strict=True):
        assert labels.gender == answers[0].labels["gender"]
        assert labels.age == answers[0].labels["age"]
        assert labels.skin_tone == answers[0].labels["skin_tone"]
    assert labeller.label([]) == []
    assert "sha256" in labeller.name


def test_a_detector_says_whether_there_is_one_person(model: Path) -> None:
    labeller = AresLabeller(str(model), detector=sample_tools().detector)
    one = draw_face("male", "older", "light", 1)
    blank = one.copy()
    blank.paste((255, 255, 255), (0, 0, *one.size))
    two = draw_scene([person("male", "older", "light", 1), person("female", "young", "dark", 2)], 3, (800, 400))[0]
    assert [labels.reason for labels in labeller.label([one, blank, two])] == ["", "no face", "several faces"]
