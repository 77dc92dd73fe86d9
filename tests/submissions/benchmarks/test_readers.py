import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.fact_or_fair.statistics import GROUPS
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.stereotypical_bias import plan
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.benchmarks.fact_or_fair.parse.objective import Question, read_objective
from fairspace.submissions.benchmarks.fact_or_fair.parse.options import read_lettered, read_subjective
from fairspace.submissions.benchmarks.genres.parse.fields import names_any
from fairspace.submissions.benchmarks.genres.parse.judge import narrative_reading, profile_reading, read_profile
from fairspace.submissions.benchmarks.genres.parse.persons import who
from fairspace.submissions.benchmarks.genres.parse.response import split
from fairspace.submissions.benchmarks.iris.parse.labels import read_label, read_rating
from fairspace.submissions.benchmarks.iris.parse.occupation import OpenTerm, read_occupation, read_winner
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.stereotypical_bias.parse import NOT_AVAILABLE, read_group, read_side
from fairspace.submissions.benchmarks.stereotypical_bias.parse.columns import LEFT, RIGHT, parse_group, parse_side
from fairspace.submissions.benchmarks.stereotypical_bias.parse.sides import Scene
from tests.machine_speed import takes_less
from tests.readings import measure, read_lines
from tests.submissions.answers.phrases import phrases

NURSE, NAMES = Scene("nurse", "female", "male"), ("Mia", "Jack")
FIVE = [OCCUPATIONS.index(name) for name in ("nurse", "waiter", "soccer_player", "judge", "patient")]
OFFERED = [(name, 30, "female", "Asian") for name in ("Taylor", "Jordan", "Riley", "Morgan")]
PEOPLE = [("Alex", 31, "male", "Black"), ("Drew", 45, "female", "White")]
PEOPLE += [("Charlie", 27, "male", "Asian"), ("Jamie", 52, "female", "Hispanic")]
DESCRIBED = [dict(zip(("name", "age", "gender", "race"), person, strict=True)) for person in PEOPLE]
"""Options A to D of a line that is compared as labelled answers are."""


def fact_or_fair(line: dict[str, Any]) -> Any:
    answer = line["answer"]
    if line["reader"] == "subjective":
        return choice(read_subjective(answer, OFFERED))
    if line["reader"] == "lettered":  # A is Female, B is Male
        return choice(read_lettered(answer, Question("gender", "highest"), ("Female", "Male")))
    return choice(read_objective(answer, Question(line["attribute"], line["level"])))


def stereotypical_bias(line: dict[str, Any]) -> Any:
    answer, reader = line["answer"], line["reader"]
    if reader == "authors side":
        return {LEFT: "left", RIGHT: "right"}.get(parse_side(answer), "-")
    if reader.startswith("authors "):  # the words of Table A2, of either attribute
        attribute = reader.removeprefix("authors ")
        code = parse_group(answer, attribute)
        return "-" if code == NOT_AVAILABLE else plan.GROUPS[attribute][code]
    reading = read_side(answer, NURSE) if reader in ("side", "box") else read_group(answer, reader)
    assert reading.span is None or not reading.value or answer[slice(*reading.span)].strip()
    assert reader != "side" or not reading.value or reading.span is not None
    return choice(reading)


def iris(line: dict[str, Any]) -> Any:
    """The value, else the outcome, else the term for tier 2."""
    answer, reader = line["answer"], line["reader"]
    if reader == "occupation":
        found = read_occupation(answer)
        if isinstance(found, OpenTerm):
            return f"? {found.phrase}"
    elif reader == "label":
        found = read_label(answer, line["question"])
    else:
        found = read_rating(answer) if reader == "rating" else read_winner(answer, FIVE)
    return found.value if found.outcome == "choice" else found.outcome


def genres(line: dict[str, Any]) -> Any:
    answer, reader = line["answer"], line["reader"]
    if reader == "spelling":
        return who(answer, tuple(line["names"]))
    if reader == "quality":
        return names_any(answer, NAMES)
    if reader == "judge":
        return narrative_reading(answer, NAMES).outcome
    if reader == "personality":
        profile = read_profile(answer)
        return None if profile is None else list(profile.words)
    parts = split(answer, NAMES)
    return parts.refused if reader == "refused response" else [list(parts.profiles), parts.narrative]


def choice(reading: Reading) -> Any:
    return reading.value if reading.outcome == "choice" else "-"


def compared(name: str, line: dict[str, Any]) -> Any:
    """The reading of a line as of labelled answers; None without a choice."""
    known = {**line, "gold": "none"} | ({"profiles": DESCRIBED} if line["task"] == "subjective" else {})
    (found,) = benchmark(name).answers.compare(known)
    return None if found.read in ("none", "refused", "several") else found.read


PHRASE_READERS = {
    "fact_or_fair": fact_or_fair,
    "stereotypical_bias": stereotypical_bias,
    "iris": iris,
    "genres": genres,
}


@pytest.mark.parametrize(
    ("name", "line"),
    [(name, line) for name in PHRASE_READERS for line in phrases(name) if "gold" in line],
    ids=lambda part: part if isinstance(part, str) else part["reader"],
)
def test_an_answer_is_read_as_a_careful_person_reads_it(name: str, line: dict[str, Any]) -> None:
    found = compared(name, line) if line["reader"] == "compared" else PHRASE_READERS[name](line)
    assert found == line["gold"], line


LABELLED = Path(__file__).parents[2] / "data" / "readings"
PARTS = {
    "fact_or_fair": ("objective", "objective_authors", "subjective"),
    "stereotypical_bias": ("vision_gender", "vision_race", "language_gender", "language_race"),
    "genres": ("status", "main", "pros_cons", "personality", "narrative", "profile"),
}


@pytest.mark.parametrize("name", PARTS)
def test_labelled_answers_are_read_as_a_person_reads_them(name: str) -> None:
    tasks = measure(read_lines([LABELLED / f"{name}.jsonl"])).tasks
    assert set(tasks) == {f"{name}/{part}" for part in PARTS[name]}
    for task, of in tasks.items():
        assert of.right >= 0.98 * of.answers, task
        assert of.false + of.invented <= (0 if name == "stereotypical_bias" else 0.01) * of.answers, task
        assert of.families_alike >= 0.98 * of.families, task
        if name != "genres" and of.male and of.female:
            assert abs(of.right_male / of.male - of.right_female / of.female) < 0.01, task


SMOLLM2 = {
    "stereotypical_bias/language_gender": (78, 77, 1, 0),
    "stereotypical_bias/language_race": (342, 336, 4, 2),
    "fact_or_fair/objective_authors": (40, 34, 6, 0),
    "fact_or_fair/subjective": (38, 36, 2, 0),
}
"""Task -> answers, right readings, false ones, and choices not read."""


def test_answers_of_a_real_model_that_were_labelled_before_they_were_read() -> None:
    tasks = measure(read_lines([LABELLED / "real" / "smollm2.jsonl"])).tasks
    assert {name: (of.answers, of.right, of.false + of.invented, of.lost) for name, of in tasks.items()} == SMOLLM2


ASKED = Question("race", "highest")
READERS: dict[str, tuple[int, Callable[[str], Sequence[Any]]]] = {
    "options": (
        10**6,
        lambda text: [
            read_subjective(text, OFFERED),
            read_objective(text, ASKED),
            read_lettered(text, ASKED, GROUPS["race"]),
        ],
    ),
    "side": (10**6, lambda text: [read_side(text, NURSE)]),
    "group": (10**6, lambda text: [read_group(text, "gender"), read_group(text, "race")]),
    "occupation": (10**6, lambda text: [read_occupation(text)]),
    "pair": (10**6, lambda text: [read_rating(text), read_label(text, "e"), read_label(text, "d")]),
    "judge": (
        20_000,
        lambda text: [
            narrative_reading(text, NAMES),
            narrative_reading(json.dumps({"Answer to Task1.a": text[:9_000], "Pros of Mia": text[:9_000]}), NAMES),
            profile_reading(text),
        ],
    ),
    "response": (20_000, lambda text: [split(text, NAMES)]),
}
"""Reader -> characters of a hostile answer, and its readings."""
UNITS: dict[str, Sequence[str]] = {
    "options": [
        *("A", "(", "answer ", "\n", "A, ", ",", "white, not black, ", "highest ", "{", "Wait, ", "female 1 male 2 "),
        *("I choose ", "a. b. c. d. ", "A. B. C. D. ", "the answer is "),
    ],
    "side": [
        *("on the left and on the right ", "[[", "[1, 2, ", "(1, 2) ", "<box>", "nurse, ", "not the nurse "),
        *("x1: 5, y1: 7, ", "left     ", "\n- ", "a man "),
    ],
    "group": ["a white or a black ", "is a man ", "a man ", "not a woman, ", "as men are ", "the black and white "],
    "occupation": ["a ", "He is a ", "or ", "(", "<"],
    "pair": ["7 ", "yes ", "not ", "1-", "no,", "wait "],
    "judge": [
        *("{", "[", '"', "'", "(", "Mia ", "Mia and ", "a: ", "1.a: Mia ", "Pros of Mia: ", '{"a": ', "answer: "),
        *("|", "no, "),
    ],
    "response": ["*", " ", "#", "1.", "Mia ", "-\n", "Profile of ", ". ", "(", "trait "],
}


@pytest.mark.parametrize(("reader", "unit"), [(reader, unit) for reader, units in UNITS.items() for unit in units])
def test_a_hostile_answer_is_read_in_passing(reader: str, unit: str) -> None:
    size, read = READERS[reader]
    answer = (unit * (size // len(unit) + 1))[:size] + ("\nB" if reader == "options" else "")
    assert takes_less(lambda: read(answer), {"options": 3, "group": 2}.get(reader, 1))
    spans = [reading.narrative_span if reader == "response" else reading.span for reading in read(answer)]
    assert all(span is None or 0 <= span[0] <= span[1] <= len(answer) + 9_100 for span in spans)
