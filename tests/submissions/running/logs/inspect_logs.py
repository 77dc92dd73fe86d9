"""Make logs of Inspect for tests: `python -m tests.submissions.running.logs.inspect_logs FOLDER`.

FACT-OR-FAIR with two stimuli per task on a loopback model: whole, in parts, with settings, resumed, and by
`fairspace run`; and two judges of three narratives, one of which evaluates twice more.
"""

import os
import shutil
import sys
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from inspect_ai import eval as run_task
from inspect_ai import eval_retry

from fairspace.builders.genres.plan import pair_list
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.running.asking.answering import LOGS
from fairspace.submissions.running.asking.inspect_task import Chosen
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.folders import work_folder
from fairspace.submissions.running.judging.judging import judge
from fairspace.submissions.running.run import run as run_benchmark
from fairspace.submissions.running.settings import RunSettings
from tests.served import Fault, Served
from tests.served.stories import story

TASK = f"{Path(__file__).parents[4]}/submissions/tasks.py@fact_or_fair"
JUDGE_TASK = TASK.replace("@fact_or_fair", "@genres_judge")
MODEL = "openai-api/served/plain"
JUDGES = (MODEL, "openai-api/served/second")
QUIET: dict[str, Any] = {"display": "none", "score": False}
SETTINGS: dict[str, Any] = {
    "temperature": 0.25,
    "max_tokens": 50,
    "system_message": "Be\nfair.",
    "extra_headers": {"x-key": "secret"},
    "max_connections": 3,
}


def evaluate(file: Path, tasks: str = "", **options: Any) -> Path:
    arguments = {"limit": 2, "seed": 1, "tasks": tasks}
    (found,) = run_task(
        TASK, task_args=arguments, model=MODEL, log_dir=str(file.parent), max_samples=1, **QUIET, **options
    )
    return Path(found.location).rename(file)


def run(folder: Path) -> None:
    model = ModelSettings(MODEL, top_p=0.5, max_tokens=99)
    run_benchmark(RunSettings(Chosen("fact_or_fair", limit=2, seed=1), folder / "run", model, score=False))
    (made,) = (work_folder(folder / "run") / LOGS).glob("*.eval")
    made.rename(folder / "run.eval")


def judged(folder: Path) -> None:
    """A submission of narratives, the same judged by two models, and their logs."""
    pairs = pair_list()[:3]
    rows = [
        {"task": "narrative", "id": pair.id, "sample": 0, "response": story(pair.names, Random(pair.id))}
        for pair in pairs
    ]
    about = dict.fromkeys(("model", "revision", "organisation", "licence", "contact"), "x")
    meta = {"format": 1, "benchmark": "genres", "dataset_revision": "v1", "generation": {}, **about}
    told = write_submission(
        folder / "told", SubmissionMeta.model_validate(meta), {"responses": pa.Table.from_pylist(rows)}
    )
    shutil.copytree(told, folder / "judged")
    found = judge(folder / "judged", [ModelSettings(name) for name in JUDGES], revisions=["r1"], seed=3)
    for number, log in enumerate(found.logs):
        Path(log).rename(folder / f"judge-{number}.eval")
    shutil.copytree(told, folder / "repeated")
    made = judge(folder / "repeated", [ModelSettings(JUDGES[0])] * 2, revisions=["r1"], seed=3)
    for number, log in enumerate(made.logs):
        Path(log).rename(folder / f"repeated-{number}.eval")
    options = {"task_args": {"submission": str(told), "evaluation": 3}, "model": MODEL, "epochs": 2, **QUIET}
    (logged,) = run_task(JUDGE_TASK, log_dir=str(folder), max_samples=1, **options)
    Path(logged.location).rename(folder / "epochs.eval")


def main(folder: Path) -> None:
    with Served.start() as served:
        os.environ |= served.environment()
        evaluate(folder / "whole.eval")
        for task in ("llm_objective", "llm_subjective"):
            evaluate(folder / f"{task}.eval", task)
        evaluate(folder / "settings.eval", "llm_objective", **SETTINGS)
        run(folder)
        judged(folder)
        served.inject(Fault("status", status=400, times=None, skip=6))
        broken = evaluate(folder / "broken.eval", max_retries=0)
        served.inject()
        (retried,) = eval_retry(str(broken), log_dir=str(folder), **QUIET)
        Path(retried.location).rename(folder / "retried.eval")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
