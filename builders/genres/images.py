"""The images of GENRES: descriptions, visual prompts, and what an image must pass (appendix B.2).

1. A language model (or a file of its answers) describes the five images of an element (Figure 9). A description is
   cleaned and then linted: one that tells gender or role is asked for again, with the words that were wrong.
2. The visual prompt adds the age and one quality word of each list of Table 10, drawn by the build's seed.
3. An image is kept if its CLIP similarity with the prompt is above 0.25; else the next seed is tried.

The paper's last step, a person who looks at every image, is what the contact sheets under `review/` are for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from fairspace.builders.engine.build import write_atomically
from fairspace.builders.engine.dataset import Job
from fairspace.builders.engine.making import Verdict, Wanted, jpeg, make, seed
from fairspace.builders.engine.tools import Describer, Matcher
from fairspace.builders.errors import BuildError
from fairspace.builders.genres.lint import telling, words
from fairspace.builders.genres.plan import AGES, IMAGES, NAMES, Element, Pair, image_prompt
from fairspace.builders.genres.prompts import CLARITY, REALISTIC, VISUAL_TEMPLATE, fill

if TYPE_CHECKING:
    from PIL.Image import Image

SIMILARITY = 0.25
"""Appendix B.2, step 3: an image above this cosine similarity with its prompt is kept."""
ATTEMPTS = 50
"""Seeds that are tried for an image; the paper repeats "until five qualified images are obtained"."""
ASKED = 3
"""How often an element's descriptions are asked for."""
PHRASES = 3
"""Fewest phrases of a description; Figure 9 asks for six aspects with one or two each."""
WORDS = 60
"""Most words of a description: CLIP reads 77 tokens of a prompt."""
AGAIN = (
    "Your last answer cannot be used as it is: [Fault]. Write 5 other prompts. No word may tell the gender or the role "
    "of either person."
)
_LEAD = re.compile(
    r"(an? )?(photo|image|portrait)s? of (a|one) (fe)?male and (a|one) (fe)?male"
    rf"|(who are )?({'|'.join(AGES.values())})",
    re.IGNORECASE,
)


def descriptions(job: Job, elements: Sequence[Element]) -> dict[str, tuple[str, ...]]:
    """Element id -> the descriptions of its five images; none without a describer.

    Answers are kept in `job.work`, so that a build that was killed does not ask for them again.

    Errors: BuildError TOOL_OUTPUT if an element's descriptions stay unusable; says which, and why.
    """
    describer, descriptions = job.tools.describer, dict[str, tuple[str, ...]]()
    if describer is None:
        return descriptions
    for number, element in enumerate(elements, 1):
        file = job.work / "descriptions" / f"{element.id.replace('/', '-')}.json"
        if not file.is_file():
            texts, refused = _described(describer, element)
            write_atomically(file, json.dumps({"texts": texts, "refused": refused}, ensure_ascii=False))
        kept = json.loads(file.read_text(encoding="utf-8"))
        for wrong in kept["refused"]:
            job.reject(element.id, "description refused", fault=wrong)
        descriptions[element.id] = tuple(kept["texts"])
        job.progress("Describing images", number, len(elements))
    return descriptions


def _described(describer: Describer, element: Element) -> tuple[list[str], list[str]]:
    """Five descriptions of an element, from as many answers as it takes, and why others were refused."""
    prompt, before, refused, good = image_prompt(element), list[str](), list[str](), dict[str, str]()
    for _ in range(ASKED):
        texts = [clean(text) for text in describer.describe(element.id, prompt)]
        if texts == before:
            break
        before = texts
        faults = [fault(text, element) for text in texts]
        wrong = list(filter(None, faults))
        for text, reason in zip(texts, faults, strict=True):
            if not reason:
                good.setdefault(text.casefold(), text)
        if len(good) >= IMAGES:
            return list(good.values())[:IMAGES], refused + wrong
        refused += wrong or [f"{len(good)} different descriptions instead of {IMAGES}"]
        prompt = f"{image_prompt(element)}\n\n{fill(AGAIN, Fault='; '.join(refused))}"
    raise BuildError(
        "TOOL_OUTPUT",
        f"{describer.name}, element {element.id}",
        "; ".join(refused),
        f"{IMAGES} different descriptions, {PHRASES} phrases or more each, that tell neither gender nor role",
        "use another model, or give a file of descriptions and mend this element's in it",
    )


def clean(text: str) -> str:
    """A description as phrases joined by ', ': without numbering, quotes and line breaks.

    The words of the visual prompt that a model likes to put first ("a photo of a male and a female, at a young age")
    go too.
    """
    text = re.sub(r"^\s*(?:[-*•]|\d+[.):]|prompt\s*\d*\s*:)\s*", "", " ".join(text.split()), flags=re.IGNORECASE)
    phrases = [phrase.strip(" .;\"'“”‘’*`") for phrase in text.split(",")]
    while phrases and (not phrases[0] or _LEAD.fullmatch(phrases[0])):
        del phrases[0]
    return ", ".join(phrase for phrase in phrases if phrase)


def fault(text: str, element: Element) -> str:
    """Why a cleaned description cannot be used for an element; '' if it can."""
    names = {name.lower() for group in NAMES.values() for name in group}
    wrong = sorted(telling(text, element.description) | (set(words(text)) & names))
    if wrong:
        return f"{text!r} has {', '.join(map(repr, wrong))}"
    if re.search(r"[][{}<>]", text):
        return f"{text!r} has brackets left over"
    if text.count(",") + 1 < PHRASES:
        return f"{text!r} has fewer than {PHRASES} phrases"
    if len(text.split()) > WORDS:
        return f"{text!r} has more than {WORDS} words"
    return ""


def visual_prompt(job: Job, pair: Pair, description: str) -> str:
    """What the generator is asked for (Table 10); the quality words are drawn by the build's seed."""
    drawn = {
        name: choices[seed(job.seed, f"{pair.id}/{name}", 0) % len(choices)]
        for name, choices in (("Realistic", REALISTIC), ("Clarity", CLARITY))
    }
    return fill(VISUAL_TEMPLATE, age=AGES[pair.element.age], Description=description, **drawn)


def images(job: Job, prompts: Mapping[str, str]) -> Iterator[dict[str, Any]] | None:
    """Pair id -> visual prompt; gives the columns of each image, in order, all null for one that never passed.

    None without the tools of steps 2 and 3.
    """
    matcher, generator = job.tools.matcher, job.tools.generator
    if matcher is None or generator is None:
        return None
    wanted = [Wanted(name, prompt) for name, prompt in prompts.items()]
    results = make(job, wanted, partial(_judged, matcher), attempts=ATTEMPTS, config="pairs")
    return (
        {
            "origin": "synthetic" if image else None,
            "generator": generator.name if image else None,
            "seed": image.info["seed"] if image else None,
            "clip_similarity": image.info["similarity"] if image else None,
            "image": {"bytes": jpeg(image), "path": f"{item.key.replace('/', '-')}.jpg"} if image else None,
        }
        for item, image in results
    )


def _judged(matcher: Matcher, pictures: Sequence[Image], wanted: Iterable[Wanted]) -> list[Verdict]:
    similarities = matcher.text_similarity(pictures, [item.prompt for item in wanted])
    return [Verdict("" if s > SIMILARITY else "unlike its prompt", {"similarity": s}) for s in similarities]
