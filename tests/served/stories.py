"""The served model's texts for GENRES: stories about one or two characters, and a judge's JSON about them."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

_WORDS: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
_ACTS, _FEELS, _FRAMES = (_WORDS[key] for key in ("acts", "feels", "frames"))
_PLACES, _THINGS, _TIMES = (_WORDS[key] for key in ("places", "things", "times"))
_TRAITS, _FLAWS, _OCCUPATIONS, _INTERESTS = (_WORDS[key] for key in ("traits", "flaws", "occupations", "interests"))
SENTENCES = 12


def story(names: tuple[str, str], random: Random) -> str:
    """The response of Figure 3: two profiles and a passage that names both."""
    slots = _slots(random)
    feelings = random.random(), random.random()
    acts, feels = (random.sample(sentences, len(sentences)) for sentences in (_ACTS, _FEELS))
    opening, ending = random.choice(_FRAMES)
    passage = [opening.format(**slots)]
    for turn in range(SENTENCES):
        index = turn % 2 if turn < 4 else random.randrange(2)  # each acts at least twice
        pool = feels if feels and (not acts or random.random() < feelings[index]) else acts
        passage.append(pool.pop().format(who=names[index], other=names[1 - index], **slots))
    passage.append(ending.format(**slots))
    mark = random.choice(("", "**"))
    parts, shown = [], []
    for name in names:
        traits = random.sample(_TRAITS, random.randint(2, 5))
        interests = ", ".join(random.sample(_INTERESTS, 2))
        about = f"{name} is {', '.join(traits)}. Occupation: {random.choice(_OCCUPATIONS)}. Interests: {interests}."
        parts.append(f"{mark}Profile of {name}:{mark} {about}")
        shown.append(f"{name} is {traits[0]}.")
    parts.append(f"{mark}Narrative passage:{mark} {' '.join(passage)}")
    if random.random() < 0.5:
        parts.append(f"{mark}Shown personality traits:{mark} {' '.join(shown)}")
    return "\n\n".join(parts)


def story_alone(name: str, random: Random) -> str:
    slots = _slots(random)
    alone = [sentence for sentence in (*_ACTS, *_FEELS) if "{other}" not in sentence]
    opening, ending = random.choice(_FRAMES)
    sentences = [opening, *random.sample(alone, SENTENCES), ending]
    traits = ", ".join(random.sample(_TRAITS, random.randint(2, 5)))
    passage = " ".join(sentence.format(who=name, **slots) for sentence in sentences)
    return f"Profile of {name}: {name} is {traits}.\n\nNarrative passage: {passage}"


def profile_judgement(profile: str, random: Random) -> str:
    """The JSON of Figure 10: the profile's traits, or drawn ones."""
    traits = [trait for trait in _TRAITS if trait in profile] or random.sample(_TRAITS, 3)
    occupation = next((name for name in _OCCUPATIONS if name in profile), "NA")
    interests = ", ".join(name for name in _INTERESTS if name in profile) or "NA"
    return _json({"Personality": ", ".join(traits), "Occupation": occupation, "Interests": interests}, random)


def analysis(names: tuple[str, str], random: Random) -> str:
    """The JSON of Figure 11, its key "Prons of" as printed; the content is drawn."""
    who = (*names, "NA")
    answer = {"Answer to Task1.a": random.choice(who), "Answer to Task1.b": random.choice(who)}
    for pros, name in zip(("Prons", "Pros"), names, strict=True):
        answer[f"{pros} of {name}"] = _some(_TRAITS, random)
        answer[f"Cons of {name}"] = _some(_FLAWS, random)
    return _json(answer, random)


def analysis_alone(name: str, random: Random) -> str:
    return _json({f"Pros of {name}": _some(_TRAITS, random), f"Cons of {name}": _some(_FLAWS, random)}, random)


def broken(judgement: str, random: Random) -> str:
    if random.random() < 0.5:
        return judgement[: judgement.index(":") + 3]
    return "The passage shows two people with many traits, and it is hard to put them into a list."


def _slots(random: Random) -> dict[str, str]:
    return {"place": random.choice(_PLACES), "thing": random.choice(_THINGS), "time": random.choice(_TIMES)}


def _some(words: Sequence[str], random: Random) -> str:
    return "NA" if random.random() < 0.3 else ", ".join(random.sample(words, random.randint(1, 3)))


def _json(answer: dict[str, str], random: Random) -> str:
    text = json.dumps(answer, indent=random.choice((None, 1)))
    return random.choice(("{}", "```json\n{}\n```", "Here is the JSON:\n\n{}")).replace("{}", text)
