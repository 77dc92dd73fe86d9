"""Trivial models of GENRES: narratives made from templates, and the judgements that their maker knows.

- random: actions, feelings, traits, leaders and judged characters are drawn.
- constant: the same story about every pair, of the length that is asked of a narrative.
- stereotyped: he plans and decides and has capable traits, she soothes and has warm ones; he has the higher status, is
  the main character and the only one with pros and cons.
- balanced: both do the same things in turn with the same traits; judgements are spread evenly over each relation.
- refusing: no narrative and no judgement.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from fairspace.builders.errors import check_revision
from fairspace.builders.genres.plan import REVISIONS, Pair, ids, pair_list
from fairspace.submissions.benchmarks.baselines import Baseline, keys, refusals, stream

NARRATIVE, ANALYSIS = "narrative", "narrative_analysis"
PROFILES = ("profile_female", "profile_male")

_ACTS = (
    "{who} drew a plan on the back of an envelope and set a deadline for every step.",
    "{who} called three offices before lunch and booked the {thing} without waiting for permission.",
    "{who} opened the ledger, checked every figure twice, and found the mistake near the bottom.",
    "{who} carried the {thing} across the {place} and started the work before anyone could object.",
    "{who} explained the numbers to the whole group and answered each question at once.",
    "{who} repaired the {thing} with two borrowed tools and tested it until it ran.",
    "{who} wrote a proposal at the kitchen table and sent it off before midnight.",
    "{who} divided the tasks, marked the map of the {place}, and led the way.",
    "{who} negotiated a better price for the {thing} and shook hands on it the same {time}.",
    "{who} learned the rules of the {place} by heart and solved the problem alone.",
)
_FEELS = (
    "{who} listened with a gentle smile and asked how the long {time} had felt.",
    "{who} brought hot soup to the {place} and shared it with everyone who looked tired.",
    "{who} forgave the careless words and hugged the others with tears of relief.",
    "{who} remembered the old promise and wrapped the {thing} as a small gift.",
    "{who} worried about the quiet faces in the {place} and offered a kind word to each.",
    "{who} laughed at the clumsy joke and felt happy for the first time that {time}.",
    "{who} thanked the neighbours for their patience and promised to visit again soon.",
    "{who} held the lamp near the {thing} and comforted the frightened child beside it.",
    "{who} admitted the fear aloud and trusted the others with the painful story.",
    "{who} cooked for the whole {place} and saved the sweetest piece for a friend.",
)
_THINGS = ("suitcase", "bicycle", "old radio", "ladder", "printer", "tent", "piano", "rowing boat", "sewing box", "van")
_PLACES = (
    "courtyard",
    "library",
    "workshop",
    "market",
    "harbour",
    "community hall",
    "garden",
    "station",
    "school",
    "farm",
)
_TIMES = ("morning", "week", "evening", "winter", "afternoon", "season")
_OPENINGS = (
    "Rain had fallen on the {place} since dawn, and nobody there expected an easy {time}.",
    "The {place} was crowded that {time}, and the {thing} by the door was in everyone's way.",
    "A note was pinned to the {thing} in the {place}, and the {time} began with a question.",
    "There was still dust on the {thing} when the lights of the {place} came on that {time}.",
)
_ENDINGS = (
    "By nightfall the {place} was quiet again, and the {thing} stood where it belonged.",
    "The end of the {time} was not perfect, but there was a next step, and it was agreed.",
    "Long after that {time}, people in the {place} still told the story of the {thing}.",
    "The last train left the {place} on time, and the {time} had turned out well after all.",
)
_CAPABLE = ("ambitious", "capable", "competent", "confident", "decisive", "efficient", "intelligent", "skilled")
_WARM = ("caring", "friendly", "generous", "gentle", "honest", "kind", "loyal", "sympathetic")
_OCCUPATIONS = ("teacher", "engineer", "nurse", "baker", "accountant", "designer", "gardener", "driver")
_INTERESTS = ("chess, hiking", "painting, cycling", "cooking, reading", "music, sailing", "pottery, running")
_SENTENCES = 4


@dataclass(frozen=True)
class _Character:
    name: str
    traits: Sequence[str]
    occupation: str
    interests: str
    sentences: Sequence[str]
    stereoscopic: bool


@dataclass(frozen=True)
class _Story:
    """One narrative: characters in the order of the prompt, and the judge's names ('NA' for neither)."""

    characters: tuple[_Character, _Character]
    opening: str
    ending: str
    status: str
    main: str


def tables(name: Baseline, seed: int, revision: str = REVISIONS[0]) -> dict[str, pa.Table]:
    """The rows of one trivial model. BuildError REVISION_UNKNOWN, also for `upstream`, whose prompts are not ours."""
    check_revision("genres", revision, REVISIONS[:-1])
    if name == "refusing":
        none = pa.nulls(len(ids()), pa.string())
        silent = [pa.table({**keys(task, ids()), "judgement": none}) for task in (*PROFILES, ANALYSIS)]
        return {"responses": refusals(NARRATIVE, ids()), "judgements": pa.concat_tables(silent)}
    random = stream(seed, NARRATIVE)
    pairs = pair_list()
    stories = [_constant(pair) if name == "constant" else _story(name, i, pair, random) for i, pair in enumerate(pairs)]
    judged = {task: [_profile(s, pair, task) for s, pair in zip(stories, pairs, strict=True)] for task in PROFILES}
    judged[ANALYSIS] = [_analysis(story) for story in stories]
    judgements = [pa.table({**keys(task, ids()), "judgement": pa.array(texts)}) for task, texts in judged.items()]
    return {
        "responses": pa.table({**keys(NARRATIVE, ids()), "response": pa.array(map(_text, stories))}),
        "judgements": pa.concat_tables(judgements),
    }


def _constant(pair: Pair) -> _Story:
    slots = {"thing": _THINGS[0], "place": _PLACES[0], "time": _TIMES[0]}
    chosen = ((pair.names[0], _ACTS[:_SENTENCES]), (pair.names[1], _FEELS[:_SENTENCES]))
    first, second = (
        _Character(name, ("kind",), "teacher", "reading", [text.format(who=name, **slots) for text in sentences], False)
        for name, sentences in chosen
    )
    return _Story((first, second), _OPENINGS[0].format(**slots), _ENDINGS[0].format(**slots), "NA", "NA")


def _story(name: Baseline, number: int, pair: Pair, random: np.random.RandomState) -> _Story:
    slots = {"thing": _pick(_THINGS, random), "place": _pick(_PLACES, random), "time": _pick(_TIMES, random)}
    occupation, interests = _pick(_OCCUPATIONS, random), _pick(_INTERESTS, random)
    acts, feels = _draw(_ACTS, _SENTENCES, random), _draw(_FEELS, _SENTENCES, random)
    capable, warm = _draw(_CAPABLE, 3, random), _draw(_WARM, 3, random)
    opening, ending = (_pick(texts, random).format(**slots) for texts in (_OPENINGS, _ENDINGS))
    both = ("female", "male")
    if name == "stereotyped":
        traits = {"male": capable, "female": warm}
        sentences = {"male": [*acts, feels[3]], "female": feels[:3]}
        status = main = "male"
        stereoscopic = {"male": True, "female": False}
    elif name == "balanced":
        traits = {g: [*capable[:2], *warm[:2]] for g in both}
        sentences = {g: [*acts[:2], *feels[:2]] for g in both}
        status, main = both[number % 2], both[number // 2 % 2]
        stereoscopic = dict.fromkeys(both, number // 4 % 2 == 0)
    else:
        traits = {g: _draw(_CAPABLE + _WARM, 4, random) for g in both}
        cut = 2 + random.randint(0, 5)
        mixed = _draw([*acts, *feels], 2 * _SENTENCES, random)
        sentences = {"male": mixed[:cut], "female": mixed[cut:]}
        status, main = (_pick((*both, "NA"), random) for _ in range(2))
        stereoscopic = {g: bool(random.randint(0, 2)) for g in both}
    names = {"female": pair.female_name, "male": pair.male_name, "NA": "NA"}
    order = both if pair.female_first else both[::-1]
    first, second = (
        _Character(
            names[g],
            traits[g],
            occupation,
            interests,
            [sentence.format(who=names[g], **slots) for sentence in sentences[g]],
            stereoscopic[g],
        )
        for g in order
    )
    return _Story((first, second), opening, ending, names[status], names[main])


def _pick(words: Sequence[str], random: np.random.RandomState) -> str:
    return words[random.randint(0, len(words))]


def _draw(words: Sequence[str], count: int, random: np.random.RandomState) -> list[str]:
    return [words[i] for i in np.argsort(random.random_sample(len(words)), kind="stable")[:count]]


def _text(story: _Story) -> str:
    profiles = [
        f"Profile of {c.name}: {c.name} is {', '.join(c.traits)}. Occupation: {c.occupation}. Interests: {c.interests}."
        for c in story.characters
    ]
    first, second = (c.sentences for c in story.characters)
    turns = [s for i in range(max(len(first), len(second))) for s in (*first[i : i + 1], *second[i : i + 1])]
    passage = " ".join((story.opening, *turns, story.ending))
    return "\n\n".join((*profiles, f"Narrative passage: {passage}"))


def _profile(story: _Story, pair: Pair, task: str) -> str:
    index = int((task == "profile_female") != pair.female_first)
    character = story.characters[index]
    return json.dumps(
        {
            "Personality": ", ".join(character.traits),
            "Occupation": character.occupation,
            "Interests": character.interests,
        }
    )


def _analysis(story: _Story) -> str:
    """The judge's answer to Figure 11; its key "Prons of" is as printed."""
    answer = {"Answer to Task1.a": story.status, "Answer to Task1.b": story.main}
    for pros, character in zip(("Prons", "Pros"), story.characters, strict=True):
        answer[f"{pros} of {character.name}"] = ", ".join(character.traits)
        answer[f"Cons of {character.name}"] = "stubborn" if character.stereoscopic else "NA"
    return json.dumps(answer)
