"""Import the sample logs of lm-eval, lmms-eval and lighteval: the answers as a submission, the rest as its manifest.

A log is untrusted data: it is read within the bounds of a submission's tables, and nothing in it is executed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from fairspace.submissions.benchmarks.task import Ask, prompts_hash, whole_units
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.faults import SubmissionError, first, show
from fairspace.submissions.format.manifest import STAGES, Manifest, Stage
from fairspace.submissions.format.writing import check_new, write_submission
from fairspace.submissions.reading.front import listed, parts_of
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.logs.importing import MEMBER_BYTES, invalid, scalar
from fairspace.submissions.running.settings import ModelFacts, RunOutcome, meta_of

SAMPLES = {"lm-eval": "samples_*.jsonl", "lmms-eval": "*_samples_*.jsonl", "lighteval": "details_*.parquet"}
"""Layout -> the names of its files of answers; results have the same time in their names."""
_ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], tuple[Mapping[str, Any], Any]]] = {
    "lm-eval": lambda row: (row["doc"], row["resps"][0]),
    "lmms-eval": lambda row: (row.get("doc") or {"id": row["target"]}, row["filtered_resps"]),
    "lighteval": lambda row: (row["doc"]["specific"], row["model_response"]["text"]),
}
"""Layout -> a row of a log -> its document, which has the id, and the answers to it."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?|\d{8}_\d{6}")
_FACTS = {
    "model": ("model_name",),
    "revision": ("model_sha", "model_revision", "revision"),
    "engine_version": ("lm_eval_version", "lmms_eval_version", "lighteval_sha"),
    "seconds": ("total_evaluation_time_seconds", "total_evaluation_time_secondes"),
    "ours": ("fairspace",),
}
"""Fact -> its names in the three programs' results."""
_SETTINGS = (
    *("system_instruction", "system_prompt", "chat_template_sha", "fewshot_as_multiturn"),
    *("num_fewshot", "num_fewshots", "generation_size", "hash_full_prompts"),
)
_GENERATION = ("generation_kwargs", "generation_parameters", "gen_kwargs")
_KEY = ("task", "id", "sample")


def import_harness(
    layout: str,
    places: Sequence[Path],
    out: Path,
    about: ModelFacts,
    *,
    benchmark: str = "",
    revision: str = "",
    text_only: bool = False,
) -> RunOutcome:
    """Write one model's answers in a harness' logs as a submission, and say what is left out.

    `places` are files of `SAMPLES`, or folders with them; `out` is a new folder or zip. Benchmark, dataset revision and
    `text_only` stand in the results of our own tasks, and are named for others.

    Errors: RunError LOG_INVALID, LOG_CONFLICT; SubmissionError; UsageError if there is something at `out`, or no
    benchmark is named.
    """
    from fairspace.answers import check_answers

    check_new(out)
    files = [file for place in places for file in (sorted(place.rglob(SAMPLES[layout])) if place.is_dir() else [place])]
    if not 1 <= len(files) <= STAGES:
        raise UsageError(f"There are {len(files)} files of answers ({SAMPLES[layout]}). Expected: 1 to {STAGES}.")
    rows, notes, (facts, *others) = _rows(layout, files), [], [_facts(file) for file in files]
    if any(other.get(name) != facts.get(name) for other in others for name in ("model", "ours")):
        mend = "import them one after the other, each into a submission of its own"
        raise RunError("LOG_CONFLICT", files[-1].name, "logs of several models or benchmarks", "those of one", mend)
    limit, ours = facts.get("limit"), facts.get("ours") or {}
    if limit is not None and all("unit" in row for row in rows):
        asked = len(rows)
        rows, limit = whole_units(rows)
        if cut := asked - len(rows):
            notes.append(f"{cut:,} answers are left out, to questions whose counterparts the limit cut off")
    columns = [name for name in (*_KEY, "response") if all(name in row for row in rows)]
    report = check_answers(
        [{name: row[name] for name in columns} for row in rows],
        benchmark or str(ours.get("benchmark", "")),
        dataset_revision=revision or str(ours.get("dataset_revision", "")),
        limit=limit,
        text_only=text_only or ours.get("text_only") is True,
    )
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    name, ended = str(facts.get("model") or ModelFacts.revision).rstrip("/"), files[-1].stat().st_mtime
    whole, refused = all("prompt" in row for row in rows), sum(row["response"] is None for row in rows)
    try:
        began = ended - float(facts.get("seconds") or 0)
        stage = Stage(
            what="responses",
            model=name.rpartition("/")[2] if name.startswith(("/", ".", "~")) else name,
            revision=about.revision
            if about.revision != ModelFacts.revision
            else facts.get("revision") or ModelFacts.revision,
            engine=layout,
            engine_version=facts.get("engine_version") or ModelFacts.revision,
            settings=facts.get("settings", {}),
            prompts=prompts_hash(Ask(*(row[name] for name in (*_KEY, "prompt"))) for row in rows) if whole else "",
            tasks=sorted(set(report.submission.tables["responses"]["task"].to_pylist())),
            requests=len(rows),
            fates={"answered": len(rows) - refused, "refused": refused},
            limit=limit,
            stratified=limit is not None and whole,
            started=datetime.fromtimestamp(began, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            ended=datetime.fromtimestamp(ended, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        generation = stage.settings | ({"limit": limit, "stratified": stage.stratified} if limit else {})
        stated = replace(about, model=about.model or stage.model.rpartition("/")[2], revision=stage.revision)
        kept = report.submission.meta
        part = ChosenPart(kept.benchmark, dataset_revision=kept.dataset_revision)
        meta = meta_of(part, {**kept.generation, **generation}, stated)
    except (KeyError, TypeError, ValueError) as error:
        what = first(error) if isinstance(error, ValidationError) else show(str(error))
        raise invalid(files[0], what, "facts that fit submission.json", "state them with --about") from error
    write_submission(out, meta, report.submission.tables, manifest=Manifest(stages=[stage]))
    return RunOutcome(out, (stage,), tuple(notes))


def _rows(layout: str, files: Sequence[Path]) -> list[Mapping[str, Any]]:
    """A row for each answer, with its document's columns; each once, as lm-eval repeats it for each filter.

    RunError LOG_INVALID; LOG_CONFLICT for two answers to a question.
    """
    rows: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for file in files:
        (part,) = parts_of(file, file.name)
        cells = {name: listed(column) for name, column in part.columns.items()}
        for place, number in enumerate(part.places):
            try:
                document, answers = _ANSWERS[layout]({name: column[place] for name, column in cells.items()})
                texts = answers if isinstance(answers, list) else [answers]
                about = {**document, "id": document["id"]}
            except (KeyError, IndexError, TypeError) as error:
                what, mend = f"row {number} without {show(error.args[0])}", "log the samples, with fairspace's ids"
                raise invalid(file, what, f"what {layout} logs", mend) from error
            for sample, text in enumerate(texts):
                row = {"sample": sample, **about, "response": text}
                there = rows.setdefault(tuple(str(row.get(name)) for name in _KEY), row)["response"]
                if there != text:
                    mend = "import logs of one run, without repeats: the benchmark asks each question often enough"
                    where, what = f"{file.name}, {show(row['id'])}", f"{show(text, 40)}, and {show(there, 40)}"
                    raise RunError("LOG_CONFLICT", where, what, "one answer", mend)
    return list(rows.values())


def _facts(file: Path) -> dict[str, Any]:
    """`_FACTS`, limit and settings of a file's task; {} without results, beside it or in lighteval's other folder."""
    time = _TIME.search(file.name)
    places = [file.parent, *(folder / "results" for folder in list(file.parents)[1:5])]
    near = (each for place in places for each in place.rglob("*results*.json") if time and time[0] in each.name)
    if time is None or (place := next(near, None)) is None:
        return {}
    task = file.stem.replace(time[0], "").strip("_").partition("_")[2]
    flat: dict[str, Any] = {}
    try:
        with place.open("rb") as opened:
            results = from_json(opened.read(MEMBER_BYTES))
        level = [{name: part.get(task, part) if isinstance(part, dict) else part for name, part in results.items()}]
        while level:  # the outermost of equal names stays
            flat = {name: part for each in reversed(level) for name, part in each.items()} | flat
            level = [part for each in level for part in each.values() if isinstance(part, dict)]
        facts = {fact: next(filter(None, map(flat.get, names)), None) for fact, names in _FACTS.items()}
        asked, every = flat.get("effective", 0), flat.get("original", 0)
        limit = int(asked if asked < every else flat.get("max_samples") or 0) or None
    except (AttributeError, TypeError, ValueError) as error:
        raise invalid(place, show(str(error)), "the results of a run, as JSON") from error
    settings = {name: flat.get(name) for name in _SETTINGS} | {"task_hash": flat.get("task_hashes")}
    for name in _GENERATION:
        settings |= flat[name] if isinstance(flat.get(name), dict) else {name: flat.get(name)}
    stated = {name: scalar(value) for name, value in settings.items() if value not in (None, "", [], {})}
    return facts | {"limit": limit, "settings": stated}
