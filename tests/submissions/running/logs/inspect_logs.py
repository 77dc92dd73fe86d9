"""Make logs of Inspect for tests: `python -m tests.submissions.running.logs.inspect_logs FOLDER`.

FACT-OR-FAIR with two stimuli per task on a loopback model: whole, in parts, with settings, resumed, and by
`fairspace run`.
"""

import os
import sys
from pathlib import Path
from typing import Any

from inspect_ai import eval as run_task
from inspect_ai import eval_retry

from fairspace.submissions.running.asking.answering import LOGS
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.folders import work_folder
from fairspace.submissions.running.run import run as run_benchmark
from fairspace.submissions.running.settings import RunSettings
from tests.served import Fault, Served

TASK = f"{Path(__file__).parents[4]}/submissions/tasks.py@fact_or_fair"
MODEL = "openai-api/served/plain"
QUIET: dict[str, Any] = {"display": "none", "score": False}
SETTINGS: dict[str, Any] = {
    "temperature": 0.25,
    "max_tokens": 50,
    "system_message": "Be\nfair.",
    "extra_headers": {"x-key": "secret"},
    "max_connections": 3,
}


def evaluate(file: Path, tasks: str = "", **options: Any) -> Path:
    arguments = {"limit": 2, "stratified": False, "seed": 1, "tasks": tasks}
    (found,) = run_task(
        TASK, task_args=arguments, model=MODEL, log_dir=str(file.parent), max_samples=1, **QUIET, **options
    )
    return Path(found.location).rename(file)


def run(folder: Path) -> None:
    model = ModelSettings(MODEL, top_p=0.5, max_tokens=99)
    run_benchmark(RunSettings(ChosenPart("fact_or_fair", limit=2, seed=1), folder / "run", model))
    (made,) = (work_folder(folder / "run") / LOGS).glob("*.eval")
    made.rename(folder / "run.eval")


def main(folder: Path) -> None:
    with Served.start() as served:
        os.environ |= served.environment()
        evaluate(folder / "whole.eval")
        for task in ("llm_objective", "llm_subjective"):
            evaluate(folder / f"{task}.eval", task)
        evaluate(folder / "settings.eval", "llm_objective", **SETTINGS)
        run(folder)
        served.inject(Fault("status", status=400, times=None, skip=6))
        broken = evaluate(folder / "broken.eval", max_retries=0)
        served.inject()
        (retried,) = eval_retry(str(broken), log_dir=str(folder), **QUIET)
        Path(retried.location).rename(folder / "retried.eval")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
