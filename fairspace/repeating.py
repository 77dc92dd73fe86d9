"""`fairspace.stability`: how alike one model's answers to the same questions are when it is asked several times.

The quantities are those that lmms-eval shows of k samples a question (EvolvingLMMs-Lab/lmms-eval, pull request 997):
expected accuracy is the `mean` of a value over the runs, consensus accuracy its `consensus`, the consistency rate
`same`; the variance within a question is the disagreement of two runs, 1 - `agreement`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from fairspace.answers import score, submission_of
from fairspace.submissions.answers.likeness import TaskAnswers, answers_of, by_chance, share
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.plotting import digits, percent, share_text
from fairspace.submissions.results.result import Result
from fairspace.submissions.show.headline import first_values
from fairspace.submissions.show.table import Table, wrapped

LEGEND = (
    "same: questions that all runs answer alike. agreement: likeness of two runs (of choices the same one, of stories "
    "and images the share of common words or labels). chance: likeness of answers to different questions. spread: "
    "standard deviation over the runs. low, high: 95 % interval of one run, which is of other questions."
)
REPEATED = "All runs gave the same answers: a model asked at temperature 0, or with one seed, repeats itself."


@dataclass(frozen=True, repr=False)
class Stability:
    """Stability of a model's answers and values over several runs; shows itself as text.

    `tasks`, by name: `questions` that all runs answered, of those `asked`; `same`, the share with one answer in all
    runs, and `agreement`, the mean likeness of two runs, each with `_low` and `_high` (95 %, clustered by item);
    `chance`, the likeness of answers to different questions. All are from 0 to 1.
    `values`, by name: `title`, `mean` and `spread` (standard deviation) over the runs, `least`, `most`; `interval_low`,
    `interval_high`: mean ends of the runs' 95 % intervals; `consensus`: the value of the most frequent answers, of
    choices alone. NaN if a run has no number.
    `questions`: `task`, `id`, `sample`, `agreement`, number of different `answers`, and the `consensus` of choices.
    """

    about: str
    tasks: pd.DataFrame
    values: pd.DataFrame
    questions: pd.DataFrame

    def to_json(self) -> dict[str, Any]:
        """`about`, `tasks` and `values` as JSON data; None for NaN."""
        frames = {"tasks": self.tasks, "values": self.values}
        rows = {name: frame.astype(object).where(frame.notna(), None) for name, frame in frames.items()}
        return {"about": self.about, **{name: frame.to_dict("index") for name, frame in rows.items()}}

    def __repr__(self) -> str:
        def text(row: Mapping[str, float], name: str) -> str:
            return share_text(row[name], row[f"{name}_low"], row[f"{name}_high"])

        answers = [
            (name, f"{row['questions']:,}", text(row, "same"), text(row, "agreement"), percent(row["chance"]))
            for name, row in self.to_json()["tasks"].items()
        ]
        shown = ("mean", "spread", "interval_low", "interval_high", "consensus")
        values = [(row["title"], *(digits(row[name]) for name in shown)) for row in self.to_json()["values"].values()]
        tables = (
            Table(("task", "questions", "same, 95 %", "agreement, 95 %", "chance"), answers),
            Table(("value", "mean", "spread", "low", "high", "consensus"), values),
        )
        return "\n\n".join([wrapped(self.about), *(table.to_text() for table in tables), wrapped(LEGEND)])


def stability(*runs: Any, benchmark: str = "", dataset_revision: str = "", resamples: int | None = None) -> Stability:
    """Stability of a model that was asked the same questions twice or more, each time with another seed.

    `runs`: answers of each run; they and the other arguments are as in `fairspace.score`.

    Errors: those of `fairspace.score`; UsageError for less than two runs, or for different models or revisions.
    """
    if len(runs) < 2:
        raise UsageError("Name two runs of one model, or more: fs.stability(first, second).")
    handed_in = [submission_of(run, benchmark, dataset_revision=dataset_revision, allow_images=False) for run in runs]
    names = [f"{of.model} on {of.benchmark} {of.dataset_revision}" for of in (each.meta for each in handed_in)]
    if len({*names}) > 1:
        raise UsageError(f"The runs are of {' and of '.join(dict.fromkeys(names))}. Expected: one model and revision.")
    answered = [answers_of(submission) for submission in handed_in]
    parts = {
        task: _task([run[task] for run in answered]) for task in answered[0] if all(task in run for run in answered)
    }
    tasks = {task: row for task, (row, _) in parts.items() if row["questions"]}
    if not tasks:
        raise UsageError("No question was answered in all runs. Expected: runs of the same questions.")
    every = pd.concat([parts[task][1].assign(task=task) for task in tasks], ignore_index=True)
    consensus = None
    if every["consensus"].notna().all() and all({*submission.tables} == {"responses"} for submission in handed_in):
        consensus = score(_of_most(handed_in, every), resamples=0)
    about = f"{len(runs)} runs of {names[0]}. {'' if (every['answers'] > 1).any() else REPEATED}".strip()
    results = [score(submission, resamples=resamples) for submission in handed_in]
    columns = ["task", "id", "sample", "agreement", "answers", "consensus"]
    values = pd.DataFrame.from_dict(_values(results, consensus), orient="index")
    return Stability(about, pd.DataFrame.from_dict(tasks, orient="index"), values, every[columns])


def _task(runs: Sequence[TaskAnswers]) -> tuple[dict[str, float], pd.DataFrame]:
    """A row of `Stability.tasks`, and the questions with the number of the first `run` that gave the consensus."""
    keys = [key for key in runs[0].text if all(key in run.text for run in runs)]
    answers = [[run.text[key] for run in runs] for key in keys]
    alike, words = runs[0].likeness, runs[0].words
    most = [None if words else Counter(texts).most_common(1)[0][0] for texts in answers]
    frame = pd.DataFrame(keys, columns=["id", "sample"])
    frame["agreement"] = [float(np.mean([alike(*two) for two in combinations(texts, 2)])) for texts in answers]
    frame["answers"], frame["consensus"] = [len({*texts}) for texts in answers], most
    frame["run"] = [texts.index(text) if text else 0 for texts, text in zip(answers, most, strict=True)]
    row: dict[str, float] = {"questions": len(keys), "asked": len({key for run in runs for key in run.text})}
    if keys:
        item = np.unique([item for item, _ in keys], return_inverse=True)[1].astype(np.int64)
        for name, values in (("same", frame["answers"] == 1), ("agreement", frame["agreement"])):
            of = np.asarray(values, np.float64)
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), share(of, item), strict=True))
        row["chance"] = by_chance(alike, *([texts[at] for texts in answers] for at in (0, 1)))
    return row, frame


def _of_most(handed_in: Sequence[Submission], questions: pd.DataFrame) -> Submission:
    """A submission with the most frequent reading's answer to each question."""
    keys = ["task", "id", "sample"]
    run_of = questions.set_index(keys)["run"]
    tables = [
        table.filter(pa.array((table.select(keys).to_pandas().join(run_of, on=keys)["run"] == number).to_numpy()))
        for number, table in enumerate(submission.tables["responses"] for submission in handed_in)
    ]
    return replace(handed_in[0], tables={"responses": pa.concat_tables(tables)}, digest="")


def _values(results: Sequence[Result], consensus: Result | None) -> dict[str, dict[str, Any]]:
    """The rows of `Stability.values`: the first values of the benchmark that all results have."""
    shown = [first_values(result) for result in results]
    of_most = {} if consensus is None else first_values(consensus)
    bench = find_benchmark(results[0].benchmark)
    rows = {}
    for name in shown[0]:
        each = [values[name] for values in shown if name in values]
        numbers = np.array([np.nan if value.value is None else value.value for value in each])
        if len(each) == len(shown) and any(value.state != "not_run" for value in each):
            low, high = np.mean([value.interval or (np.nan, np.nan) for value in each], axis=0)
            row = {"title": bench.describe(name) or name, "mean": numbers.mean(), "spread": numbers.std(ddof=1)}
            row |= {"least": numbers.min(), "most": numbers.max(), "interval_low": low, "interval_high": high}
            rows[name] = row | {"consensus": of_most[name].value if name in of_most else None}
    return rows
