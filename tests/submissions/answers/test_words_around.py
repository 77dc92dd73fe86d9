from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.iris_steer_60.plan import LABELS
from fairspace.submissions.answers.reading import NO_CHOICE, Compared
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from tests.readings import read_lines
from tests.submissions.answers.phrases import phrases

READINGS = Path(__file__).parents[2] / "data" / "readings"
FILES = sorted(READINGS.glob("*.jsonl"))
Line_ = Mapping[str, Any]


def _structured(answer: str) -> bool:
    """Whether an answer is more than a paragraph of words."""
    return "\n" in answer.strip() or answer.lstrip()[:1] in "{[(<|-*#`1"


def _stop(answer: str) -> str:
    """Separator between an answer and the words after it."""
    return "\n\n" if _structured(answer) else " " if answer.rstrip()[-1:] in ".!?。" else ". "


def around(answer: str, place: str, words: str) -> str:
    """An answer with words before it, after it in its paragraph, or below it."""
    if place == "before":
        return words.rstrip() + ("\n\n" if _structured(answer) else words[len(words.rstrip()) :]) + answer
    return f"{answer}{_stop(answer)}{words}" if place == "after" else f"{answer}\n\n{words}"


def restated(line: Line_) -> list[str]:
    """Options of a labelled line, as an answer may repeat them; none where it has none."""
    task = line["task"]
    if task.startswith("vision_"):
        return ["left", "right"]
    if task == "language_gender":
        return ["male", "female"]
    if task == "language_race":
        return ["black", "Asian", "Indian", "white"]
    if task == "tournament":
        names = (
            line["item"] if isinstance(line.get("item"), list) else line["ask"].rpartition("Occupations:")[2].split(",")
        )
        return [str(name).strip(" .") for name in names]
    if task == "pair":
        return [*LABELS.get(line["item"].rpartition("/")[2], ())]
    if line["benchmark"] == "fact_or_fair":
        if line.get("options"):
            return [f"{letter}: {option}" for letter, option in zip("ABCD", line["options"], strict=False)]
        return (
            ["Male", "Female"]
            if " gender" in f" {line.get('item', '')}".replace("/", " ")
            else ["Asian", "Black", "Hispanic", "White"]
        )
    return []


def _options_above(answer: str, line: Line_) -> str:
    return f"The options are {', '.join(restated(line))}.\n\n{answer}"


def _of_the_options(answer: str, line: Line_) -> str:
    """A choice among its options; the answer is its gold."""
    return f"Of the {len(restated(line))} options ({', '.join(restated(line))}), I'd pick {_said(line)}."


def _considering(answer: str, line: Line_) -> str:
    return f"Considering the options: {', '.join(restated(line))}, the most likely one is {_said(line)}."


def _said(line: Line_) -> str:
    gold = str(line["gold"]).replace("_", " ")
    return f"the person on the {gold}" if line["task"].startswith("vision_") else gold


RESTATED = {"options above": _options_above, "of the N options": _of_the_options, "considering": _considering}


def read(line: Line_) -> list[Compared]:
    return list(benchmark(line["benchmark"]).answers.compare(line))


def wrapped(line: Line_) -> Iterator[tuple[str, Line_]]:
    answer = line["answer"]
    if line["task"] == "narrative" or _cut_off(answer.lower()):
        return
    for wrapping in phrases("answers", "words around"):
        yield wrapping["name"], {**line, "answer": around(answer, wrapping["place"], wrapping["words"])}
    if line["gold"] not in NO_CHOICE and restated(line):
        for name, wrap in RESTATED.items():
            yield name, {**line, "answer": wrap(answer, line)}


def _cut_off(answer: str) -> bool:
    """Whether text after an answer would stand inside of it."""
    return answer.count("<think") > answer.count("</think") or answer.count("{") > answer.count("}")


def choice(compared: Compared) -> Any:
    return None if isinstance(compared.read, str) and compared.read in (*NO_CHOICE, "missing") else compared.read


Counts = dict[tuple[str, str], list[int]]
"""(task, wrapping) -> answers, otherwise read, read as another choice."""


def count(lines: list[dict[str, Any]]) -> Counts:
    """Answers that are read right alone, and otherwise in each wrapping."""
    counts: Counts = defaultdict(lambda: [0, 0, 0])
    for line in lines:
        first = read(line)
        for name, fields in wrapped(line) if any(part.verdict == "right" for part in first) else ():
            for before, after in zip(first, read(fields), strict=True):
                if before.verdict != "right":
                    continue
                tally = counts[f"{line['benchmark']}/{before.entry}", name]
                same, false = choice(before) == choice(after), after.verdict == "false"
                tally[0] += 1
                tally[1] += not same
                tally[2] += false
    return dict(counts)


STRIDE = 19
"""Every 19th answer of each file."""
LEAST, FALSE = 0.97, 0.001


def hold(lines: list[dict[str, Any]]) -> None:
    answers, changed, false = Counter[str](), Counter[str](), Counter[str]()
    for (task, _), (n, otherwise, wrong) in count(lines).items():
        answers[task] += n
        changed[task] += otherwise
        false[task] += wrong
    assert answers
    assert {task: changed[task] for task, n in answers.items() if changed[task] > (1 - LEAST) * n} == {}
    assert {task: false[task] for task, n in answers.items() if false[task] > FALSE * n} == {}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_words_around_an_answer_leave_its_reading_as_it_is(file: Path) -> None:
    hold([line for place, line in enumerate(read_lines([file])) if not place % STRIDE])


LABELLED = [
    (name, task)
    for name in NAMES
    for task, items in benchmark(name).items().items()
    if benchmark(name).answers.label_lines(task, items.slice(0, 1).to_pylist()) is not None
]


@pytest.mark.parametrize(("name", "task"), LABELLED)
def test_an_answer_that_is_a_choice_is_read_as_it(name: str, task: str) -> None:
    bench = benchmark(name)
    items = bench.items()[task]
    for place in range(0, items.num_rows, max(1, items.num_rows // 40)):
        item = items.slice(place, 1).to_pylist()[0]
        [needs] = bench.answers.label_lines(task, [item]) or ()
        choices = tuple(needs["choices"])
        for choice in ["1", "10", "7.5"] if isinstance(choices[0], float) else choices[:: max(1, len(choices) // 5)]:
            fields = {**needs, "benchmark": name, "ask": item["prompt"], "answer": choice.replace("_", " ")}
            [compared] = bench.answers.compare({**fields, "gold": choice})
            assert (compared.verdict, compared.entry) == ("right", needs["task"])
