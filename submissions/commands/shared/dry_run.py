"""`fairspace run --dry-run`: what a run will take, and the smallest difference that it can show.

Nothing is asked, but for the few requests of `--probe`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fairspace.submissions.commands.app import print_json
from fairspace.submissions.errors import UsageError

if TYPE_CHECKING:
    from fairspace.submissions.running.asking.inspect_task import Chosen
    from fairspace.submissions.running.asking.models import ModelSettings
    from fairspace.submissions.validity.measured_error import MeasuredError


@dataclass(frozen=True)
class DryRun:
    """What the options that only `--dry-run` takes say.

    Args:
        images_only: leave out what is answered with text.
        judges: judges of genres.
        seconds_per_request: measured; None takes an estimate, likewise `seconds_per_image`.
        image_tokens: tokens of an image that is shown; None takes OpenAI's rule.
        like: a submission of a similar model, whose samples say what this run's errors will be; None assumes them.
        as_json: print JSON.
        probe: seconds for which the model is asked; None asks nothing.
    """

    images_only: bool
    judges: tuple[str, ...]
    seconds_per_request: float | None
    seconds_per_image: float | None
    image_tokens: int | None
    like: Path | None
    as_json: bool
    probe: float | None = None

    def check_unused(self) -> None:
        """UsageError if one of these options is set, for a run that asks."""
        options: Mapping[str, object] = {
            "--images-only": self.images_only,
            "--judge": self.judges,
            "--seconds-per-request": self.seconds_per_request is not None,
            "--seconds-per-image": self.seconds_per_image is not None,
            "--image-tokens": self.image_tokens is not None,
            "--like": self.like is not None,
            "--json": self.as_json,
            "--probe": self.probe is not None,
        }
        if used := [name for name, value in options.items() if value]:
            raise UsageError(f"{', '.join(used)} can only be given with --dry-run; add it, or leave the option out.")

    def show(self, chosen: Chosen, model: ModelSettings, images: str, prices: Path | None) -> None:
        """Print the plan of a run. RunError for a task that the benchmark lacks, or prices that lack a model."""
        from fairspace.submissions.commands.show.plan import show_plan
        from fairspace.submissions.running.asking.inspect_task import Opened, open_benchmark
        from fairspace.submissions.running.asking.prices import read_prices
        from fairspace.submissions.running.planning.images import made_parts
        from fairspace.submissions.running.planning.plan import PlanSettings, plan
        from fairspace.submissions.running.planning.probe import probe
        from fairspace.submissions.running.planning.repeats import computes_repeats_once
        from fairspace.submissions.running.run import check_tasks, text_tasks

        check_tasks(chosen)
        texts = () if self.images_only else text_tasks(chosen)
        opened = open_benchmark(replace(chosen, tasks=texts)) if texts else Opened(chosen, {}, {})
        image_parts = made_parts(chosen) if images or self.images_only else []
        if self.probe is not None and not (model.name and texts):
            raise UsageError("--probe asks the model that answers: name it with --model, and leave out --images-only.")
        temperature = model.effective(opened.settings).get("temperature")
        once = computes_repeats_once(model.name, model.arguments, temperature)
        settings = PlanSettings(
            model=model.name,
            image_model=images,
            judges=self.judges,
            prices=read_prices(prices) if prices else None,
            concurrency=model.connections,
            max_tokens=model.max_tokens,
            repeats_once=once,
            tried={} if self.probe is None else probe(opened, model, self.probe, once=once),
            seconds_per_request=self.seconds_per_request,
            seconds_per_image=self.seconds_per_image,
            image_tokens=self.image_tokens,
        )
        measured = [] if self.like is None else _measured(self.like, chosen.benchmark)
        planned = plan(opened, settings, image_parts, measured)
        if self.as_json:
            print_json(planned.to_json())
        else:
            show_plan(planned)


def _measured(path: Path, benchmark: str) -> list[MeasuredError]:
    """The errors of a submission's values. UsageError if it is to another benchmark."""
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
    from fairspace.submissions.commands.shared.checked import checked_submission
    from fairspace.submissions.validity.measured_error import measured_errors

    submission = checked_submission(path)
    if submission.meta.benchmark != benchmark:
        raise UsageError(f"--like {path} is a submission to {submission.meta.benchmark}; name one to {benchmark}.")
    bench = find_benchmark(benchmark)
    return measured_errors(bench.studies(bench.read(submission)))
