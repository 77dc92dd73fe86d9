"""Score a submission; rescore a result, also by another instrument; load a result file."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fairspace.metrics.columns import Floats
from fairspace.metrics.resampling import SEED, Sample, estimate
from fairspace.submissions.answers.items import Items, items_of
from fairspace.submissions.answers.misreading import reading_variants
from fairspace.submissions.answers.rows import Summary, read_rows, summarise
from fairspace.submissions.answers.second import SecondReadings, second_variant
from fairspace.submissions.benchmarks.benchmark import AS_AUTHORS, FORM, Benchmark, Scored, form_of, scores_revision
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED, Adjustment
from fairspace.submissions.checking.consistency import prove
from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.format.faults import show
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.reading.canonical import in_order
from fairspace.submissions.reading.tables import check_values, decode, parse
from fairspace.submissions.results.draws import Draws, keep, with_uncertainty
from fairspace.submissions.results.known_answers import answers_digest
from fairspace.submissions.results.result import Result
from fairspace.submissions.uncertainty.uncertainty import Kind, Variant, resamples_setting
from fairspace.submissions.values import Value, number_of


def resample(
    samples: Sequence[Sample], values: Mapping[str, Value], resamples: int, kept: frozenset[str] = frozenset()
) -> tuple[dict[str, Value], Draws | None]:
    """The values with their uncertainty (none without a sample), and the draws of `kept` values, of all by default.

    `resamples`: 1 at least. ValueError if a table gives another number than the measured value.
    """
    measured = dict(values)
    names: list[str] = []
    columns = []
    answered = {name: (value.valid, value.expected) for name, value in values.items()}
    for table, families in samples:
        estimated = estimate(table, families, resamples, answered)
        for name, drawn in estimated.columns():
            about, value = estimated.uncertainty.get(name), values[name].value
            if value is not None and not np.isclose(estimated.value[name], value, rtol=1e-6, atol=1e-7):
                raise ValueError(f"{name} was measured as {value}, and its table gives {estimated.value[name]}")
            if about is None or value is None:
                continue
            measured[name] = replace(values[name], uncertainty=about)
            if not kept or name in kept:
                names.append(name)
                columns.append(as_wide(drawn, about.error))
    draws = keep(names, np.stack(columns, axis=1)) if names else None
    return measured, draws


def as_wide(column: Floats, error: float) -> Floats:
    """Replicates rescaled to the reported standard error: near a floor they vary too little."""
    middle, spread = np.nanmean(column), np.nanstd(column, ddof=1)
    return np.asarray(middle + (column - middle) * (error / spread)) if 0 < spread < error else column


MAX_BYTES = 64 << 20
"""Largest result file; ours are below a megabyte."""
DEPTH = 16
AUTHORS = "authors"
"""Reading of answers as in the paper or its authors' code."""
SAMPLE = "sample estimate, not ranked"
"""Beginning of the reason for a score estimated from a partial run."""
Ends = tuple[float, float]
_LABELS = ("labels_corrected", "labels_transported", "human_labels")
"""Kinds of variants with corrected labels."""
_HASH = re.compile("[0-9a-f]{64}")


def limits_of(result: Result) -> tuple[str, ...]:
    """Marks of a partial run, such as `limited to 50 stimuli a task`; empty for a whole one."""
    return marks_of(result.meta, result.run)


def marks_of(meta: Mapping[str, Any], run: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Marks as in `limits_of`, from `generation` and the judge's settings in `submission.json`, and every stage."""
    from fairspace.submissions.format.manifest import PART_MARK, SAMPLE_MARK, limit_mark, on_sample

    judge = meta.get("judge")
    settings = [meta.get("generation"), judge.get("settings") if isinstance(judge, Mapping) else None]
    abouts = [*(about for about in settings if isinstance(about, Mapping)), *run]
    limits = [(about.get("limit"), about.get("stratified") is True) for about in abouts]
    marks = [limit_mark(limit, stratified) for limit, stratified in limits if type(limit) is int and limit > 0]
    parts = [about[PART_MARK] for about in settings if isinstance(about, Mapping) and PART_MARK in about]
    marks += [f"part {show(part).strip(chr(39))}" for part in parts]
    forms = [form_of(about) for about in settings if isinstance(about, Mapping)]
    marks += [f"asked in another form than the paper's ({form})" for form in forms if form]
    if any(map(on_sample, abouts)):
        marks.append(SAMPLE_MARK)
    return tuple(dict.fromkeys(marks))


def _scored(
    bench: Benchmark,
    values: Mapping[str, Value],
    standard: Any,
    meta: Mapping[str, Any],
    run: Sequence[Mapping[str, Any]],
    revision: str,
    draws: Draws | None,
    readings: Mapping[str, Summary],
    adjustment: Adjustment = AS_RELEASED,
    reading: str = "",
) -> Scored:
    """A rank needs a complete run, a dataset revision that the standard was released for, and the board's reading."""
    scored = bench.score(values, standard, adjustment)
    if draws is not None:
        scored = with_uncertainty(bench, scored, values, draws, standard, adjustment)
    marks, unranked = marks_of(meta, run), list[str]()
    if marks:
        scored = replace(scored, part=True, sample=_sample(bench, scored, values, standard, draws, adjustment))
    if not scores_revision(standard, bench.base_revision(revision)):
        unranked += [f"answers to the items of dataset revision {revision}, which {standard.name} does not rank"]
    if reading:
        unranked += [f"read as the {reading} read answers; boards rank rows that are read by their rules"]
    if unranked or marks or scored.ranked is None:  # first what another choice mends
        scored = replace(scored, ranked=None, unranked=(*unranked, *_unread(readings), *scored.unranked, *marks))
    return scored


UNREAD = "answers could be read"


def _unread(readings: Mapping[str, Summary]) -> Iterator[str]:
    for task, summary in readings.items():
        refused = summary.outcomes.get("refused", 0)
        if summary.handed_in and summary.outcomes["unusable"] + refused == summary.handed_in:
            example = next((f", such as {each.before!r}" for each in summary.examples if each.before), "")
            cut = summary.rules.get("cut off", 0)
            mend = f"; {cut:,} end inside their reasoning: raise -M max_tokens" if cut else ""
            mend += f"; {refused:,} refuse" if refused else ""
            yield f"{task}: 0 of {summary.handed_in:,} {UNREAD}{example}{mend}"


def _sample(
    bench: Benchmark,
    scored: Scored,
    values: Mapping[str, Value],
    standard: Any,
    draws: Draws | None,
    adjustment: Adjustment,
) -> dict[str, Value]:
    """Scores estimated from the given answers, where only samples are missing (`Scored.sample`)."""
    estimates = {
        name: replace(value, reason=f"{SAMPLE}: {scored.scores[name].reason}")
        for name, value in bench.table_of(scored, standard, adjustment).values(values).items()
        if value.state == "value" and scored.scores[name].state == "undefined"
    }
    if draws is None or not estimates:
        return estimates
    sure = with_uncertainty(bench, replace(scored, scores=estimates), values, draws, standard, adjustment)
    return dict(sure.scores)


def find_standard(bench: Benchmark, name: str) -> Any:
    """The benchmark's standard of that name, its default for ''. UsageError names the known ones."""
    name = name or bench.default
    try:
        return bench.standards[name]
    except KeyError:
        close, names = did_you_mean(name, bench.standards), ", ".join(bench.standards)
        raise UsageError(f"{bench.name} has no standard {name!r}{close}. Known: {names}.") from None


def score_submission(
    submission: Submission,
    standard: str = "",
    resamples: int | None = None,
    reading: str = "",
    second: SecondReadings | None = None,
    region: Path | None = None,
) -> Result:
    """Measure a checked submission and score it under a standard, the default of its dataset revision for ''.

    Args:
        submission: Checked submission.
        standard: Name of the standard.
        resamples: Resamples for intervals; 0 for none; `FAIRSPACE_RESAMPLES`, or 1 000, if left out.
        reading: Reading rules: '' for this project's, `AUTHORS` for the paper's, whose results have every score and no
            rank, and keep neither variants nor answers.
        second: A second reader's readings, which give a variant.
        region: File of labour figures of one's own, scored under a standard of its own in place of `standard`.
    Errors: UsageError if its images are not labelled, if there is no such reading, or for a region where no figures
        are compared with; BuildError REGION_INVALID for a file that breaks the layout.
    """
    from fairspace.submissions.version import VERSION

    if submission.images is not None:
        raise UsageError(f"The submission holds {submission.images.num_rows:,} images that nothing has labelled yet.")
    if not submission.digest:  # made here, not read
        submission = replace(submission, tables=in_order(submission.tables))
    bench = benchmark(submission.meta.benchmark)
    records = bench.read(submission)
    if region is not None:
        if bench.with_region is None or standard:
            raise UsageError(f"{standard or bench.name} takes no labour figures of a region; leave out one of the two.")
        records, standard = bench.with_region(records, region)
    rules = find_standard(bench, standard or bench.default_for(submission.meta.dataset_revision))
    if reading:
        records = _read_by(reading, bench)(records)
    values: Mapping[str, Value] = bench.measure(records)
    times = resamples_setting() if resamples is None else resamples
    draws = None
    if times:
        parts = {name for rule in bench.scoring.table(rules, AS_RELEASED).rules.values() for name in rule.weights}
        kept = bench.scoring.drawn and bench.scoring.drawn | (parts if region is not None else set())
        values, draws = resample(bench.designs(records), values, times, kept)
    rows = list(read_rows(submission, bench))
    variants: tuple[Variant, ...] = ()
    if times and not reading:
        variants = (*bench.variants(records, values), *reading_variants(submission, bench, records, rows, values))
    if second is not None and not reading:
        variants += (second_variant(second, submission, records, rows, values),)
    meta = submission.dump_meta()
    meta.pop("contact")
    signature = {
        "standard": rules.name,
        "dataset_revision": submission.meta.dataset_revision,
        "submission": submission.digest,
        "fairspace": VERSION,
    }
    for role, tool in (("labels", submission.meta.labels), ("judge", submission.meta.judge)):
        if tool is not None:
            signature[role] = f"{tool.name}@{tool.version}"
            measurement = tool.settings.get("measurement")
            if isinstance(measurement, str) and _HASH.fullmatch(measurement):  # a text of the submitter's signs nothing
                signature[f"{role}_measurement"] = measurement
    if submission.tables:
        signature["answers"] = answers_digest(submission.tables)
    signature |= bench.signature(submission)
    if form := form_of(submission.meta.generation):
        signature[FORM] = form
    if bench.asking.authors.kept(submission.meta):
        signature[AS_AUTHORS] = "settings"
    if reading:
        signature |= {**bench.answers.authors_signature, "reading": reading}
    if draws is not None:
        signature["resamples"] = f"{times}, seed {SEED}"
    run = submission.manifest.run() if submission.manifest is not None else ()
    readings: Mapping[str, Summary] = {}
    items: Items = {}
    if not reading:  # both show how our rules read the answers
        readings = summarise(rows, bench, submission.meta.dataset_revision)
        items = items_of(bench, submission, records, rows)
    scored = _scored(
        bench, values, rules, meta, run, submission.meta.dataset_revision, draws, readings, reading=reading
    )
    proof = prove(submission, bench, rows)
    return Result(bench.name, rules.name, meta, values, scored, signature, run, draws, variants, readings, proof, items)


def _read_by(reading: str, bench: Benchmark) -> Callable[[Any], Any]:
    if reading != AUTHORS:
        raise UsageError(f"There is no reading {reading!r}{did_you_mean(reading, [AUTHORS])}. Known: {AUTHORS}.")
    if bench.answers.authors is None:
        raise UsageError(
            f"{bench.name} has no reading {AUTHORS}: how its authors read free answers is not known. Leave it out; "
            "`fairspace score --all` lists what their way of counting gives (authors_reading)."
        )
    return bench.answers.authors


def rescore(result: Result, standard: str, adjustment: Adjustment = AS_RELEASED, *, errors: bool = True) -> Result:
    """Score the same raw values under a standard or an adjustment; without `errors` scores have no uncertainty.

    UsageError: unknown standard, or an adjustment that does not fit it.
    """
    bench = benchmark(result.benchmark)
    rules = find_standard(bench, standard)
    if adjustment != AS_RELEASED:
        adjustment = bench.scoring.adjustable(rules).check(adjustment)
    draws = result.draws if errors else None
    revision = result.signature.get("dataset_revision", "")
    reading = AUTHORS if result.signature.get("reading") == AUTHORS else ""
    scored = _scored(
        bench, result.values, rules, result.meta, result.run, revision, draws, result.readings, adjustment, reading
    )
    signature = {**result.signature, "standard": rules.name}
    return replace(result, standard=rules.name, scored=scored, signature=signature)


def load_result(path: Path) -> Result:
    """The result in a file, rescored from its raw values: a file's own scores are not trusted.

    UsageError if the file is no JSON or no result.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder, no result: `fairspace score {path} --out result.json` makes one.")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path} is no result: it has more than {MAX_BYTES:,} bytes.")
        data = parse(decode(path.read_bytes()), DEPTH)
        check_values(data)
        read = Result.from_json(data)
        bench, result = benchmark(read.benchmark), rescore(read, read.standard)
        limits = bench.scoring.table(find_standard(bench, result.standard), AS_RELEASED).limits
        for name, number in ((name, number_of(result.scored.shown, name)) for name in limits):
            if number is not None and abs(float(np.clip(number, *limits[name])) - number) > 1e-9:  # rounding
                raise ValueError(f"{name} is {number:.6g}, outside its limits")
        return result
    except (OSError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError) as error:
        what = show(str(error), 200)
        raise UsageError(f"{path} is no result: {what}. `fairspace score` writes one with --out.") from error


def variant_scores(result: Result, standard: str) -> dict[Kind, dict[str, Ends]]:
    """Kind of variant -> score -> smallest and largest number over the standard's instrument and the variants.

    A variant's values replace the measured ones. Scores undefined by either instrument are left out.
    - Another judge is scored as that judge: GENRES' total is the distance from the cohort of its own family.
    - Corrected labels give values less their bias at this number of samples, so a measured value moves by the corrected
      less its own debiased estimate; without such an estimate the corrected one replaces it.
    UsageError if the benchmark has no such standard.
    """
    bench = benchmark(result.benchmark)
    rules = find_standard(bench, standard)
    measured = bench.score(result.values, rules).scores
    plain = {name: (score.value, score.value) for name, score in measured.items() if score.value is not None}
    by_kind: dict[Kind, dict[str, Ends]] = {}
    for variant in result.variants:
        ranges = by_kind.setdefault(variant.kind, dict(plain))
        for name, score in bench.score(_measured_so(variant, result.values, bench), rules).scores.items():
            if name in ranges and score.value is not None:
                low, high = ranges[name]
                ranges[name] = min(low, score.value), max(high, score.value)
    return by_kind


def instrument_ranges(result: Result, scores: Mapping[Kind, Mapping[str, Ends]]) -> dict[str, Ends]:
    """Raw value or score -> its smallest and largest number by any other instrument, where one gives it.

    `scores`: ranges from `variant_scores`.
    """
    by_name: dict[str, Ends] = {}
    ranges: list[Mapping[str, Ends]] = [*scores.values()] if result.variants else []
    ranges += [{name: (number, number) for name, number in variant.values.items()} for variant in result.variants]
    for part in ranges:
        for name, (low, high) in part.items():
            least, most = by_name.get(name, (low, high))
            by_name[name] = min(least, low), max(most, high)
    return by_name


def _measured_so(variant: Variant, values: Mapping[str, Value], bench: Benchmark) -> dict[str, Value]:
    changed = dict(values)
    for name, number in variant.values.items():
        value = values.get(name)
        if value is None or value.value is None:
            continue
        if variant.kind in _LABELS:
            number = _moved(value, number, bench.scoring.label_limits.get(name, (-np.inf, np.inf)))
        changed[name] = replace(value, value=number)
    if variant.kind in ("judge", "repeated_evaluations"):
        for name, value in values.items():
            measured, at, _ = name.partition("@")
            if at and measured in changed and value.evidence.get("judge") == variant.name:
                changed[measured] = replace(changed[measured], evidence=value.evidence)
    return changed


def _moved(raw: Value, corrected: float, limits: Ends) -> float:
    plain = None if raw.uncertainty is None else raw.uncertainty.debiased
    if raw.value is None or plain is None:
        return corrected
    return float(np.clip(raw.value + (corrected - plain), *limits))
