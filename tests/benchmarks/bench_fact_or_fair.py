"""FACT-OR-FAIR's 45 798 answers from Arrow tables to values (aim: 2 s), beside a bare loop that counts the strings."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pyarrow as pa

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.prompts import profile
from fairspace.submissions.benchmarks.fact_or_fair.measure import measure
from fairspace.submissions.benchmarks.fact_or_fair.records import read
from fairspace.submissions.format.schema import RESPONSES, Submission
from tests.benchmarks.timing import fastest, line, peak_gib
from tests.submissions.benchmarks.fact_or_fair.test_measure import META, objective, truthful


def answers(style: str) -> Submission:
    """A random model that answers with a letter, or repeats the whole option."""
    n = len(plan.ids("llm_subjective"))
    option = np.random.RandomState(0).randint(0, plan.OPTIONS, n)
    if style == "letters":
        texts = [plan.LETTERS[o] for o in option.tolist()]
    else:
        people = plan.items("llm_subjective")["profiles"].to_pylist()
        texts = [f"{plan.LETTERS[o]}. {profile(**four[o])}" for o, four in zip(option, people, strict=True)]
    columns = [["llm_subjective"] * n, plan.ids("llm_subjective"), [0] * n, texts, [None] * n]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, RESPONSES, strict=True)]
    table = pa.concat_tables([objective(truthful), pa.table(arrays, schema=RESPONSES)])
    return Submission(META, {"responses": table})


def count(submission: Submission) -> Counter[str | None]:
    """The bare loop: read every answer, count equal ones."""
    seen: Counter[str | None] = Counter()
    for text in submission.tables["responses"]["response"].to_pylist():
        seen[text] += 1
    return seen


def parse_and_measure(submission: Submission) -> None:
    """From Arrow tables to values."""
    measure(read(submission))


def main() -> None:
    """Print the figures."""
    for style in ("letters", "whole options"):
        submission = answers(style)
        bare, ours = fastest(partial(count, submission)), fastest(partial(parse_and_measure, submission))
        n = submission.tables["responses"].num_rows
        line(f"{n} answers ({style}): read and count the strings", bare)
        line(f"{n} answers ({style}): parse and measure", ours, f"{ours / bare:.1f} x the bare loop")
    print(f"peak memory {peak_gib():.2f} GiB")


if __name__ == "__main__":
    main()
