"""`fairspace verify-submission`: ask a model or a judge a random part of its answers again, and compare.

OUT/seed.json   the secret seed and the submission's digest; published with the outcome
OUT/first/      the answers of the rerun: a submission of the part alone
OUT/second/     those of a second rerun, if the first does not settle it
OUT/judge-first/, OUT/judge-second/   journal and logs of the judge, likewise

The part is drawn by a seed that the submitter cannot know.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fairspace.builders.writing import write_text
from fairspace.submissions.answers.likeness import Key, TaskAnswers, answers_of
from fairspace.submissions.answers.rows import read_rows
from fairspace.submissions.benchmarks.benchmark import AS_AUTHORS, FORM, PAPER
from fairspace.submissions.benchmarks.genres.parse.judge import NOTHING, read_narrative, read_profile
from fairspace.submissions.benchmarks.genres.parse.persons import Names
from fairspace.submissions.benchmarks.genres.records import pros_and_cons
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.task import Stimulus, TaskStimuli
from fairspace.submissions.checking.consistency import TaskConsistency, broken, prove, rests_on_judge
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.schema import Submission, SubmissionMeta
from fairspace.submissions.reading.canonical import tables_digest
from fairspace.submissions.running.asking.answering import answer
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark
from fairspace.submissions.running.asking.models import COMPLETION, DEFAULT, SENT, ModelSettings
from fairspace.submissions.running.folders import public_name
from fairspace.submissions.running.judging import ANALYSIS, ANALYSIS_SINGLE, PART, Judging, open_judging
from fairspace.submissions.running.planning import made_parts
from fairspace.submissions.running.rerunning.agreement import PartAgreement, Verdict, compare, pairs
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings, Tell

ITEMS = 385
"""Requests of a part: a 95 % confidence interval of a share is then at most 5 points to either side."""
_LEAST = 10
"""Least number of requests of a task, if it has them."""


@dataclass(frozen=True)
class RerunPart:
    """The part that is asked again: the run's drawn stimuli alone, with its own settings.

    Args:
        uncovered: tasks that cannot be asked again: no model for them was named, or their prompts follow from the
            model's images. A judge's tasks are not among them.
    """

    chosen: ChosenPart
    uncovered: tuple[str, ...]

    @property
    def stimulus_of(self) -> Mapping[str, Mapping[Key, str]]:
        """Task -> id and sample of a drawn request -> its stimulus (cluster)."""
        return self.chosen.only or {}


def chosen_as(meta: SubmissionMeta, data: str) -> ChosenPart:
    """A run of the whole benchmark with the settings that a submission states."""
    stated = meta.generation
    seed, form = stated.get("seed"), stated.get(FORM)
    return ChosenPart(
        meta.benchmark,
        data,
        seed=seed if type(seed) is int else None,
        prefix=str(stated.get("prefix", "plain")),
        text_only=stated.get("text_only") is True,
        dataset_revision=meta.dataset_revision,
        form=form if isinstance(form, str) else PAPER,
        as_authors=stated.get(AS_AUTHORS) is True,
    )


def draw_part(
    submission: Submission,
    seed: str,
    data: str,
    *,
    texts: bool,
    images: bool,
    items: int = ITEMS,
    without: Sequence[str] = (),
) -> RerunPart:
    """Draw a part of at least `items` handed-in answers, evenly over the tasks but those `without`.

    `submission` is checked, its images labelled; `texts` and `images` say whether a model answers, or makes images.
    Errors: as `open_benchmark`.
    """
    bench = benchmark(submission.meta.benchmark)
    whole = chosen_as(submission.meta, data)
    handed_in = {task.name: _keys(submission, task.table, task.name) for task in bench.tasks}
    present = [task for task in bench.tasks if handed_in[task.name] and not task.judges and task.name not in without]
    tasks = [
        task.name
        for task in present
        if (task.table == "responses" and texts) or (task.table == "annotations" and images and task.items is not None)
    ]
    share = max(_LEAST, -(-items // max(1, len(tasks))))
    stimulus_of: dict[str, dict[Key, str]] = {}
    answered = tuple(task for task in tasks if bench.task(task).table == "responses")
    opened = open_benchmark(replace(whole, tasks=answered)) if answered else None
    for task, part in opened.parts.items() if opened is not None else ():

        def asked(place: int, part: TaskStimuli = part) -> list[Key]:
            return [(ask.id, ask.sample) for ask in part.read(place).asks]

        stimulus_of[task] = _take(seed, part.stimuli, asked, handed_in[task], share)
    made = tuple(task for task in tasks if bench.task(task).table == "annotations")
    for image_part in made_parts(replace(whole, tasks=made)) if made else ():
        stimuli = image_part.stimuli

        def image(place: int, stimuli: Sequence[Stimulus] = stimuli) -> list[Key]:
            return [(stimuli[place].stratum, int(stimuli[place].id.rpartition("/")[2]))]

        stimulus_of[image_part.task] = _take(seed, stimuli, image, handed_in[image_part.task], share)
    uncovered = tuple(task.name for task in present if task.name not in stimulus_of)
    return RerunPart(replace(whole, tasks=tuple(stimulus_of), only=stimulus_of), uncovered)


def rank(seed: str, *parts: object) -> bytes:
    """A sort key in a random order given by the seed."""
    return hmac.digest(seed.encode(), "\0".join(map(str, parts)).encode(), "sha256")


def _keys(submission: Submission, table: str, task: str) -> set[Key]:
    rows = submission.rows(table, task)
    return set(zip(rows["id"].to_pylist(), rows["sample"].to_pylist(), strict=True))


def _take(
    seed: str, stimuli: Sequence[Stimulus], keys_of: Callable[[int], Iterable[Key]], handed_in: set[Key], share: int
) -> dict[Key, str]:
    """A few handed-in requests of each of many stimuli, in the seed's order: stimuli are clusters of answers."""
    taken: dict[Key, str] = {}
    order = sorted(range(len(stimuli)), key=lambda place: rank(seed, stimuli[place].task, stimuli[place].id))
    rest: list[tuple[Key, str]] = []
    for place in order:
        if len(taken) >= share:
            break
        there = sorted((key for key in keys_of(place) if key in handed_in), key=lambda key: rank(seed, *key))
        each = -(-share // len(stimuli))
        taken |= dict.fromkeys(there[:each], stimuli[place].id)
        rest += [(key, stimuli[place].id) for key in there[each:]]
    return taken | dict(rest[: max(0, share - len(taken))])


_WORST_FIRST: tuple[Verdict, ...] = ("differs", "undecided", "agrees")


@dataclass(frozen=True)
class JudgeOutcome:
    """The outcome of asking the `declared` judge again; `answers` is the digest of the `asked` model's judgements."""

    declared: str
    asked: str
    seed: str
    comparison: PartAgreement
    answers: str

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons why the judgements do not agree; empty if they do."""
        of = f"the judge {self.declared}, asked as {self.asked}"
        return {
            "agrees": (),
            "differs": (f"more of the judgements than drift explains are not those of {of}",),
            "undecided": (f"the part is too small, or {of}, repeats itself too little, to tell: draw more items",),
        }[self.comparison.verdict]

    def to_json(self) -> dict[str, Any]:
        """JSON data."""
        fields = {name: text for name, text in vars(self).items() if name != "comparison"}
        return {**fields, **self.comparison.to_json()}


@dataclass(frozen=True)
class Verification:
    """The outcome of a verification, kept in the event of a verified row: `agrees` alone lets a row be called verified.

    `reasons` are sentences on why it is another; the part's `seed` is public now, `answers` is the digest of the
    rerun's. `uncovered` tasks were handed in and not compared; `judgements` is the declared judge's outcome, None if
    not asked.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    submission: str
    comparison: PartAgreement
    seed: str
    model: str
    settings: Mapping[str, Any]
    answers: str
    uncovered: tuple[str, ...] = ()
    consistency: Mapping[str, TaskConsistency] = field(default_factory=dict)
    judgements: JudgeOutcome | None = None

    def with_judgements(self, submission: Submission, judgements: JudgeOutcome | None) -> Verification:
        """The outcome with that of the judge; scores that rest on judgements are verified only with them."""
        if judgements is not None:
            return replace(self._lowered(judgements.comparison.verdict, *judgements.reasons), judgements=judgements)
        bench, judge = benchmark(submission.meta.benchmark), submission.meta.judge
        judged = [task.name for task in bench.tasks if task.judges and task.name in self.consistency]
        if judge is None or not judged:
            return self
        outcome = replace(self, uncovered=tuple(dict.fromkeys((*self.uncovered, *judged))))
        if not rests_on_judge(self.consistency, bench):
            return outcome
        reason = f"its score rests on judgements of {judge.name}, which was not asked again: name it with --judge"
        return outcome._lowered("undecided", reason)

    def _lowered(self, verdict: Verdict, *reasons: str) -> Verification:
        """The outcome with the worse of its verdict and a further one."""
        worse = min(self.verdict, verdict, key=_WORST_FIRST.index)
        return replace(self, verdict=worse, reasons=(*self.reasons, *reasons))

    def to_json(self) -> dict[str, Any]:
        """JSON data for the event of a verified row, and the verdict."""
        names = ("submission", "seed", "model", "answers")
        outcome = {
            "how": "rerun",
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            **self.comparison.to_json(),
            **{name: getattr(self, name) for name in names},
            "part": {task: agreement.requests for task, agreement in self.comparison.tasks.items()},
            "settings": dict(self.settings),
            "uncovered": list(self.uncovered),
            "consistency": {task: held.to_json() for task, held in self.consistency.items()},
        }
        return outcome | ({} if self.judgements is None else {"judgements": self.judgements.to_json()})


def proof_of(submission: Submission) -> dict[str, TaskConsistency]:
    """The consistency proof of a submission."""
    bench = benchmark(submission.meta.benchmark)
    return prove(submission, bench, read_rows(submission, bench))


SEED = "seed.json"
Ask = Callable[[str, int | None], tuple[dict[str, TaskAnswers], str]]
"""Name and seed of a rerun -> its answers, and the digest of all of them."""


@dataclass(frozen=True)
class Means:
    """Access to the model, in the form of `fairspace run`; all other settings are the submission's."""

    model: ModelSettings | None = None
    images: str = ""
    ares: str = ""
    faces: Any = None
    data: str = ""

    @property
    def named(self) -> str:
        """The public names of the models."""
        texts = [public_name(self.model.name)] if self.model is not None else []
        scheme, _, what = self.images.partition("?")[0].partition(":")
        return ", ".join([*texts, *([public_name(f"{scheme}/{what}").replace("/", ":", 1)] if scheme else [])])


def rerun(
    submission: Submission,
    means: Means,
    out: Path,
    *,
    items: int = ITEMS,
    without: Sequence[str] = (),
    tell: Tell = lambda what, done, total: None,
) -> Verification:
    """Ask a random part of at least `items` requests again, or go on in the same folder.

    `submission` is checked, its images labelled; tasks `without` (such as those that a judge alone decides) are left
    out.
    Errors: as `run`; UsageError if there is nothing to compare.
    """
    if submission.images is not None:
        raise UsageError("The submission holds images; label them first: `fairspace score --labeller MODEL`.")
    seed = part_seed(out, submission.digest)
    texts, images = means.model is not None, bool(means.images and means.ares)
    part = draw_part(submission, seed, means.data, texts=texts, images=images, items=items, without=without)
    if not any(part.stimulus_of.values()):
        raise UsageError("No answer that was handed in can be asked again with these models; name --model or --images.")
    handed_in = answers_of(submission)
    ask = _asker(submission, means, part, out, tell)
    seeds = part.chosen.seed, _second_seed(submission, part, seed)
    comparison, digest = asked_until_settled(ask, seeds, handed_in, part.stimulus_of)
    proof = proof_of(submission)
    verdict, reasons = judged(comparison, part.uncovered, proof)
    return Verification(
        verdict,
        reasons,
        submission.digest,
        comparison,
        seed,
        means.named,
        dict(submission.meta.generation),
        digest,
        (*part.uncovered, *without),
        proof,
    )


def _second_seed(submission: Submission, part: RerunPart, seed: str) -> int | None:
    """The run's own seed in greedy decoding; else another one, for an independent answer."""
    stated = submission.meta.generation.get("temperature")
    tasks = [benchmark(submission.meta.benchmark).task(task) for task in part.stimulus_of]
    warmest = stated if stated is not None else max(task.settings.get("temperature", 1) for task in tasks)
    return part.chosen.seed if warmest == 0 else other_seed(part.chosen.seed, seed)


def other_seed(of_run: int | None, seed: str) -> int | None:
    """A run's seed for independent answers; None if the run has none."""
    return None if of_run is None else int(hashlib.sha256(seed.encode()).hexdigest()[:7], 16)


def judged(
    comparison: PartAgreement, uncovered: Sequence[str], proof: Mapping[str, TaskConsistency]
) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and why it is not `agrees`."""
    reasons, verdict = [], comparison.verdict
    if verdict == "differs":
        reasons.append("more of the answers than drift explains are not this model's")
    if verdict == "undecided":
        reasons.append("the part is too small, or the model repeats itself too little, to tell: draw more items")
    if uncovered:
        reasons.append(f"not compared: {', '.join(uncovered)}; name a model for them, or leave them out by name")
    if failed := broken(proof):
        reasons.append(f"the consistency proof does not hold for {', '.join(failed)}")
    return ("undecided" if verdict == "agrees" and reasons else verdict), tuple(reasons)


def _asker(submission: Submission, means: Means, part: RerunPart, out: Path, tell: Tell) -> Ask:
    model = None if means.model is None else as_stated(means.model, submission.meta.generation)

    def ask(name: str, seed: int | None) -> tuple[dict[str, TaskAnswers], str]:
        asked_part = replace(part.chosen, seed=seed)
        tables = {benchmark(asked_part.benchmark).task(task).table for task in part.stimulus_of}
        answering = model if "responses" in tables else None
        settings = RunSettings(asked_part, out / name, model=answering, again=True)
        if "annotations" in tables:
            settings = replace(settings, images=means.images, ares=means.ares, faces=means.faces)
        run(settings, lambda what, done, total: tell(f"{what}, {name} rerun", done, total))
        asked = read_submission(out / name)
        return answers_of(asked), asked.digest

    return ask


def as_stated(model: ModelSettings, stated: Mapping[str, Any]) -> ModelSettings:
    """A model with the temperature, top p and tokens that a submission states."""
    names = (*SENT, COMPLETION)
    settings = {name: stated[name] for name in names if name in stated}
    numbers: dict[str, Any] = {
        name: value for name, value in settings.items() if isinstance(value, int | float) or value == DEFAULT
    }
    return replace(model, **numbers)


def asked_until_settled(
    ask: Ask,
    seeds: tuple[int | None, int | None],
    handed_in: Mapping[str, TaskAnswers],
    stimulus_of: Mapping[str, Mapping[Key, str]],
) -> tuple[PartAgreement, str]:
    """Compare answers with those of one rerun, or of two if one does not settle it; return the first one's digest too.

    Errors: RunError RUN_INCOMPLETE if a task of the part has no comparable answer; others of `ask`.
    """
    first, digest = ask("first", seeds[0])
    comparison = _compared(stimulus_of, handed_in, first, None)
    if comparison.verdict != "agrees" and comparison.whole.agreement < 1:  # the model may not repeat itself
        comparison = _compared(stimulus_of, handed_in, first, ask("second", seeds[1])[0])
    return comparison, digest


def _compared(
    stimulus_of: Mapping[str, Mapping[Key, str]],
    handed_in: Mapping[str, TaskAnswers],
    first: Mapping[str, TaskAnswers],
    second: Mapping[str, TaskAnswers] | None,
) -> PartAgreement:
    by_task, nothing = {}, TaskAnswers({}, words=False)
    for task, keys in stimulus_of.items():
        again = None if second is None else second.get(task, nothing)
        compared = pairs(handed_in[task], first.get(task, nothing), again, keys)
        if compared is None:
            what, mend = "no request was answered again", "see the run's log, and run the same command again"
            raise RunError("RUN_INCOMPLETE", f"task {task}", what, "answers to compare", mend)
        by_task[task] = compared
    return compare(by_task)


def part_seed(out: Path, digest: str) -> str:
    """The seed of the part, drawn now or at an earlier start. UsageError if it was drawn for another submission."""
    file = out / SEED
    if not file.is_file():
        out.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps({"submission": digest, "seed": secrets.token_hex(16)}) + "\n")
    seeds = json.loads(file.read_text(encoding="utf-8"))
    if seeds["submission"] != digest:
        raise UsageError(f"{out} holds the verification of another submission; name another --out.")
    return str(seeds["seed"])


# Judgements are compared by the parts that enter a score: the traits of a profile by shared words; a narrative's
# status, main character, and pros and cons by equality.

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
    asked = ChosenPart(submission.meta.benchmark, seed=of_run)
    judging = open_judging(submission, asked)
    stimulus_of = _drawn(judging.opened.parts[PART], rows, seed, items)
    handed_in = said((row for row in rows if (row["task"], row["id"]) in stimulus_of), judging.names)
    ask = _asker_judgements(submission, as_stated(model, stated), judging, set(stimulus_of.values()), out, tell)
    comparison, digest = asked_until_settled(
        ask,
        (of_run, other_seed(of_run, seed) if stated.get("temperature") else of_run),
        handed_in,
        {of: {key: stimulus_of[of.partition("/")[0], key[0]] for key in each.text} for of, each in handed_in.items()},
    )
    return JudgeOutcome(declared.name, public_name(model.name), seed, comparison, digest)


def said(rows: Rows, names: Mapping[str, Names]) -> dict[str, TaskAnswers]:
    """Task, or `task/part` -> compared answers of rows of `judgements`; `names`: id -> names in the narrative."""
    texts: dict[str, dict[Key, str]] = {}
    for row in rows:
        for part, text in _parts(row["task"], row["judgement"], names[row["id"]]).items():
            texts.setdefault(part, {})[row["id"], row["sample"]] = text
    whole = (ANALYSIS, ANALYSIS_SINGLE)
    return {part: TaskAnswers(text, words=part.partition("/")[0] not in whole) for part, text in texts.items()}


def _parts(task: str, judgement: str | None, names: Names) -> dict[str, str]:
    if task == ANALYSIS:
        judged = read_narrative(judgement, names) or NOTHING
        return {f"{task}/{part}": str(getattr(judged, part)) for part in ("status", "main", "stereoscopic")}
    if task == ANALYSIS_SINGLE:
        return {task: str(pros_and_cons(judgement, names))}
    profile = read_profile(judgement)
    return {task: UNREADABLE if profile is None else " ".join(profile.words)}


def _drawn(part: TaskStimuli, rows: Rows, seed: str, items: int) -> dict[tuple[str, str], str]:
    """Task and id of each drawn judgement -> its stimulus; all handed-in judgements of the drawn stimuli."""
    handed_in = {(row["task"], row["id"]) for row in rows}
    drawn: dict[tuple[str, str], str] = {}
    for place in sorted(range(len(part.stimuli)), key=lambda place: rank(seed, PART, part.stimuli[place].id)):
        if len(drawn) >= items:
            break
        keys = [(ask.task, ask.id) for ask in part.read(place).asks]
        drawn |= {key: part.stimuli[place].id for key in keys if key in handed_in}
    return drawn


def _asker_judgements(
    submission: Submission, model: ModelSettings, judging: Judging, stimuli: set[str], out: Path, tell: Tell
) -> Ask:
    opened = judging.opened
    places = [place for place, stimulus in enumerate(opened.parts[PART].stimuli) if stimulus.id in stimuli]
    only = {PART: {(stimulus, 0): stimulus for stimulus in stimuli}}

    def ask(name: str, seed: int | None) -> tuple[dict[str, TaskAnswers], str]:
        answered = answer(
            replace(opened, chosen=replace(opened.chosen, seed=seed, only=only), positions={PART: places}),
            model,
            out / f"judge-{name}",
            again=True,
            tell=lambda what, done, total: tell(f"{what}, {name} time of the judge", done, total),
            repair=judging.repair,
        )
        digest = tables_digest(hashlib.sha256(), {"judgements": answered.table})
        return said(answered.table.to_pylist(), judging.names), digest

    return ask
