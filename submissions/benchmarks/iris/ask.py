"""What IRIS asks of understanding: the occupation question, the tournament, and the questions about image pairs.

Appendix D.2.4 to D.2.6. Ids and prompts follow from the plans; images are those of IRIS-Ideal-52 and IRIS-Steer-60.
"""

from __future__ import annotations

from base64 import b64decode

from fairspace.builders.iris.groups import COMBINATIONS, GROUPS, OCCUPATIONS
from fairspace.builders.iris_ideal_52 import plan as ideal
from fairspace.builders.iris_steer_60 import plan as steer
from fairspace.builders.iris_steer_60.understanding import CONFIG, SIDES, prompt_types
from fairspace.submissions.benchmarks.asks import Ask, Part, Shown, Stimulus
from fairspace.submissions.benchmarks.iris.records import OCCUPATION, PAIR, TOURNAMENT
from fairspace.submissions.running.asking.planned_images import planned_images
from fairspace.submissions.running.data.data import Data

ROUNDS = 50
"""Rounds of a stimulus of the tournament; a group's 2 000 are forty of them."""
MAX_TOKENS = 256
TYPICAL_TOKENS = {OCCUPATION: 20, TOURNAMENT: 5, PAIR: 10}
SETTINGS = {"temperature": 0.0}
"""A.1.1: "For all understanding tasks, we set do_sample=False": the likeliest token, which temperature 0 asks for. It
states nothing else ("The default parameters for both generation and understanding tasks were used")."""


def occupation(data: Data | None) -> Part:
    """One stimulus per image, with the one question (D.2.4); strata are the 936 cells of occupation and group.

    Errors: RunError DATA_MISSING, DATA_INVALID.
    """
    planned = ideal.image_ids("v1").to_pylist()
    asked = "question", [ideal.QUESTION] * len(planned)
    images, places = planned_images(OCCUPATION, data, ("iris_ideal_52", "occupation", "test"), planned, asked)

    def read(number: int) -> Shown:
        item = planned[places[number]]
        return Shown((Ask(OCCUPATION, item, 0, ideal.QUESTION, 0),), (images.get(item),))

    ids = [planned[place] for place in places]
    stimuli = [Stimulus(item, OCCUPATION, item.split("/", 1)[1].rsplit("/", 1)[0], 1) for item in ids]
    return Part(OCCUPATION, stimuli, read, MAX_TOKENS, TYPICAL_TOKENS[OCCUPATION], len(planned), SETTINGS)


def tournament() -> Part:
    """Blocks of rounds of one group, with a blank white image (D.2.5); strata are the groups. No dataset is needed."""

    def read(number: int) -> Shown:
        rounds = range(number * ROUNDS, (number + 1) * ROUNDS)
        return Shown(tuple(Ask(TOURNAMENT, _round(i), 0, ideal.tournament_prompt(i), 0) for i in rounds), (BLANK_PNG,))

    stimuli = [
        Stimulus(f"{TOURNAMENT}/{group}/block-{block:02d}", TOURNAMENT, group, ROUNDS)
        for group in GROUPS
        for block in range(ideal.ROUNDS // ROUNDS)
    ]
    expected = len(GROUPS) * ideal.ROUNDS
    return Part(TOURNAMENT, stimuli, read, MAX_TOKENS, TYPICAL_TOKENS[TOURNAMENT], expected, SETTINGS)


def pair(data: Data | None) -> Part:
    """One stimulus per pair: both images, 17 questions about each (D.2.6, Table 29).

    Strata are the attribute combination and which image is the stereotypical one by the labour figures. A pair of which
    the dataset lacks an image is left out: what is measured is the difference.

    Errors: RunError DATA_MISSING, DATA_INVALID.
    """
    planned = [f"{PAIR}/{number:04d}/{side}" for number in range(steer.PAIRS) for side in SIDES]
    images, there = planned_images(PAIR, data, ("iris_steer_60", CONFIG, "test"), planned)
    known = set(there)
    numbers = [number for number in range(steer.PAIRS) if {2 * number, 2 * number + 1} <= known]
    plan, texts, questions = steer.pairs(), steer.SUBJECTIVE | steer.OBJECTIVE, steer.QUESTIONS
    each = len(SIDES) * len(questions)

    def read(place: int) -> Shown:
        number = numbers[place]
        name = OCCUPATIONS[plan.occupation[number]].replace("_", " ")
        items = planned[2 * number : 2 * number + 2]
        asks = tuple(
            Ask(PAIR, f"{item}/{question}", 0, texts[question].format(occupation=name), side)
            for side, item in enumerate(items)
            for question in questions
        )
        return Shown(asks, tuple(images.get(item) for item in items))

    stimuli = [Stimulus(f"{PAIR}/{number:04d}", PAIR, _kind(number), each) for number in numbers]
    return Part(PAIR, stimuli, read, MAX_TOKENS, TYPICAL_TOKENS[PAIR], steer.PAIRS * each, SETTINGS)


def _kind(number: int) -> str:
    """The stratum of a pair, such as `gender_age/stereotypical`: of image a; `no_figures` where they do not say."""
    combination = tuple(COMBINATIONS)[steer.pairs().combination[number]]
    return f"{combination}/{prompt_types(number)[0] or 'no_figures'}"


def _round(index: int) -> str:
    return f"{TOURNAMENT}/{GROUPS[index // ideal.ROUNDS]}/{index % ideal.ROUNDS:04d}"


BLANK_PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAYAAAAGACAIAAAArpSLoAAADqElEQVR42u3UMQEAAAzCMPybBhnbkUjo0RTgSCQADAgwIAADAgwIwIAAAwIwIM"
    "CAAAwIMCAAAwIMCMCAAAMCMCDAgAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCDAjAgAADAjAgwIAADAgwIAADAgwI"
    "wIAAAwIwIMCAAAwIMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADA"
    "gwIAADAgwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADAgwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAjAgAAD"
    "AgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgwI"
    "AADAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCDAjAgAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCDAgAAMCDAjA"
    "gAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADAgwIAADAgwIwIAAAwIMCMCAAAMCMCDAgAAMCD"
    "AgAAMCDAjAgAADAjAgwIAADAgwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMC"
    "MCDAgAAMCDAgAAMCDAgwIAkAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADAgwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAA"
    "MCDAjAgAADAjAgwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCMCDA"
    "gAAMCDAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCDAjAgAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCD"
    "AgAAMCDAjAgAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADAj4bqVIpNhrfr9CAAAAAElFTkSu"
    "QmCC"
)
"""A PNG file."""
