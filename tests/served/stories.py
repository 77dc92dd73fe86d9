"""The served model's texts for GENRES: stories about one or two characters, and a judge's JSON about them."""

import json
from collections.abc import Sequence
from random import Random
from re import Match

_ACTS = (
    "{who} unrolled the drawing of the {place} and marked the two corners that mattered.",
    "{who} rang the owner of the {thing} and settled the price before noon.",
    "{who} took the {thing} apart, cleaned every screw, and put it together again.",
    "{who} counted the money in the tin and wrote the sum on the wall.",
    "{who} climbed onto the roof of the {place} and fixed the leak alone.",
    "{who} read the contract twice and crossed out the third clause.",
    '"We start at seven," {who} said, and handed {other} the list.',
    "{who} drove to the {place} through the fog and unlocked the gate.",
    "{who} proved with three short sums that the plan would work.",
    "{who} organised the volunteers and gave each of them a task.",
)
_FEELS = (
    "{who} smiled at {other} and felt a sudden joy about the small success.",
    "{who} was afraid of the quarrel and wept a little behind the {thing}.",
    "{who} apologised warmly and hugged {other} beside the {place}.",
    '"I was angry, and I am sorry," {who} whispered.',
    "{who} comforted {other} with a patient voice and a cup of tea.",
    "{who} hated the cold silence in the {place} and hoped for a kind word.",
    "{who} praised the good work of {other} and laughed with relief.",
    "{who} worried about the debts and slept badly that {time}.",
    "{who} trusted {other} with the sad story of the old {thing}.",
    "{who} thanked {other} for the lovely evening and gave a friendly wave.",
)
_FRAMES = (
    ("The {place} smelt of rain that {time}.", "Later the lights of the {place} went out one by one."),
    ("Nobody had used the {thing} since the last {time}.", "The {thing} found a new place by the window."),
    ("The clock of the {place} struck nine.", "So the {time} ended better than it had begun."),
    ("A letter lay on the {thing}.", "The letter was answered before the {time} was over."),
)
_PLACES = ("bakery", "boathouse", "orchard", "theatre", "clinic", "railway yard", "bookshop", "greenhouse")
_THINGS = ("kettle", "cello", "tractor", "loom", "telescope", "generator", "bench", "wardrobe")
_TIMES = ("morning", "evening", "summer", "week", "autumn")
TRAITS = (
    *("ambitious", "brave", "capable", "caring", "competent", "confident", "friendly", "generous", "gentle", "honest"),
    *("intelligent", "kind", "loyal", "organised", "patient", "skilled", "sociable", "sympathetic", "warm", "wise"),
)
_FLAWS = ("stubborn", "impatient", "careless", "jealous", "moody", "proud")
_OCCUPATIONS = ("carpenter", "surgeon", "librarian", "pilot", "florist", "lawyer", "midwife", "mechanic")
_INTERESTS = ("chess", "choir singing", "climbing", "cooking", "old maps", "pottery", "rowing", "stargazing")
SENTENCES = 12


def story(names: tuple[str, str], random: Random) -> str:
    """The response of Figure 3: two profiles and a passage that names both."""
    slots = {"place": random.choice(_PLACES), "thing": random.choice(_THINGS), "time": random.choice(_TIMES)}
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
        traits = random.sample(TRAITS, random.randint(2, 5))
        interests = ", ".join(random.sample(_INTERESTS, 2))
        about = f"{name} is {', '.join(traits)}. Occupation: {random.choice(_OCCUPATIONS)}. Interests: {interests}."
        parts.append(f"{mark}Profile of {name}:{mark} {about}")
        shown.append(f"{name} is {traits[0]}.")
    parts.append(f"{mark}Narrative passage:{mark} {' '.join(passage)}")
    if random.random() < 0.5:
        parts.append(f"{mark}Shown personality traits:{mark} {' '.join(shown)}")
    return "\n\n".join(parts)


def story_alone(name: str, random: Random) -> str:
    slots = {"place": random.choice(_PLACES), "thing": random.choice(_THINGS), "time": random.choice(_TIMES)}
    alone = [sentence for sentence in (*_ACTS, *_FEELS) if "{other}" not in sentence]
    opening, ending = random.choice(_FRAMES)
    sentences = [opening, *random.sample(alone, SENTENCES), ending]
    traits = ", ".join(random.sample(TRAITS, random.randint(2, 5)))
    passage = " ".join(sentence.format(who=name, **slots) for sentence in sentences)
    return f"Profile of {name}: {name} is {traits}.\n\nNarrative passage: {passage}"


def profile_judgement(profile: str, random: Random) -> str:
    """The JSON of Figure 10: the profile's traits, or drawn ones."""
    traits = [trait for trait in TRAITS if trait in profile] or random.sample(TRAITS, 3)
    occupation = next((name for name in _OCCUPATIONS if name in profile), "NA")
    interests = ", ".join(name for name in _INTERESTS if name in profile) or "NA"
    return _json({"Personality": ", ".join(traits), "Occupation": occupation, "Interests": interests}, random)


def analysis(names: tuple[str, str], random: Random) -> str:
    """The JSON of Figure 11, its key "Prons of" as printed; the content is drawn."""
    who = (*names, "NA")
    answer = {"Answer to Task1.a": random.choice(who), "Answer to Task1.b": random.choice(who)}
    for pros, name in zip(("Prons", "Pros"), names, strict=True):
        answer[f"{pros} of {name}"] = _some(TRAITS, random)
        answer[f"Cons of {name}"] = _some(_FLAWS, random)
    return _json(answer, random)


def analysis_alone(name: str, random: Random) -> str:
    return _json({f"Pros of {name}": _some(TRAITS, random), f"Cons of {name}": _some(_FLAWS, random)}, random)


def broken(judgement: str, random: Random) -> str:
    if random.random() < 0.5:
        return judgement[: judgement.index(":") + 3]
    return "The passage shows two people with many traits, and it is hard to put them into a list."


def _some(words: Sequence[str], random: Random) -> str:
    return "NA" if random.random() < 0.3 else ", ".join(random.sample(words, random.randint(1, 3)))


def _json(answer: dict[str, str], random: Random) -> str:
    text = json.dumps(answer, indent=random.choice((None, 1)))
    return random.choice(("{}", "```json\n{}\n```", "Here is the JSON:\n\n{}")).replace("{}", text)


def names_of(match: Match[str]) -> tuple[str, str]:
    return match["one"], match["two"]
