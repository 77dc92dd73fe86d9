"""What a judge of GENRES is asked about a submission, and what it is told when its answer cannot be read.

A stimulus is a narrative with its three requests (Figures 10 and 11). The paper states no settings of its judges; here
a judge is asked at temperature 0, so that it says the same again as far as its provider lets it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args

from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.asks import Ask, Part, Shown, Stimulus, choose, prompts_hash
from fairspace.submissions.benchmarks.genres.parse.judge import NOTHING, read_narrative, read_profile
from fairspace.submissions.benchmarks.genres.parse.persons import Names
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.running.asking.asking import Asking
from fairspace.submissions.running.asking.inspect_task import Chosen, Opened
from fairspace.submissions.running.asking.journal import Answer, Journal
from fairspace.submissions.running.errors import RunError

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
    from inspect_ai.util import JSONSchema

PART = "judgements"
ANALYSIS = "narrative_analysis"
TASKS = ("profile_female", "profile_male", ANALYSIS)
REPAIRS = 2
MAX_TOKENS = 1024
"""Four lists of words are about 150 tokens."""
SETTINGS: Mapping[str, float | int] = {"temperature": 0.0, "max_tokens": MAX_TOKENS}
"""Unless others are given."""
TYPICAL_TOKENS = 80
Reading = Literal["read", "read when asked again", "partly read", "unreadable", "refused", "failed"]
READINGS: tuple[Reading, ...] = get_args(Reading)
"""What became of a request to a judge. partly read: the last answer lacks a field, which is missing for its metric.
unreadable: it is no judgement at all."""


@dataclass(frozen=True)
class Judging:
    """What is asked about one submission.

    Args:
        opened: its requests.
        names: id of a narrative -> the names in it, in the order of its prompt.
        shaped: whether the JSON schema of the answer goes with every request.
    """

    opened: Opened
    names: Mapping[str, Names]
    shaped: bool = False

    def repair(self, ask: Ask, text: str) -> str:
        """What to tell a judge whose answer cannot be read whole; '' if it can."""
        wrong = faulty(ask.task, text, self.names[ask.id])
        if not wrong:
            return ""
        keys = ", ".join(f'"{key}"' for key in fields(ask.task, self.names[ask.id]))
        return (
            f"Your answer could not be read: {wrong}. Reply with the JSON object alone, without any other text. "
            f"Its keys are {keys}; every value is a text."
        )

    def reading(self, answer: Answer) -> Reading:
        """What became of a request."""
        if answer.fate != "answered":
            return answer.fate
        wrong = faulty(answer.task, answer.response, self.names[answer.id])
        if wrong:
            return "unreadable" if wrong.startswith(_NOTHING) else "partly read"
        return "read" if answer.attempts == 1 else "read when asked again"

    def asking(
        self,
        parts: Mapping[str, Part],
        journal: Journal | None = None,
        seed: int | None = None,
        done: Callable[[Answer], None] = lambda answer: None,
    ) -> Asking:
        """What asks: `Asking` with this repair, and with the schema of each answer where it is to be sent."""
        asking = JudgeAsking(parts, journal, seed, repair=self.repair, repairs=REPAIRS, done=done)
        asking.names = self.names if self.shaped else None
        return asking


_NOTHING = "there is no JSON object in it with"


def faulty(task: str, text: str | None, names: Names) -> str:
    """What of a judge's answer cannot be read, in words for the judge; '' if nothing."""
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
    if task != ANALYSIS:
        return "Personality", "Occupation", "Interests"
    first, second = names
    persons = (f"Prons of {first}", f"Cons of {first}", f"Pros of {second}", f"Cons of {second}")
    return "Answer to Task1.a", "Answer to Task1.b", *persons


def open_judging(submission: Submission, chosen: Chosen, *, shaped: bool = False) -> Judging:
    """What is asked about the narratives and profiles of a checked submission.

    Args:
        submission: of GENRES.
        chosen: how many narratives, and the seed.
        shaped: whether the JSON schema of the answer goes with every request.

    Errors: UsageError if it is of another benchmark; RunError JUDGE_NOTHING if there are none.
    """
    judge_items = benchmark(submission.meta.benchmark).judge
    if judge_items is None:
        having = [name for name in NAMES if benchmark(name).judge is not None]
        raise UsageError(f"The submission is to {submission.meta.benchmark}; only {', '.join(having)} has a judge.")
    prompts = {
        (task, row["id"]): row["prompt"] for task, rows in judge_items(submission).items() for row in rows.to_pylist()
    }
    pairs = [pair for pair in plan.pair_list() if any((task, pair.id) in prompts for task in TASKS)]
    if not pairs:
        count = submission.rows("responses", "narrative").num_rows
        what = f"{count:,} responses, none of which has two profiles or a narrative"
        mend = "see in the responses what the model wrote, then run it again"
        raise RunError("JUDGE_NOTHING", "the submission", what, "narratives as the prompt asks for them", mend)
    asks = [
        tuple(Ask(task, pair.id, 0, prompts[task, pair.id]) for task in TASKS if (task, pair.id) in prompts)
        for pair in pairs
    ]
    stimuli = [
        Stimulus(pair.id, PART, f"{pair.element.relation}/{pair.element.age}/{pair.element.plot}", len(three))
        for pair, three in zip(pairs, asks, strict=True)
    ]
    expected = len(TASKS) * len(plan.pair_list())
    part = Part(PART, stimuli, lambda place: Shown(asks[place]), MAX_TOKENS, TYPICAL_TOKENS, expected, dict(SETTINGS))
    about = {
        "tasks": list(TASKS),
        "dataset_revision": submission.meta.dataset_revision,
        "of_model": submission.meta.model,
        "prompts": prompts_hash(ask for three in asks for ask in three),
        "json_schema": shaped,
    }
    positions: dict[str, Sequence[int]] = {PART: choose(stimuli, chosen.limit, stratified=chosen.stratified)}
    base = {name: table for name, table in submission.tables.items() if name != "judgements"}
    opened = Opened(chosen, {PART: part}, positions, {}, "judgements", base, about)
    return Judging(opened, _names(submission), shaped)


def _names(submission: Submission) -> dict[str, Names]:
    if submission.meta.dataset_revision != "upstream":
        return {pair.id: pair.names for pair in plan.pair_list()}
    rows = submission.rows("responses", "narrative")
    prompts = {}
    for item, names in zip(rows["id"].to_pylist(), rows["names"].to_pylist(), strict=True):
        first, second = names.split("|")
        prompts[item] = (first, second)
    return prompts


class JudgeAsking(Asking):
    """Asks with the JSON schema of each answer, if it knows the names."""

    names: Mapping[str, Names] | None = None

    async def ask(self, model: Model, ask: Ask, images: Sequence[bytes], part: Part) -> Answer:
        """As `Asking.ask`."""
        schema = None if self.names is None else answer_schema(ask.task, self.names[ask.id])
        request = _Judge(model, "analysis" if ask.task == ANALYSIS else "profile", schema)
        return await super().ask(cast("Model", request), ask, images, part)


@dataclass(frozen=True)
class _Judge:
    """A model that is told the schema of its answers, if there is one."""

    model: Model
    name: str
    schema: JSONSchema | None

    async def generate(self, messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """As `Model.generate`; half a surrogate pair, which no file can hold, becomes a question mark."""
        from inspect_ai.model import ResponseSchema

        if self.schema is not None:
            config.response_schema = ResponseSchema(name=self.name, json_schema=self.schema, strict=True)
        output = await self.model.generate(messages, config=config)
        whole = output.completion.encode("utf-8", "replace").decode()
        if output.choices and whole != output.completion:
            output.completion = whole
        return output


def answer_schema(task: str, names: Names) -> JSONSchema:
    """The JSON schema of an answer: texts under the printed keys, the two choices out of both names and NA."""
    from inspect_ai.util import JSONSchema

    keys = fields(task, names)
    properties = {
        key: JSONSchema(type="string", enum=[*names, "NA"] if key.startswith("Answer") else None) for key in keys
    }
    return JSONSchema(type="object", properties=properties, required=list(keys), additionalProperties=False)
