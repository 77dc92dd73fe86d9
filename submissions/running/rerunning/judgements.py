"""A random part of handed-in judgements, asked again of the judge that the submission declares, with its settings.

Compared are the parts that enter a score: the traits of a profile by shared words; a narrative's status, main
character, and pros and cons by equality.

OUT/judge-first/    journal and logs of the judge
OUT/judge-second/   those of a second time, if the first does not settle it
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairspace.submissions.benchmarks.asks import Part
from fairspace.submissions.benchmarks.genres.parse.judge import NOTHING, read_narrative, read_profile
from fairspace.submissions.benchmarks.genres.parse.persons import Names
from fairspace.submissions.benchmarks.genres.records import pros_and_cons
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.reading.canonical import tables_digest
from fairspace.submissions.running.asking.answering import answer
from fairspace.submissions.running.asking.inspect_task import Chosen
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.folders import public_name
from fairspace.submissions.running.judging.asks import ANALYSIS, ANALYSIS_SINGLE, PART, Judging, open_judging
from fairspace.submissions.running.rerunning.draw import ITEMS, Answers, Key, rank
from fairspace.submissions.running.rerunning.rerun import (
    Ask,
    JudgeOutcome,
    as_stated,
    asked_until_settled,
    other_seed,
    part_seed,
)
from fairspace.submissions.running.settings import Tell

Rows = Iterable[Mapping[str, Any]]
UNREADABLE = "unreadable"


def judge_again(
    submission: Submission,
    model: ModelSettings,
    out: Path,
    *,
    items: int = ITEMS,
    tell: Tell = lambda what, done, total: None,
) -> JudgeOutcome:
    """Ask a judge at least `items` random judgements again, or go on in the same folder, whose seed draws them.

    The declared judge's temperature, top p and tokens are the submission's.

    Errors: UsageError without judgements; RunError MODEL_UNKNOWN, MODEL_SILENT or RUN_INCOMPLETE if the judge
    cannot be asked; others as `open_judging`.
    """
    declared = submission.meta.judge
    tasks = [task.name for task in benchmark(submission.meta.benchmark).tasks if task.judges]
    rows = [row for task in tasks for row in submission.judgements(task).to_pylist()]
    if declared is None or not rows:
        raise UsageError("The submission holds no judgements; leave --judge out.")
    seed, stated = part_seed(out, submission.digest), declared.settings
    of_judge = stated.get("seed")
    of_run = of_judge if type(of_judge) is int else None
    chosen = Chosen(submission.meta.benchmark, seed=of_run)
    judging = open_judging(submission, chosen, shaped=stated.get("json_schema") is True)
    stimulus_of = _drawn(judging.opened.parts[PART], rows, seed, items)
    handed_in = said((row for row in rows if (row["task"], row["id"]) in stimulus_of), judging.names)
    ask = _asker(submission, as_stated(model, stated), judging, set(stimulus_of.values()), out, tell)
    comparison, digest = asked_until_settled(
        ask,
        (of_run, other_seed(of_run, seed) if stated.get("temperature") else of_run),
        handed_in,
        {of: {key: stimulus_of[of.partition("/")[0], key[0]] for key in each.text} for of, each in handed_in.items()},
    )
    return JudgeOutcome(declared.name, public_name(model.name), seed, comparison, digest)


def said(rows: Rows, names: Mapping[str, Names]) -> dict[str, Answers]:
    """Task, or `task/part` -> compared answers of rows of `judgements`; `names`: id -> names in the narrative."""
    texts: dict[str, dict[Key, str]] = {}
    for row in rows:
        for part, text in _parts(row["task"], row["judgement"], names[row["id"]]).items():
            texts.setdefault(part, {})[row["id"], row["sample"]] = text
    whole = (ANALYSIS, ANALYSIS_SINGLE)
    return {part: Answers(text, words=part.partition("/")[0] not in whole) for part, text in texts.items()}


def _parts(task: str, judgement: str | None, names: Names) -> dict[str, str]:
    if task == ANALYSIS:
        judged = read_narrative(judgement, names) or NOTHING
        return {f"{task}/{part}": str(getattr(judged, part)) for part in ("status", "main", "stereoscopic")}
    if task == ANALYSIS_SINGLE:
        return {task: str(pros_and_cons(judgement, names))}
    profile = read_profile(judgement)
    return {task: UNREADABLE if profile is None else " ".join(profile.words)}


def _drawn(part: Part, rows: Rows, seed: str, items: int) -> dict[tuple[str, str], str]:
    """Task and id of each drawn judgement -> its stimulus; all handed-in judgements of the drawn stimuli."""
    handed_in = {(row["task"], row["id"]) for row in rows}
    drawn: dict[tuple[str, str], str] = {}
    for place in sorted(range(len(part.stimuli)), key=lambda place: rank(seed, PART, part.stimuli[place].id)):
        if len(drawn) >= items:
            break
        keys = [(ask.task, ask.id) for ask in part.read(place).asks]
        drawn |= {key: part.stimuli[place].id for key in keys if key in handed_in}
    return drawn


def _asker(
    submission: Submission, model: ModelSettings, judging: Judging, stimuli: set[str], out: Path, tell: Tell
) -> Ask:
    opened = judging.opened
    places = [place for place, stimulus in enumerate(opened.parts[PART].stimuli) if stimulus.id in stimuli]
    only = {PART: {stimulus: frozenset({(stimulus, 0)}) for stimulus in stimuli}}

    def ask(name: str, seed: int | None) -> tuple[dict[str, Answers], str]:
        answered = answer(
            replace(opened, chosen=replace(opened.chosen, seed=seed, only=only), positions={PART: places}),
            model,
            out / f"judge-{name}",
            submission.meta,
            again=True,
            score=False,
            tell=lambda what, done, total: tell(f"{what}, {name} time of the judge", done, total),
            ask=judging.asking,
        )
        digest = tables_digest(hashlib.sha256(), {"judgements": answered.table})
        return said(answered.table.to_pylist(), judging.names), digest

    return ask
