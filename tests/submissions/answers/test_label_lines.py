"""What the benchmarks give to labelling: every choice that a person can type is a gold that the task can have."""

from __future__ import annotations

import pytest

from fairspace.submissions.benchmarks.registry import NAMES, benchmark

LABELLED = [
    (name, task)
    for name in NAMES
    for task, items in benchmark(name).items().items()
    if benchmark(name).answers.label_line(task, items.slice(0, 1).to_pylist()[0]) is not None
]


@pytest.mark.parametrize(("name", "task"), LABELLED)
def test_an_answer_that_is_a_choice_is_read_as_it(name: str, task: str) -> None:
    bench = benchmark(name)
    items = bench.items()[task]
    for place in range(0, items.num_rows, max(1, items.num_rows // 40)):
        item = items.slice(place, 1).to_pylist()[0]
        needs = bench.answers.label_line(task, item)
        assert needs is not None
        choices = tuple(needs["choices"])
        for choice in ["1", "10", "7.5"] if isinstance(choices[0], float) else choices[:: max(1, len(choices) // 5)]:
            fields = {**needs, "benchmark": name, "ask": item["prompt"], "answer": choice.replace("_", " ")}
            [compared] = bench.answers.compare({**fields, "gold": choice})
            assert (compared.verdict, compared.entry) == ("right", needs["task"])
