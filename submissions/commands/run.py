"""`fairspace eval`, `run`, `probe`, `judge`, `import`, `baseline`, `items`: ask models, or read what others wrote."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairspace.submissions.commands.app import RUN, SCORE, command, print_notes, write
from fairspace.submissions.commands.run_options import (
    about_model,
    launched_part,
    model_settings,
    pairs,
    revision_of,
    spending_bounds,
    tell_outcome,
    tell_stages,
    to_join,
    words,
)
from fairspace.submissions.errors import RunError, UsageError, need_labeller, need_packages, plain
from fairspace.submissions.plotting import digits, interval_text
from fairspace.submissions.show.table import wrapped

if TYPE_CHECKING:
    from fairspace.submissions.running.asking.inspect_task import ChosenPart
    from fairspace.submissions.running.asking.models import ModelSettings
    from fairspace.submissions.running.planning import PlanLine


FILE = "probe.json"
SMALLEST = (
    "Difference: the smallest between two models' shares, of as many stimuli each, that is found with 80 % probability "
    "at the 5 % level, at shares of one half, where they vary most."
)


@command(RUN, "fairspace eval --model ./my-model --core", name="eval")
def evaluate(
    model: str,
    benchmark: list[str] | None = None,
    dataset_revision: str = "",
    core: bool = False,
    limit: int | None = None,
    seed: int | None = None,
    judge: str = "",
    data: str = "",
    out: Path | None = None,
    setting: list[str] | None = None,
    about: list[str] | None = None,
    as_authors: bool = False,
    part: str = "",
    dry_run: bool = False,
) -> None:
    """Evaluate a model: ask, judge, check, score and report; the same command continues after a stop.

    `run`, `judge`, `check`, `score` and `report` do the same in steps, and `run` has further options, also for images.
    A part is asked alone: join all, then judge and score.

    Options:
        benchmark: One of {BENCHMARKS}; can be given again. All that can be asked in text, or with --data, if left out.
        judge: Judge of GENRES' stories, named as --model is.
        out: Gets a folder for each benchmark; NAME-eval if left out.
    """
    from fairspace.submissions.running.asking.models import need_models

    need_models(model, judge)
    part, _ = launched_part(part, None)
    if part and judge:
        raise UsageError("--judge reads the joined answers: leave it out of a part, and name it to `fairspace judge`.")
    from fairspace.submissions.progress import watched
    from fairspace.submissions.running.asking.models import found_revision
    from fairspace.submissions.running.evaluating import ask, open_all, told_plan
    from fairspace.submissions.running.evaluating import evaluate as evaluated
    from fairspace.submissions.running.folders import public_name
    from fairspace.submissions.running.planning import plan
    from fairspace.submissions.running.run import no_pictures
    from fairspace.submissions.show.result import result_text

    began = time.monotonic()
    asked = model_settings(model, setting)
    judging = model_settings(judge, None) if judge else None
    for settings in filter(None, (asked, judging)):
        found_revision(settings)  # a model that is not there is said before anything else
    stated = about_model(about)
    if data and not as_authors and (line := no_pictures(asked)):
        write(wrapped(line))
        data = ""
    options: dict[str, Any] = {"limit": limit, "data": data, "as_authors": as_authors, "seed": seed, "part": part}
    opened = open_all(benchmark or (), core=core, dataset_revision=dataset_revision, **options)
    write(wrapped(told_plan(opened, asked, judging)))
    if dry_run:
        most = asked.max_tokens or asked.max_completion_tokens
        lines = [line for each in opened for line in plan(each, asked.name, max_tokens=most)]
        _show_lines([line for line in lines if line.model or judging])
        return
    name = re.sub(r"[^\w.-]+", "-", public_name(asked.name).rpartition("/")[2])
    out = out or Path(f"{name}-eval")
    for each in opened:
        if part:
            with watched() as tell:
                outcome = ask(each.chosen, asked, out, tell=tell, about=stated)
            tell_outcome(outcome)
            typer.echo(f"Wrote {outcome.out}. Next: {to_join(outcome.out, part)}")
            continue
        with watched() as tell:
            stages = evaluated(each.chosen, asked, out, judge=judging, tell=tell, about=stated)
        tell_stages(stages.stages)
        write(f"\n{result_text(stages.result)}")
        print_notes(stages.notes)
        typer.echo(f"Report: {stages.report}")
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    typer.echo(f"That took {minutes} min {seconds} s in all.")


@command(RUN, "fairspace run --benchmark genres --data built --model openai/gpt-4o --out mine")
def run(
    benchmark: str,
    out: Path | None = None,
    model: str = "",
    images: str = "",
    ares: str = "",
    measurement: Path | None = None,
    faces: str = "",
    quality: list[str] | None = None,
    data: str = "",
    dataset_revision: str = "",
    core: bool = False,
    tasks: str = "",
    limit: int | None = None,
    stratified: bool = True,
    seed: int | None = None,
    prefix: str = "plain",
    text_only: bool = False,
    form: str = "paper",
    setting: list[str] | None = None,
    token_limit: int | None = None,
    cost_limit: float | None = None,
    provider_prices: Path | None = None,
    about: list[str] | None = None,
    as_authors: bool = False,
    again: bool = False,
    part: str = "",
    after: Path | None = None,
    dry_run: bool = False,
) -> None:
    """Run a benchmark against a model and write the submission; a stopped run continues with the same command.

    Options:
        out: Folder of the submission; the run's own files lie beside it, in OUT.run.
        quality: What rates the images, ROLE=SCHEME:ID; see submissions/RUNNING.md.
        tasks: Tasks of the submission, with commas; all that the model can do, optional ones aside, if left out.
        stratified (--stratified/--not-stratified): Whether --limit is spread evenly over the strata.
        prefix: stereotypical_bias: prefix of every prompt, or mode of modscan.
        text_only: genres, stereotypical_bias: leave the pictures out.
        form: json asks the free questions alone, with their choices named; never ranked.
    """
    from fairspace.submissions.running.asking.models import need_models

    need_models(model)
    part, out = launched_part(part, out)
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
    from fairspace.submissions.progress import watched
    from fairspace.submissions.running.asking.inspect_task import ChosenPart
    from fairspace.submissions.running.run import can_be_asked, check_tasks
    from fairspace.submissions.running.run import run as run_benchmark
    from fairspace.submissions.running.settings import RunSettings
    from fairspace.submissions.running.zero_shot import face_detector

    if not stratified and limit is None:
        raise UsageError("--not-stratified says how --limit chooses; name both, or leave it out.")
    if faces and not ares:
        raise UsageError("--faces finds the faces that --labeller labels; name both, or leave it out.")
    if measurement and not ares:
        raise UsageError("--measurement is of what --labeller names; name both, or leave it out.")
    if quality and not (images and ares):
        raise UsageError("--quality rates what --images makes and --labeller labels; name all three, or leave it out.")
    part_to_ask = ChosenPart(
        *(benchmark, data, words(tasks), limit, stratified, seed, prefix, text_only),
        dataset_revision=revision_of(benchmark, dataset_revision, core),
        form=form,
        as_authors=as_authors,
        part=part,
    )
    answering = model_settings(model, setting)
    check_tasks(part_to_ask)
    part_to_ask, left_out = can_be_asked(part_to_ask, answering if model else None, images)
    for line in left_out:
        write(wrapped(line))
    if dry_run:
        _show_plan(part_to_ask, answering, images, ares, provider_prices)
        return
    if out is None:
        raise UsageError("Name the folder of the submission with --out; only --dry-run needs none.")
    if ares:
        need_labeller(ares)
    if not model and (token_limit is not None or cost_limit is not None):
        what = "--token-limit and --cost-limit bound what --model answers; images are counted by --dry-run."
        raise UsageError(f"{what} Leave them out.")
    _check_idle(part_to_ask, model, images)
    if out.name in ("", ".."):
        out = out.resolve()  # its workings lie in NAME.run
    settings = RunSettings(
        part_to_ask,
        out,
        replace(answering, bounds=spending_bounds(model, token_limit, cost_limit, provider_prices)) if model else None,
        images,
        ares,
        face_detector(faces),
        pairs("--quality", quality or []),
        about_model(about),
        again,
        measurement=measurement,
        after=after,
    )
    with watched() as tell:
        outcome = run_benchmark(settings, tell)
    tell_outcome(outcome)
    following = "judge" if find_benchmark(benchmark).asking.judge is not None else "score"
    labels = " --labeller MODEL, which labels the images" if images and not ares else ""
    typer.echo(f"Wrote {out}. Next: {to_join(out, part) if part else f'fairspace {following} {out}{labels}'}")


def _check_idle(part: ChosenPart, model: str, images: str) -> None:
    """RunError TASK_UNKNOWN if a named model has nothing to do among the tasks that are asked for."""
    from fairspace.submissions.running.planning import image_tasks
    from fairspace.submissions.running.run import text_tasks

    for option, name, tasks in (("--model", model, text_tasks(part)), ("--images", images, image_tasks(part))):
        if name and not tasks and part.tasks:
            what = f"{option} {name} has nothing to do in {', '.join(part.tasks)}"
            expected = "a task that is answered with text for --model, one that is answered with images for --images"
            mend = f"leave out {option}, or name another task"
            raise RunError("TASK_UNKNOWN", part.benchmark, what, expected, mend)


def _show_plan(part: ChosenPart, model: ModelSettings, images: str, labeller: str, prices: Path | None) -> None:
    """Print what a run takes; text tasks are left out where only a model that makes images is named."""
    from fairspace.submissions.running.asking.inspect_task import OpenedBenchmark, open_benchmark
    from fairspace.submissions.running.asking.prices import read_prices
    from fairspace.submissions.running.estimating import estimate
    from fairspace.submissions.running.planning import made_parts, plan
    from fairspace.submissions.running.run import limit_note, text_tasks

    texts = text_tasks(part) if model.name or not images else ()
    opened = open_benchmark(replace(part, tasks=texts)) if texts else OpenedBenchmark(part, {}, {})
    lines = plan(
        opened,
        model.name,
        image_model=images,
        image_parts=made_parts(part) if images else (),
        prices=read_prices(prices) if prices else None,
        max_tokens=model.max_tokens or model.max_completion_tokens,
        labeller=labeller,
    )
    _show_lines(lines)
    for name in filter(None, dict.fromkeys(line.model for line in lines)):
        of_it = [line for line in lines if line.model == name]
        connections, threads = (None, 0) if of_it[0].made else (model.connections, model.arguments.get("threads") or 0)
        write(plain(estimate(name, of_it, connections, threads=threads)))
    if note := limit_note(opened):
        typer.echo(note)


def _show_lines(lines: Sequence[PlanLine]) -> None:
    """Print requests, tokens, cost and the smallest difference of each line of a plan."""
    from fairspace.submissions.running.folders import public_name
    from fairspace.submissions.running.planning import smallest_difference

    for line in lines:
        smallest = None if line.task in ("judgements", "labels") else smallest_difference(line.stimuli)
        by, what = public_name(line.model) or "a model", "images" if line.made else "requests"
        text = f"{line.task} by {by}: {line.requests:,} of {line.of_requests:,} {what}"
        if not line.made:
            text += f"; {line.input:,.0f} tokens in, {line.output:,.0f} to {line.output_most:,.0f} out"
        if line.cost is not None:
            text += f"; {line.cost:,.2f} to {line.cost_most:,.2f} {line.currency}"
        if smallest is not None:
            text += f"; difference {smallest:.2g}" if smallest < 1 else "; too few stimuli to show a difference"
        write(plain(text))
    write(wrapped(SMALLEST))


@command(RUN, "fairspace probe models/Janus-Pro-1B --recipe janus --out probed")
def probe(
    model: str, recipe: str, out: Path, occupations: str = "", images: Path | None = None, steps: int | None = None
) -> None:
    """Probe a model's representations: association, similarity, consistency, distortion, steps and complexity.

    Options:
        model (MODEL): A folder, ID or ID@REVISION, or python:./FILE.py:FUNCTION.
        recipe: A .toml or .json file, or janus or qwen-image, which come along.
        out: Folder for probe.json and a CSV file per probe.
        occupations: With commas, NAME or NAME:GENDER of the stereotype; those of Table 30 if left out.
        images: Folder of OCCUPATION/GENDER/*.png and anchor/GENDER/*.png, for RSA.
        steps (min=2): Generation steps to follow; all if left out.
    """
    need_packages("run", "torch", "transformers", "diffusers")
    from fairspace.builders.writing import write_text
    from fairspace.submissions.probing.extraction import open_model
    from fairspace.submissions.probing.measuring import ProbeSettings, dumps
    from fairspace.submissions.probing.measuring import probe as probed
    from fairspace.submissions.probing.recipe import read_recipe
    from fairspace.submissions.probing.stimuli import make_stimuli
    from fairspace.submissions.probing.tables import csv_of
    from fairspace.submissions.progress import progress

    _check_out(out)
    read = read_recipe(recipe)
    stimuli = make_stimuli(occupations, images)
    opened = open_model(model, read)
    with progress(f"Probing {opened.name}", None) as bar:
        document = probed(opened, read, stimuli, ProbeSettings(steps=steps), lambda _, done: bar(done))
    texts = {FILE: dumps(document)}
    for name, each in document["probes"].items():
        if each["state"] != "not_run":
            texts[f"{name}.csv"] = csv_of(name, each)
    out.mkdir(exist_ok=True)
    for name, text in texts.items():
        write_text(out / name, text)
    for name, each in document["probes"].items():
        _tell(name, each)
    typer.echo(f"Wrote {out}: probe.json, and a CSV file per probe.")


def _check_out(out: Path) -> None:
    """UsageError where the folder cannot be written, or holds something else."""
    if not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write {out.name} to; make it first.")
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / FILE).is_file())):
        raise UsageError(f"{out} holds something else; name another --out.")


def _tell(name: str, probe_values: dict[str, Any]) -> None:
    if probe_values["state"] == "value":
        ends = probe_values["interval"]
        shown = f" ({interval_text(ends)})" if ends else ""
        typer.echo(f"{name}: {digits(probe_values[name])}{shown}")
    else:
        rest = probe_values.get("partial_mean")
        of_others = "" if rest is None else f"; mean of the others: {digits(rest)}"
        typer.echo(f"{name}: {probe_values['state'].replace('_', ' ')}: {probe_values['reason']}{of_others}")


@command(RUN, "fairspace judge mine --model openai/gpt-4o --model openai-api/local/mistral")
def judge(
    submission: Path,
    model: list[str],
    model_revision: list[str] | None = None,
    limit: int | None = None,
    setting: list[str] | None = None,
    token_limit: int | None = None,
    cost_limit: float | None = None,
    provider_prices: Path | None = None,
    as_authors: bool = False,
    again: bool = False,
) -> None:
    """Let models read the narratives of a submission and write judgements.jsonl; a stopped run continues.

    Of a benchmark without a judge, one model reads what the rules leave unread, and a random 2 % of the other answers.

    Options:
        submission (SUBMISSION): Folder of a submission.
        model: A judge: {MODELS}. Can be given again; the first is scored.
        model_revision: Commit, date or version of a judge, in the order of --model.
        limit (min=1): Narratives, or answers of a task, at most.
    """
    from fairspace.submissions.running.asking.models import need_models

    need_models(*model)
    from fairspace.answers import submission_of
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.progress import watched
    from fairspace.submissions.running.judging.judging import as_the_authors
    from fairspace.submissions.running.judging.judging import judge as judged
    from fairspace.submissions.running.judging.second import read_again

    models = [
        model_settings(name, setting, bounds=spending_bounds(name, token_limit, cost_limit, provider_prices))
        for name in model
    ]
    if as_authors:
        bench = benchmark(submission_of(submission, allow_images=False).meta.benchmark)
        models = [each for model in models for each in as_the_authors(bench, model)]
    single = len(models) == 1 and len(model_revision or ()) < 2 and submission.is_dir()
    checked = submission_of(submission, allow_images=False) if single else None
    if checked is not None and benchmark(checked.meta.benchmark).asking.judge is None:
        of = "".join(model_revision or ())
        with watched() as tell:
            file, agreement = read_again(
                checked, models[0], submission, revision=of, limit=limit, again=again, tell=tell
            )
        write(plain(agreement))
        typer.echo(f"Wrote {file}. Next: fairspace score {submission} --second {file}")
        return
    with watched() as tell:
        outcome = judged(submission, models, revisions=model_revision or [], limit=limit, again=again, tell=tell)
    tell_stages(outcome.stages)
    for log in outcome.logs:
        typer.echo(f"Note: Inspect's log: {log}")
    typer.echo(f"Wrote {submission}. Next: fairspace check {submission}")


class Layout(StrEnum):
    """Layouts of outputs that become a submission."""

    inspect = "inspect"
    genres = "genres"
    iris = "iris"
    fairface = "fairface"
    uniface = "uniface"
    deepface = "deepface"
    lm_eval = "lm-eval"
    lmms_eval = "lmms-eval"
    lighteval = "lighteval"


@command(RUN, "fairspace import inspect logs/*.eval --out mine", name="import")
def import_outputs(
    layout: Layout,
    files: list[Path],
    out: Path,
    about: list[str] | None = None,
    submission: Path | None = None,
    measurement: Path | None = None,
    benchmark: str = "",
    dataset_revision: str = "",
    text_only: bool = False,
) -> None:
    """Turn outputs in another layout into a submission.

    Options:
        layout (argument): inspect: logs of Inspect. genres: the authors' JSONL files, plain or gzip. iris: the authors'
            ares_prediction_report.csv. fairface, uniface, deepface: a detector's labels of the images of --submission.
            lm-eval, lmms-eval, lighteval: logs of samples.
        files (FILE): The files of one model; a harness' folder of output.
        out: Folder or .zip to write; it must not exist.
        submission: Of a detector: the submission with the images that were labelled.
        benchmark: Of a harness' task that is not ours.
        dataset_revision: The same: the revision whose items were asked.
        text_only: The same: pictures were left out.
    """
    of_task: dict[str, Any] = {"benchmark": benchmark, "revision": dataset_revision, "text_only": text_only}
    if layout in (Layout.lm_eval, Layout.lmms_eval, Layout.lighteval):
        need_packages("ask", "inspect_ai")
        from fairspace.submissions.running.logs.harnesses import import_harness

        tell_outcome(import_harness(layout, files, out, about_model(about), **of_task))
    elif any(of_task.values()):
        raise UsageError(f"import {layout} takes no --benchmark, --dataset-revision or --text-only.")
    elif layout == Layout.inspect:
        from fairspace.submissions.running.asking.models import need_models

        need_models()
        from fairspace.submissions.progress import watched
        from fairspace.submissions.running.logs.importing import import_inspect

        with watched() as tell:
            outcome = import_inspect(files, out, about=about_model(about), tell=tell)
        tell_outcome(outcome)
    elif layout in (Layout.fairface, Layout.uniface, Layout.deepface):
        if submission is None or len(files) != 1 or about:
            raise UsageError(f"import {layout} takes one FILE and the --submission with its images, and no --about.")
        need_packages("ares", "torch", "transformers")
        from fairspace.answers import submission_of
        from fairspace.submissions.format.writing import write_submission
        from fairspace.submissions.running.labelling import label_images
        from fairspace.submissions.running.zero_shot import open_labeller

        detections, _ = open_labeller(f"{layout}:{files[0]}")
        checked = submission_of(submission)
        labelled = label_images(submission, checked, labeller=detections, measurement=measurement)
        typer.echo(labelled.dump_meta()["labels"]["settings"]["use"])
        write_submission(out, labelled.meta, labelled.tables, manifest=labelled.manifest)
    else:
        from fairspace.submissions.benchmarks.genres.importing import STATED, import_genres
        from fairspace.submissions.benchmarks.iris.importing import import_iris

        facts = {name: fact for name, fact in vars(about_model(about)).items() if fact is not None}
        if options := [name for name in facts if name not in ("model", *STATED)]:
            raise UsageError(f"import {layout} takes no {', '.join(options)}; write it into submission.json.")
        (import_iris if layout == Layout.iris else import_genres)(files, out, **facts)
    typer.echo(f"Wrote {out}. Next: fairspace score {out}")


@command(SCORE, "fairspace baseline random --benchmark genres --out random-genres")
def baseline(name: str, benchmark: str, out: Path, dataset_revision: str = "", core: bool = False) -> None:
    """Write a full-size submission of a trivial model: a chance line of the board.

    Options:
        name (NAME): One of {BASELINES}.
        out: Folder to write; it must not exist.
    """
    from fairspace.submissions.benchmarks.baselines import write_baseline
    from fairspace.submissions.progress import reported

    with reported(f"Writing {out}") as report:
        revision = revision_of(benchmark, dataset_revision, core)
        write_baseline(name, benchmark, out, revision=revision, progress=report)
    typer.echo(f"Wrote {out}. Next: fairspace score {out}")


@command(RUN, "fairspace items genres --out genres-items")
def items(
    benchmark: str,
    out: Path | None = None,
    lm_eval: Path | None = None,
    dataset_revision: str = "",
    core: bool = False,
    after: Path | None = None,
    data: str = "",
) -> None:
    """Write what to show a model: ids and prompts of every task, and how often each is asked.

    Options:
        benchmark (BENCHMARK): One of {BENCHMARKS}.
        out: Folder to write; one Parquet file for each task.
        lm_eval: Folder for tasks of lm-evaluation-harness, as its --include_path.
        after: A submission with what some prompts follow from: IRIS' annotated neutral images (steer prompts), or
            GENRES' narratives (its judge's prompts).
        data: For revision upstream: your copy of the authors' files.
    """
    if lm_eval is not None:
        from fairspace.harness import write_tasks

        if out or dataset_revision or core or after or data:
            raise UsageError("--lm-eval writes its own tasks; leave out all other options.")
        for name in write_tasks(benchmark, lm_eval):
            typer.echo(f"lm_eval --include_path {lm_eval} --tasks {name}")
        return
    if out is None:
        raise UsageError("Name a folder: --out, or --lm-eval.")
    import pyarrow as pa
    import pyarrow.parquet as pq

    from fairspace.answers import following
    from fairspace.builders.writing import beside
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark

    revision = asked = revision_of(benchmark, dataset_revision, core)
    bench = find_benchmark(benchmark)
    tables = bench.items(revision, data=data)
    if after is not None:
        further, asked = following(bench, after, revision)
        tables |= further
    if not tables:
        what = f"The prompts of {benchmark}'s revision {revision} are not ours"
        raise UsageError(f"{what}; name your copy of the authors' files: --data.")
    out.mkdir(parents=True, exist_ok=True)
    for task, table in tables.items():
        samples = bench.task(task).samples_of(bench.revision(asked))
        table = table.append_column("task", pa.repeat(pa.scalar(task), table.num_rows))
        table = table.append_column("samples", pa.repeat(pa.scalar(samples, pa.int32()), table.num_rows))
        with beside(out / f"{task}.parquet") as place:
            pq.write_table(table, place)
        typer.echo(f"{out / task}.parquet: {table.num_rows} items")
