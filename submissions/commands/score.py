"""Commands on submissions and results: `fairspace check`, `score`, `compare`, `readings`, `corpus` and `report`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairspace.submissions.commands import app
from fairspace.submissions.commands.run_options import refuse_together
from fairspace.submissions.errors import UsageError
from fairspace.submissions.show.table import Table, wrapped

if TYPE_CHECKING:
    from fairspace.submissions.results.result import Result

_READINGS = (".jsonl", ".parquet")
FORMATS = (".html", ".tex", ".csv", ".md")
"""Suffixes of the files that `readings` and `report` write."""
MORE = (
    "--details explains the values and what a rank lacks; --all has everything.",
    "--all has the component metrics and all other facts.",
)
"""Where the rest is, of the first lines and of the details."""
APART = {"--paper": ("--eee", "--evidence"), "--eee": ("--evidence",)}
APART |= {"--card": ("--out", "--paper", "--eee", "--evidence")}
APART |= {"--evidence-template": ("RESULT", "--out", "--paper", "--eee", "--evidence", "--card")}
"""Option of `report` -> those that it does not go together with."""


@app.command(app.SCORE, "fairspace check my-submission.zip")
def check(submission: Path, benchmark: str = "", dataset_revision: str = "", as_json: bool = False) -> None:
    """Validate a submission offline, as the leaderboard does, and say how to mend each fault.

    Options:
        benchmark: Of a table (.csv, .jsonl, ...): {BENCHMARKS}.
        dataset_revision: Of a table: the revision that was answered.
    """
    from fairspace.answers import check_answers

    report = check_answers(submission, benchmark, dataset_revision=dataset_revision)
    if as_json:
        listed = [fault.to_json() for fault in report.faults]
        tasks = {covered.task: covered.to_json() for covered in report.coverage}
        app.print_json({"ok": report.ok, "faults": listed, "notes": list(report.notes), "tasks": tasks})
    else:
        if report.submission is None:
            app.print_faults(report.faults)
        else:
            from fairspace.submissions.show.submission import checked_text

            app.write(checked_text(submission, report.submission, report.coverage))
        app.print_notes(report.notes)
    raise typer.Exit(0 if report.ok else 1)


@app.command(app.SCORE, "fairspace score my-submission --out result.json")
def score(
    submission: Path,
    benchmark: str = "",
    dataset_revision: str = "",
    model: str = "",
    standard: str = "",
    region: Path | None = None,
    out: Path | None = None,
    store: str | None = None,
    reading: str = "",
    ares: str = "",
    measurement: Path | None = None,
    faces: str = "",
    second: Path | None = None,
    resamples: int | None = None,
    weight: list[str] | None = None,
    tau: float | None = None,
    require: list[str] | None = None,
    most: float | None = None,
    junit: Path | None = None,
    summary: Path | None = None,
    details: bool = False,
    everything: bool = False,
    as_json: bool = False,
) -> None:
    """Check and score a submission, or score a result under another standard from its component metrics alone.

    Options:
        submission (SUBMISSION|TABLE|RESULT): A folder, .zip or Hub dataset snapshot, a table, an Inspect log (.eval) of
            one of our tasks, or a result that --out wrote, to score it again.
        benchmark: Of a table (.csv, .jsonl, ...): {BENCHMARKS}.
        dataset_revision: Of a table: the revision that was answered.
        model: Of a table: name of the model.
        standard: Standard to score under; if left out, the benchmark's default.
        region: IRIS: your region's labour figures (CSV), in place of those of the US and EU.
        out: Write the result as JSON.
        store: Also add the result to this store, a folder or hf://datasets/OWNER/NAME.
        reading (metavar=WHO): `authors`: read the answers as the paper does; gives no rank.
        second: Readings that `judge` wrote, shown as a variant.
        resamples (envvar=FAIRSPACE_RESAMPLES): Resamples for the intervals, at least 100; 0 for none. 1000 if left out.
        weight (metavar=PART:NUMBER): What if, of a result: weight of a part, 0 to 10; may be repeated.
        tau: What if, of a result: threshold of the profile code.
        require (metavar=NAME): Exit code 3 if this value is not measured, or beyond --max; may be repeated.
        most (--max): Distance from the ideal; --require fails on what is shown to be beyond it.
    """
    app.check_places(out, store)
    places = _gate_places(junit, summary)
    if not require and (most is not None or places):
        raise UsageError("--max, --junit and --summary are of --require; name a value with it, or leave them out.")
    answered: dict[str, object] = {"--dataset-revision": dataset_revision, "--model": model, "--reading": reading}
    answered |= {"--labeller": ares, "--second": second, "--measurement": measurement, "--faces": faces}
    answered["--region"] = region
    what_if = {"--weight": weight, "--tau": tau is not None}
    kept = {"--benchmark": benchmark, "--require": require, "--details": details, "--all": everything}
    refuse_together(answered | what_if | kept, dict.fromkeys(what_if, (*answered, *kept)))
    if weight or tau is not None:
        if not is_result(submission) or out is not None or store is not None:
            raise UsageError(
                "--weight and --tau are for a result, which is shown and not kept: name one without --out."
            )
        _what_if(submission, standard, weight or (), tau, as_json)
        return
    if not benchmark and is_result(submission):
        if option := next((name for name, setting in answered.items() if setting), ""):
            what = f"{submission} is a result, which holds no answers and no images"
            raise UsageError(f"{what}; name the submission with {option}, or leave it out.")
        result = _rescored(submission, standard)
    else:
        from fairspace.answers import score as scored
        from fairspace.submissions.uncertainty.uncertainty import check_resamples

        about: dict[str, Any] = {
            "dataset_revision": dataset_revision,
            "model": model,
            "standard": standard,
            "reading": reading,
        }
        about |= {"ares": ares, "measurement": measurement, "faces": faces, "second": second, "region": region or ""}
        if resamples is not None:
            check_resamples(resamples, "--resamples")
        result = scored(submission, benchmark, resamples=resamples, **about)
    if out is not None:
        from fairspace.builders.writing import write_text

        write_text(out, result.dumps())
    if store is not None:
        from fairspace.leaderboard_space.intake import add_result
        from fairspace.submissions.commands.space import open_store

        storage = open_store(store)
        add_result(storage, result)
        storage.close()
    if as_json and not require:
        app.print_json(result.to_json())
    elif not as_json:
        from fairspace.submissions.show.result import result_text

        app.write(result_text(result, details=details, everything=everything))
        if not everything:
            app.write(MORE[details])
    if require:
        _pass_gate(result, None, require, 0.0, most, as_json, places, submission)


def is_result(path: Path) -> bool:
    """Whether a path is a result, a file with a JSON object, rather than a submission or a table."""
    if not path.is_file():
        return path.suffix == ".json" and not path.is_dir()
    from fairspace.submissions.reading.front import suffix_of

    with path.open("rb") as file:
        is_object = file.read(64).lstrip()[:1] == b"{"
    return is_object and suffix_of(path.name) in ("", ".json")


def _rescored(path: Path, standard: str) -> Result:
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.results.scoring import load_result, rescore

    if not path.is_file():
        raise UsageError(f"There is no result {path}; `fairspace score` writes one with --out.")
    result = load_result(path)
    fit = benchmark(result.benchmark).default_for(result.signature.get("dataset_revision", ""))
    return rescore(result, standard or fit)


def _what_if(path: Path, standard: str, texts: Sequence[str], tau: float | None, as_json: bool) -> None:
    """Print the scores of a result as released and with other weights, or another threshold."""
    from fairspace.submissions.benchmarks.scoring_table import Adjustment
    from fairspace.submissions.results.scoring import rescore

    weights: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition(":")
        try:
            weights[name] = float(number)
        except ValueError:
            raise UsageError(f"--weight {text[:60]}: expected a part and its weight, such as IFS_Gen:2.") from None
    released = _rescored(path, standard)
    scored = rescore(released, released.standard, Adjustment(weights, tau)).scored
    if as_json:
        app.print_json(
            {
                "standard": released.standard,
                "weights": weights,
                "tau": tau,
                "labels": scored.labels,
                "unranked": list(scored.unranked),
                "scores": [value.to_json() for value in scored.scores.values()],
            }
        )
        return
    pairs = [(name, released.scored.scores[name].value, value.value) for name, value in scored.scores.items()]
    rows = [(name, *("–" if n is None else f"{n:.4g}" for n in numbers)) for name, *numbers in pairs]
    names = dict.fromkeys([*released.scored.labels, *scored.labels])
    rows += [(name, *(each.labels.get(name, "–") for each in (released.scored, scored))) for name in names]
    app.write(Table(("score", "released", "what if"), rows, f"What if, not {released.standard}"))
    app.print_notes(
        ["Compare scores of one what-if with each other alone: other weights change their scale.", *scored.unranked]
    )


@app.command(app.SCORE, "fairspace compare mine.json theirs.json")
def compare(
    compared: list[Path],
    fail_if_worse: bool = False,
    score_name: list[str] | None = None,
    margin: float = 0.0,
    junit: Path | None = None,
    summary: Path | None = None,
    stability: bool = False,
    as_json: bool = False,
) -> None:
    """Compare results: the sure differences, biggest first, then every value, with corrected significance.

    Of submissions to stereotypical_bias: ensemble, similarity, and the difference that a prompt prefix makes.

    Options:
        compared (RESULT|SUBMISSION): Two or more results, submissions to stereotypical_bias, or runs of one model.
        fail_if_worse: Exit code 3 if the second result is shown to be less fair, or unknown.
        score_name (--score): Value that --fail-if-worse tests; may be repeated. The ranked one if left out.
        margin: Larger distance from the ideal that --fail-if-worse lets pass.
        stability: How alike the answers and values of runs of one model are, each a submission with its own --seed.
    """
    if len(compared) < 2:
        raise UsageError("Name two results or submissions, or more.")
    places = _gate_places(junit, summary)
    results = [is_result(path) for path in compared]
    if fail_if_worse and stability:
        raise UsageError("--stability and --fail-if-worse do not go together; leave one out.")
    if fail_if_worse:
        if len(compared) > 2 or not all(results):
            raise UsageError("--fail-if-worse tests one result against another: fairspace compare base.json new.json.")
        from fairspace.submissions.results.scoring import load_result

        base, tested = (load_result(path) for path in compared)
        _pass_gate(tested, base, score_name or (), margin, None, as_json, places, compared[1])
        return
    if score_name or margin or places:
        what = "--score, --margin, --junit and --summary are for --fail-if-worse"
        raise UsageError(f"{what}; name it, or leave them out.")
    if stability:
        from fairspace.repeating import stability as stability_of

        if any(results):
            raise UsageError("--stability reads answers, which a result does not hold; name submissions.")
        stable = stability_of(*compared)
        app.print_json(stable.to_json()) if as_json else app.write(repr(stable))
        return
    if all(results):
        _compare_results(compared, as_json)
        return
    if any(results):
        raise UsageError("Name results alone or submissions alone; `fairspace score` makes results with --out.")
    from fairspace.answers import submission_of
    from fairspace.submissions.benchmarks.stereotypical_bias.compare import compare as compare_runs

    submissions = [submission_of(path, allow_images=False) for path in compared]
    values: Mapping[str, Any] = compare_runs(submissions)
    if as_json:
        app.print_json({name: value.to_json() for name, value in values.items()})
    else:
        from fairspace.submissions.results.scoring import marks_of
        from fairspace.submissions.show.headline import bare_table

        agreed = {name: value.evidence["agreed"] for name, value in values.items() if "agreed" in value.evidence}
        words = {
            name: f"{n:,} of {values[name].expected:,} questions have one group of all" for name, n in agreed.items()
        }
        app.write(bare_table("Comparison", values, words))
        for path, submission in zip(compared, submissions, strict=True):
            for mark in marks_of(submission.dump_meta(), submission.manifest.run() if submission.manifest else ()):
                app.write(wrapped(f"{path} is a part of the benchmark: {mark}."))


def _gate_places(junit: Path | None, summary: Path | None) -> dict[str, Path]:
    """The files that a gate writes, by kind."""
    places = {name: path for name, path in (("junit", junit), ("summary", summary)) if path is not None}
    for path in places.values():
        app.check_places(path)
    return places


def _pass_gate(
    tested: Result,
    base: Result | None,
    names: Sequence[str],
    margin: float,
    most: float | None,
    as_json: bool,
    places: Mapping[str, Path],
    file: Path,
) -> None:
    """Print a gate and write it to `places`; exit code 3 if it fails, 4 if it could not decide."""
    from fairspace.builders.writing import write_text
    from fairspace.submissions.gating import gate

    gated = gate(tested, base, scores=names, margin=margin, most=most)
    if "junit" in places:
        write_text(places["junit"], gated.to_junit(file.as_posix()))
    if page := places.get("summary") or os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(page).open("a", encoding="utf-8") as opened:
            opened.write(gated.to_markdown())
    if as_json:
        app.print_json(gated.to_json())
    else:
        app.write(repr(gated))
    if not gated.passes:
        raise typer.Exit(gated.exit_code)


def _compare_results(paths: Sequence[Path], as_json: bool) -> None:
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.comparing import compare
    from fairspace.submissions.results.scoring import load_result

    results = [load_result(path) for path in paths]
    compared = compare(*results)
    if not compared.known:
        raise UsageError(_why_nothing_is_compared(results, paths))
    if as_json:
        about = {"base": compared.model_names[0], "higher_is_better": benchmark(results[0].benchmark).higher_is_better}
        app.print_json([about | line.to_json() for line in compared.known])
    else:
        app.write(repr(compared))


def _why_nothing_is_compared(results: Sequence[Result], paths: Sequence[Path]) -> str:
    """Results without draws, or without a number."""
    without = [path.name for path, result in zip(paths, results, strict=True) if result.draws is None]
    lacking = [score for result in results if (score := result.scored.shown[result.scored.ranking]).value is None]
    if without and not lacking:
        return (
            "Nobody knows whether the differences are real: "
            f"{' and '.join(without)} keep no resamples to compare: scored with --resamples 0, or by an older version. "
            "Score the submission again."
        )
    reason = f": {lacking[0].name} is {lacking[0].state.replace('_', ' ')}, as {lacking[0].reason}" if lacking else ""
    return f"No score has a number in the first result and in another, so there is nothing to compare{reason}."


@app.command(app.SCORE, "fairspace readings my-submission --out readings.jsonl")
def readings(submission: Path, out: Path | None = None, as_json: bool = False) -> None:
    """Show what the answers of a submission are read as: counts per task and rule, and examples with what was read.

    Options:
        out (metavar=FILE): Write every row with its reading, as .jsonl or .parquet.
    """
    app.check_places(out)
    if out is not None and out.suffix not in _READINGS:
        raise UsageError(f"--out {out.name}: expected a name that ends in {' or '.join(_READINGS)}.")
    from fairspace.answers import submission_of
    from fairspace.submissions.answers.rows import read_rows, summarise, write_read_rows
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.show.submission import readings_text

    checked = submission_of(submission, allow_images=False)
    bench = benchmark(checked.meta.benchmark)
    every = list(read_rows(checked, bench))
    if out is not None:
        count = write_read_rows((rows.table() for rows in every), out)
        typer.echo(f"{out}: {count:,} rows with their readings", err=as_json)
        if not as_json:
            return
    summaries = summarise(every, bench, checked.meta.dataset_revision)
    if as_json:
        app.print_json({"tasks": {task: summary.to_json() for task, summary in summaries.items()}})
    else:
        app.write(readings_text(submission.name, summaries))


@app.command(app.SCORE, "fairspace corpus captions.jsonl --column caption")
def corpus(texts: list[str], column: str = "text", out: Path | None = None) -> None:
    """Count a corpus' words for men and women beside occupations and descriptors (stereotypical bias, Table A9).

    Options:
        texts (argument): Files (.txt, .jsonl, .parquet, .gz), folders, or - for lines.
        column: Column of the texts in JSON Lines and Parquet.
        out (metavar=FILE): Write the table as .csv or .json.
    """
    app.check_places(out)
    if out is not None and out.suffix not in (".csv", ".json"):
        raise UsageError(f"--out {out.name}: expected a name that ends in .csv or .json.")
    from fairspace.builders.writing import write_text
    from fairspace.submissions.benchmarks.stereotypical_bias.corpus import count_corpus

    frame = count_corpus(texts, column)
    if out is not None:
        write_text(out, frame.to_csv() if out.suffix == ".csv" else frame.to_json(orient="index", indent=1))
    typer.echo(frame.to_string(float_format="{:.4f}".format, na_rep="N/A"))
    note = "low to high: 95 % interval of the score, exact if words are independent; table_a9: the paper's counts."
    app.write(wrapped(note))


@app.command(app.SCORE, "fairspace report mine.json theirs.json --out report.html --out tables.tex")
def report(
    results: list[Path] | None = None,
    out: list[Path] | None = None,
    paper: bool = False,
    eee: Path | None = None,
    card: Path | None = None,
    evidence: Path | None = None,
    evidence_template: Path | None = None,
) -> None:
    """Report results for readers: one model, or several side by side; Markdown to the terminal if no FILE is named.

    Options:
        results (RESULT): What `fairspace score --out` wrote, a file for each model; with --paper also submissions to
            compare, or the folder of a probe.
        out (metavar=FILE): FILE.html: one page that needs no network. FILE.tex: tables with booktabs, methods,
            citations. FILE.csv: every score and component metric, a line each. FILE.md: tables and methods. Can be
            given again.
        paper: The paper's tables and figures with your models, as files in a folder --out.
        eee: Folder for the layout of Every Eval Ever 0.3, data/fairspace/...
        card: Folder of a model's repository: completes its README.md, and .eval_results/.
        evidence (metavar=FILE.toml): Your statements and thresholds.
        evidence_template (metavar=FILE.toml): Write an empty FILE.toml for --evidence, and nothing else.
    """
    files = out or []
    settings = {"RESULT": results, "--out": files, "--paper": paper, "--eee": eee, "--evidence": evidence}
    settings["--card"] = card
    refuse_together(settings | {"--evidence-template": evidence_template}, APART)
    from fairspace.builders.writing import write_text

    if evidence_template is not None:
        from fairspace.submissions.report.evidence import TEMPLATE

        app.check_places(evidence_template)
        if evidence_template.exists():
            raise UsageError(f"--evidence-template: {evidence_template} is there already. Name a new file.")
        write_text(evidence_template, TEMPLATE)
        typer.echo(f"Wrote {evidence_template}: fill it in, and name it with --evidence.")
        return
    if not results:
        raise UsageError("Name a RESULT, or several; `fairspace score` writes one with --out.")
    if paper and (len(files) != 1 or files[0].is_file() or files[0].suffix in FORMATS):
        raise UsageError("--paper: expected one folder for the tables and figures. Name it with --out FOLDER.")
    for file in () if paper else files:
        app.check_places(file)
        if file.suffix not in (*FORMATS, *([".json"] if evidence else [])):
            raise UsageError(f"--out {file.name}: expected a name that ends in one of {', '.join(FORMATS)}.")
    from fairspace.submissions.report.contents import make_report, to_csv, to_latex, to_markdown
    from fairspace.submissions.results.scoring import load_result

    sources = [path for path in results if paper and (path.name == "probe.json" or not is_result(path))]
    loaded = [load_result(path) for path in results if path not in sources]
    if not loaded:
        raise UsageError("--paper: expected a result, too. `fairspace score` writes one with --out.")
    if paper:
        from fairspace.builders.errors import install_command
        from fairspace.submissions.report.paper import write_paper

        written = write_paper(loaded, files[0], sources)
        png = "" if any(file.suffix == ".png" for file in written) else f" For PNG: {install_command('png')}"
        typer.echo(f"Wrote {len(written)} files; {written[0]} shows them all.{png}")
        return
    if eee is not None:
        from fairspace.submissions.exchange import export

        for result in loaded:
            typer.echo(f"Wrote {export(result, eee)}")
        if not files:
            return
    if card is not None:
        from fairspace.submissions.report.model_card import write_card

        for result in loaded:
            for file in write_card(result, card):
                typer.echo(f"Wrote {file}")
        return
    contents = make_report(loaded)
    if evidence is not None:
        from fairspace.submissions.report.evidence import evidence_page, read_statement

        contents = evidence_page(contents, read_statement(evidence))
    for file in files:
        if file.suffix == ".html":
            from fairspace.submissions.report.contents import to_html

            text = to_html(contents)
        elif file.suffix == ".json":
            from fairspace.submissions.report.evidence import to_json

            text = to_json(contents)
        else:
            text = {".tex": to_latex, ".csv": to_csv, ".md": to_markdown}[file.suffix](contents)
        write_text(file, text)
        typer.echo(f"Wrote {file}")
    if not files:
        typer.echo(to_markdown(contents), nl=False)
