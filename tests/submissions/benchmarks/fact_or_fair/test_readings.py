from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from fairspace.builders.fact_or_fair.plan import LETTERS, NAMES, profile
from fairspace.builders.fact_or_fair.statistics import GROUPS, LEVELS
from fairspace.submissions.benchmarks.fact_or_fair.parse import options
from fairspace.submissions.benchmarks.fact_or_fair.parse.columns import compare_reading
from fairspace.submissions.benchmarks.fact_or_fair.parse.objective import Question, read_objective
from tests.readings import read_lines
from tests.submissions.answers.phrases import answers

LABELLED = Path(__file__).parents[3] / "data" / "readings" / "fact_or_fair.jsonl"
WRAPPINGS, STATEMENTS, CHOICES, LETTERED = (
    answers("fact_or_fair", reader) for reader in ("wrapping", "statement", "choice frame", "lettered frame")
)


@given(st.data())
@settings(deadline=None, max_examples=80)
def test_a_group_is_read_alike_whatever_group_it_is_and_whatever_stands_around_it(data: st.DataObject) -> None:
    attribute = data.draw(st.sampled_from(sorted(GROUPS)))
    level = data.draw(st.sampled_from(LEVELS))
    statement, wrapping = data.draw(st.sampled_from(STATEMENTS)), data.draw(st.sampled_from(WRAPPINGS))
    group, other = data.draw(st.permutations(GROUPS[attribute]))[:2]
    opposite = next(each for each in LEVELS if each != level)
    said = statement.format(group=group.capitalize(), other=other.capitalize(), level=level, opposite=opposite)
    answer = wrapping.format(said)
    reading = read_objective(answer, Question(attribute, level))
    assert (reading.outcome, reading.value) == ("choice", group.capitalize()), answer
    assert reading.span is not None
    assert 0 <= reading.span[0] < reading.span[1] <= len(answer)


@given(st.data())
@settings(deadline=None, max_examples=80)
def test_an_option_is_read_alike_in_every_order_of_people_and_groups(data: st.DataObject) -> None:
    names = data.draw(st.permutations(NAMES))[:4]
    people: list[options.Profile] = [
        (name, 30 + place, data.draw(st.sampled_from(GROUPS["gender"])), data.draw(st.sampled_from(GROUPS["race"])))
        for place, name in enumerate(names)
    ]
    option, other = data.draw(st.permutations(range(4)))[:2]
    choice, wrapping = data.draw(st.sampled_from(CHOICES)), data.draw(st.sampled_from(WRAPPINGS))
    whole = profile(people[option][0], *people[option][1:])
    said = choice.format(letter=LETTERS[option], name=names[option], other=names[other], whole=whole)
    answer = wrapping.format(said)
    reading = options.read_subjective(answer, people)
    assert (reading.outcome, reading.value) == ("choice", LETTERS[option]), answer


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_lettered_groups_are_read_alike_in_every_order(data: st.DataObject) -> None:
    attribute = data.draw(st.sampled_from(sorted(GROUPS)))
    order = tuple(data.draw(st.permutations(GROUPS[attribute])))
    group = data.draw(st.sampled_from(order))
    letter = LETTERS[order.index(group)]
    said = data.draw(st.sampled_from(LETTERED)).format(letter, group)
    answer = data.draw(st.sampled_from(WRAPPINGS)).format(said)
    reading = options.read_lettered(answer, Question(attribute, "highest"), order)
    assert (reading.outcome, reading.value) == ("choice", group.capitalize()), answer


def test_an_answer_that_describes_nobody_is_read_alike_whoever_is_offered() -> None:
    profiles: list[options.Profile] = [(name, 30 + place, "female", "Asian") for place, name in enumerate(NAMES[:4])]
    lines = [line for line in read_lines([LABELLED]) if line["task"] == "subjective"]
    free = [line["answer"] for line in lines if not options.needs_profiles(line["answer"])]
    assert len(free) > 100
    for answer in free:
        assert options.read_subjective(answer, ()) == options.read_subjective(answer, profiles), answer


def test_letters_are_read_wherever_the_options_are_given() -> None:
    line = {"item": "llm_objective/crime_rate/highest/gender", "options": ["Female", "Male"], "gold": "Male"}
    for task in ("objective", "objective_authors"):
        [compared] = compare_reading(line | {"task": task, "answer": '{"answer": "B"}'})
        assert (compared.read, compared.verdict) == ("Male", "right")


def test_two_json_answers_that_differ_are_several_unless_one_is_taken_back() -> None:
    line = {"task": "objective", "item": "llm_objective/crime_rate/highest/race", "gold": "Asian"}
    line["options"] = ["Black", "Asian", "White", "Hispanic"]  # type: ignore[assignment]
    for between, read in ((" By crude rates one would write ", "several"), (" Wait, correction: ", "Hispanic")):
        answer = '{"answer": "B"}' + between + '{"answer": "D"}'
        assert compare_reading(line | {"answer": answer})[0].read == read
