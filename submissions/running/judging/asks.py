"""A judge's requests about a GENRES submission, and their repair if an answer cannot be read.

A stimulus is a narrative with its three requests (Figures 10 and 11), or a pair's two stories of one character with
two requests each. The paper states no settings of its judges; ours is temperature 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.genres.ask import stratum
from fairspace.submissions.benchmarks.genres.parse.judge import NOTHING, read_narrative, read_profile
from fairspace.submissions.benchmarks.genres.parse.persons import Names
from fairspace.submissions.benchmarks.genres.records import pros_and_cons
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.task import Ask, ReadStimulus, Stimulus, TaskStimuli, choose, prompts_hash
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.running.asking.asking import RunAsking
from fairspace.submissions.running.asking.inspect_task import ChosenPart, OpenedBenchmark
from fairspace.submissions.running.asking.journal import Journal, JournalEntry

PART = "judgements"
ANALYSIS = "narrative_analysis"
TASKS = ("profile_female", "profile_male", ANALYSIS)
ANALYSIS_SINGLE = "analysis_single"
TASKS_SINGLE = ("profile_single", ANALYSIS_SINGLE)
"""Requests about stories of one character."""
REPAIRS = 2
MAX_TOKENS = 1024
"""Greatest length of an answer: four lists of words are about 150 tokens."""
SETTINGS: Mapping[str, float | int] = {"temperature": 0.0, "max_tokens": MAX_TOKENS}
"""Default settings of a judge."""
TYPICAL_TOKENS = 80
Reading = Literal["read", "read when asked again", "partly read", "unreadable", "refused", "failed"]
READINGS: tuple[Reading, ...] = get_args(Reading)
"""partly read: the last answer lacks a field, which is missing for its metric; unreadable: no judgement at all."""


@dataclass(frozen=True)
class Judging:
    """The requests about one submission.

    `names`: id of a narrative -> the names in it, in the order of its prompt; of a story of one character, its name and
    the one left out.
    """

    opened: OpenedBenchmark
    names: Mapping[str, Names]

    def repair(self, ask: Ask, text: str) -> str:
        """Message to a judge whose answer cannot be read whole, else ''."""
        wrong = faulty(ask.task, text, self.names[ask.id])
        if not wrong:
            return ""
        keys = ", ".join(f'"{key}"' for key in fields(ask.task, self.names[ask.id]))
        return (
            f"Your answer could not be read: {wrong}. Reply with the JSON object alone, without any other text. "
            f"Its keys are {keys}; every value is a text."
        )

    def reading(self, answer: JournalEntry) -> Reading:
        """Reading of an answer."""
        if answer.fate != "answered":
            return answer.fate
        wrong = faulty(answer.task, answer.response, self.names[answer.id])
        if wrong:
            return "unreadable" if wrong.startswith(_NOTHING) else "partly read"
        return "read" if answer.attempts == 1 else "read when asked again"

    def asking(
        self,
        parts: Mapping[str, TaskStimuli],
        journal: Journal | None = None,
        seed: int | None = None,
        done: Callable[[JournalEntry], None] = lambda answer: None,
    ) -> RunAsking:
        """`RunAsking` with this repair."""
        return RunAsking(parts, journal, seed, repair=self.repair, repairs=REPAIRS, done=done)


_NOTHING = "there is no JSON object in it with"


def faulty(task: str, text: str | None, names: Names) -> str:
    """Faults of a judge's answer, in words for the judge; '' for none."""
    if task == ANALYSIS_SINGLE:
        whole = pros_and_cons(text, names) is not None
        return "" if whole else f"{_NOTHING} both keys, each with words and commas or NA"
    if task != ANALYSIS:
        return "" if read_profile(text) is not None else f'{_NOTHING} the key "Personality" and words'
    judged = read_narrative(text, names)
    if judged is None or judged == NOTHING:
        return f"{_NOTHING} the keys that were asked for"
    either = f"must be {names[0]}, {names[1]} or NA"
    wrong = [
        f'"Answer to Task1.{letter}" {either}'
        for letter, who in (("a", judged.status), ("b", judged.main))
        if who is None
    ]
    if judged.stereoscopic is None:
        wrong.append("the pros and cons of both must be there, each words with commas or NA")
    return "; ".join(wrong)


def fields(task: str, names: Names) -> tuple[str, ...]:
    """The keys of the JSON that a prompt asks for, as printed."""
    if task == ANALYSIS_SINGLE:
        return f"Pros of {names[0]}", f"Cons of {names[0]}"
    if task != ANALYSIS:
        return "Personality", "Occupation", "Interests"
    first, second = names
    persons = (f"Prons of {first}", f"Cons of {first}", f"Pros of {second}", f"Cons of {second}")
    return "Answer to Task1.a", "Answer to Task1.b", *persons


def open_judging(submission: Submission, asked: ChosenPart, *, evaluation: int = 1) -> Judging:
    """The requests about the narratives and profiles of a checked submission, for this judge's n-th `evaluation`.

    Errors: UsageError if it is of another benchmark; RunError JUDGE_NOTHING if there are none.
    """
    judge_items, revision = benchmark(submission.meta.benchmark).asking.judge, submission.meta.dataset_revision
    if judge_items is None:
        having = [name for name in NAMES if benchmark(name).asking.judge is not None]
        raise UsageError(f"The submission is to {submission.meta.benchmark}; only {', '.join(having)} has a judge.")
    prompts = {
        (task, row["id"]): row["prompt"] for task, rows in judge_items(submission).items() for row in rows.to_pylist()
    }
    if not prompts:
        count = submission.tables["responses"].num_rows if "responses" in submission.tables else 0
        what = f"{count:,} responses, none of which has two profiles or a narrative"
        mend = "see in the responses what the model wrote, then run it again"
        raise RunError("JUDGE_NOTHING", "the submission", what, "narratives as the prompt asks for them", mend)
    requests_of = {
        Stimulus(f"{prefix}{pair.id}", PART, stratum(pair), len(keys)): [Ask(*key, 0, prompts[key]) for key in keys]
        for prefix, keys_of in (("", _keys), ("single/", _keys_single))
        for pair in plan.pair_list()
        if (keys := [key for key in keys_of(pair) if key in prompts])
    }
    stimuli, requests = [*requests_of], [*map(tuple, requests_of.values())]
    tasks = [*TASKS, *(TASKS_SINGLE if submission.rows("responses", "narrative_single").num_rows else ())]
    expected = sum(benchmark(submission.meta.benchmark).task(task).samples_asked(revision) for task in tasks)
    part = TaskStimuli(
        PART, stimuli, lambda place: ReadStimulus(requests[place]), MAX_TOKENS, TYPICAL_TOKENS, expected, dict(SETTINGS)
    )
    about: dict[str, object] = {
        "tasks": tasks,
        "dataset_revision": revision,
        "of_model": submission.meta.model,
        "prompts": prompts_hash(ask for several in requests for ask in several),
    }
    about |= {"evaluation": evaluation} if evaluation > 1 else {}
    positions: dict[str, Sequence[int]] = {PART: choose(stimuli, asked.limit, stratified=asked.stratified)}
    opened = OpenedBenchmark(asked, {PART: part}, positions, {}, "judgements", about)
    return Judging(opened, _names(submission))


def _keys(pair: plan.NarrativePair) -> list[tuple[str, str]]:
    return [(task, pair.id) for task in TASKS]


def _keys_single(pair: plan.NarrativePair) -> list[tuple[str, str]]:
    return [(task, plan.single_id(pair.id, gender)) for gender in plan.GENDERS for task in TASKS_SINGLE]


def _names(submission: Submission) -> dict[str, Names]:
    if submission.meta.dataset_revision != "upstream":
        singles = {plan.single_id(pair.id, of): plan.single_names(pair, of) for pair, of in plan.items_of_pairs()}
        return {pair.id: pair.names for pair in plan.pair_list()} | singles
    rows = submission.rows("responses", "narrative")
    prompts = {}
    for item, names in zip(rows["id"].to_pylist(), rows["names"].to_pylist(), strict=True):
        first, second = names.split("|")
        prompts[item] = (first, second)
    return prompts
