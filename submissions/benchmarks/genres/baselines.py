"""Trivial models of GENRES: narratives made from templates, and the judgements that their maker knows.

- random: actions, feelings, traits, leaders and judged characters are drawn.
- constant: the same story about every pair, of the length that is asked of a narrative.
- stereotyped: he plans and decides and has capable traits, she soothes and has warm ones; he has the higher status, is
  the main character and the only one with pros and cons.
- balanced: both do the same things in turn with the same traits; judgements are spread evenly over each relation.
- refusing: no narrative and no judgement.
"""

import json
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
import pyarrow as pa

from fairspace.builders.errors import check_revision
from fairspace.builders.genres.plan import CORE, REVISIONS, NarrativePair, ids, pair_list
from fairspace.submissions.benchmarks.baselines import Baseline, keys, only, refusals, stream

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


def tables(name: Baseline, seed: int, revision: str = REVISIONS[0]) -> dict[str, pa.Table]:
    """The rows of one trivial model. BuildError REVISION_UNKNOWN, also for `upstream`, whose prompts are not ours."""
    check_revision("genres", revision, REVISIONS[:-1])
    if revision in CORE:
        return only(tables(name, seed, CORE[revision]), ids(revision))
    if name == "refusing":
        none = pa.nulls(len(ids()), pa.string())
        silent = [pa.table({**keys(task, ids()), "judgement": none}) for task in (*PROFILES, ANALYSIS)]
        return {"responses": refusals(NARRATIVE, ids()), "judgements": pa.concat_tables(silent)}
    random = stream(seed, NARRATIVE)
    texts = [_texts(name, number, pair, random) for number, pair in enumerate(pair_list())]
    columns = {task: pa.array([of[task] for of in texts]) for task in (NARRATIVE, *PROFILES, ANALYSIS)}
    judgements = [pa.table({**keys(task, ids()), "judgement": columns[task]}) for task in (*PROFILES, ANALYSIS)]
    return {
        "responses": pa.table({**keys(NARRATIVE, ids()), "response": columns[NARRATIVE]}),
        "judgements": pa.concat_tables(judgements),
    }


def _texts(name: Baseline, number: int, pair: NarrativePair, random: np.random.RandomState) -> dict[str, str]:
    """Task -> the response about a pair, or the judge's answer; the key "Prons of" is as printed in Figure 11."""
    slots = {"thing": _pick(_THINGS, random), "place": _pick(_PLACES, random), "time": _pick(_TIMES, random)}
    occupation, interests = _pick(_OCCUPATIONS, random), _pick(_INTERESTS, random)
    acts, feels = _draw(_ACTS, _SENTENCES, random), _draw(_FEELS, _SENTENCES, random)
    capable, warm = _draw(_CAPABLE, 3, random), _draw(_WARM, 3, random)
    opening, ending = _pick(_OPENINGS, random), _pick(_ENDINGS, random)
    both = ("female", "male")
    order = both if pair.female_first else both[::-1]
    if name == "constant":
        slots = {"thing": _THINGS[0], "place": _PLACES[0], "time": _TIMES[0]}
        occupation, interests, opening, ending = "teacher", "reading", _OPENINGS[0], _ENDINGS[0]
        traits = {g: ["kind"] for g in both}
        sentences = {order[0]: [*_ACTS[:_SENTENCES]], order[1]: [*_FEELS[:_SENTENCES]]}
        status = main = "NA"
        stereoscopic = dict.fromkeys(both, False)
    elif name == "stereotyped":
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
    analysis = {"Answer to Task1.a": names[status], "Answer to Task1.b": names[main]}
    sections, texts = [], {}
    for pros, g in zip(("Prons", "Pros"), order, strict=True):
        who, words = names[g], ", ".join(traits[g])
        sections.append(f"Profile of {who}: {who} is {words}. Occupation: {occupation}. Interests: {interests}.")
        profile = {"Personality": words, "Occupation": occupation, "Interests": interests}
        texts[f"profile_{g}"] = json.dumps(profile)
        analysis |= {f"{pros} of {who}": words, f"Cons of {who}": "stubborn" if stereoscopic[g] else "NA"}
    paragraphs = ([sentence.format(who=names[g], **slots) for sentence in sentences[g]] for g in order)
    turns = [sentence for turn in zip_longest(*paragraphs) for sentence in turn if sentence]
    passage = " ".join((opening.format(**slots), *turns, ending.format(**slots)))
    texts[NARRATIVE] = "\n\n".join((*sections, f"Narrative passage: {passage}"))
    return {**texts, ANALYSIS: json.dumps(analysis)}


def _pick(words: Sequence[str], random: np.random.RandomState) -> str:
    return words[random.randint(0, len(words))]


def _draw(words: Sequence[str], count: int, random: np.random.RandomState) -> list[str]:
    return [words[i] for i in np.argsort(random.random_sample(len(words)), kind="stable")[:count]]
