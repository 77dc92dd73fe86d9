"""Import Inspect logs of judges into the GENRES submission whose narratives they read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from fairspace.submissions.benchmarks.genres.unranked import evaluation_name
from fairspace.submissions.benchmarks.task import add_hashes
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.collector import show
from fairspace.submissions.format.manifest import Stage
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.running.asking.inspect_task import NOT_STATED, Chosen
from fairspace.submissions.running.asking.journal import Answer, table_of
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.folders import held, work_folder
from fairspace.submissions.running.judging.asks import Judging, open_judging
from fairspace.submissions.running.judging.judging import MOST, by_judge, count, judge_settings, judged_meta, named_tool
from fairspace.submissions.running.judging.writing import write_judgements
from fairspace.submissions.running.logs.files import invalid
from fairspace.submissions.running.logs.importing import (
    LogAnswers,
    Tell,
    check_rows,
    limit_of,
    merged,
    notes,
    read_logs,
)
from fairspace.submissions.running.run import Outcome


def import_judges(
    files: Sequence[Path],
    submission: Path,
    *,
    revisions: Sequence[str] = (),
    tell: Tell = lambda what, done, total: None,
) -> Outcome:
    """Put the judgements in logs into a submission's folder; former judgements are replaced.

    The judge of the first log is scored, by its first evaluation. `revisions` are in the order of the judges' logs.

    Errors: SubmissionError if the submission has faults; RunError LOG_INVALID; LOG_CONFLICT if a log judges another
    submission; UsageError.
    """
    if not submission.is_dir():
        raise UsageError(f"There is no folder {submission}; judgements are written into a submission's folder.")
    folder = submission.resolve()
    logs = read_logs(files, tell, in_order=True)
    by_model: dict[str, list[LogAnswers]] = {}
    for log in logs:
        if log.described.table != "judgements":
            raise invalid(log.file, "a log of answers", "a log of a judge", "import it without --submission")
        by_model.setdefault(log.stage.model, []).append(log)
    named = [*revisions, *[NOT_STATED] * (len(by_model) - len(revisions))]
    if len(named) != len(by_model):
        raise UsageError(f"There are {len(named)} revisions of {len(by_model)} judges; give them in the same order.")
    judges = [
        (group, revision, number)
        for of_judge, revision in zip(by_model.values(), named, strict=True)
        for number, group in enumerate(_evaluations(of_judge), 1)
    ]
    if len(judges) > MOST:
        raise UsageError(f"The logs hold {len(judges)} evaluations; a submission has {MOST} at most.")
    with held(work_folder(folder)):
        return _imported(folder, judges)


def _evaluations(logs: Sequence[LogAnswers]) -> list[list[LogAnswers]]:
    """The logs of one judge by evaluation; an Inspect epoch is one. RunError LOG_CONFLICT if more than seeds differ."""
    groups: dict[tuple[int, int], list[LogAnswers]] = {}
    for log in logs:
        if _settings(log) != _settings(logs[0]):
            what = f"settings {show(_settings(log), 200)}, and {show(_settings(logs[0]), 200)} in {logs[0].file.name}"
            mend = "name logs of one way to judge; another way is a judge of another name"
            raise RunError("LOG_CONFLICT", log.file.name, what, "the settings of the judge's other evaluations", mend)
        for epoch, answers in sorted({1: log.answers, **log.later}.items()):
            part = replace(log, answers=answers, epoch=epoch, later={})
            groups.setdefault((log.described.evaluation, epoch), []).append(part)
    return [groups[number] for number in sorted(groups)]


def _settings(log: LogAnswers) -> list[tuple[str, object]]:
    left_out = ("seed", "limit", "stratified", "arguments")
    return sorted((name, value) for name, value in log.stage.settings.items() if name not in left_out)


def _imported(folder: Path, judges: Sequence[tuple[Sequence[LogAnswers], str, int]]) -> Outcome:
    """Write the judgements of evaluations: (logs, revision of the judge, number of the evaluation)."""
    read = read_submission(folder)
    tables, tools, stages, said = [], [], [], []
    for place, (group, revision, number) in enumerate(judges):
        judging = _judging(read, group)
        answers = merged(group)
        table = table_of(answers.values(), "judgements")
        stage = _stage(group, list(answers.values()))
        tool = named_tool(evaluation_name(stage.model, number), revision, judge_settings(judging, stage))
        check_rows(by_judge(table, None), judged_meta(read, tool), group)
        _check_narratives(judging, answers.values(), group)
        tables.append(by_judge(table, tool.name if place else None))
        tools.append(tool)
        fates = count(judging, list(answers.values()))
        stages.append(stage.model_copy(update={"revision": revision, "settings": tool.settings, "fates": fates}))
        said += notes(group, answers.values())
    write_judgements(folder, work_folder(folder), judged_meta(read, *tools), pa.concat_tables(tables), stages)
    return Outcome(folder, tuple(stages), tuple(said))


def _stage(group: Sequence[LogAnswers], answers: Sequence[Answer]) -> Stage:
    """One stage for all logs of an evaluation; a log that went on repeats earlier answers."""
    last = group[-1].stage
    limit, stratified = limit_of(group)
    settings = {
        name: value for name, value in last.settings.items() if name not in ("arguments", "limit", "stratified")
    }
    prompts = {name: text for log in group for name, text in log.prompts.items()}
    changes = {
        "settings": settings | ({} if limit is None else {"limit": limit, "stratified": stratified}),
        "prompts": add_hashes(prompts.values()),
        "requests": len(answers),
        "input_tokens": sum(answer.input_tokens for answer in answers),
        "output_tokens": sum(answer.output_tokens for answer in answers),
        "limit": limit,
        "stratified": stratified,
        "started": min(log.stage.started for log in group),
        "ended": max(log.stage.ended for log in group),
    }
    return last.model_copy(update=changes)


def _judging(read: Submission, group: Sequence[LogAnswers]) -> Judging:
    """The judge's requests. RunError LOG_CONFLICT if they were about another submission."""
    about = group[0].described
    chosen = Chosen(read.meta.benchmark, limit=about.limit, stratified=about.stratified, seed=about.seed)
    judging = open_judging(read, chosen, shaped=about.json_schema)
    for log in group:
        if log.described.prompts != judging.opened.about["prompts"]:
            what = "judgements of other narratives"
            mend = "name the submission that was judged, with its narratives as they were"
            raise RunError("LOG_CONFLICT", log.file.name, what, "those of the named submission", mend)
    return judging


def _check_narratives(judging: Judging, answers: Iterable[Answer], group: Sequence[LogAnswers]) -> None:
    """RunError LOG_INVALID if a judged narrative is not in the submission."""
    parts = judging.opened.parts.values()
    known = {ask.id for part in parts for place in range(len(part.stimuli)) for ask in part.read(place).asks}
    for answer in answers:
        if answer.id not in known:
            what = f"a judgement of {show(answer.id)}"
            raise invalid(group[0].file, what, "narratives of the submission", "name the one that was judged")
