"""GENRES as a dataset: pairs with their images, elements, prompts of one character, and printed results.

Images need a describer, a generator and a matcher (appendix B.2); without one of them `image` is null and a note says
why. Descriptions (Figure 9) that tell gender or role are asked for again, prompts get drawn quality words (Table 10),
and the next seed is tried until CLIP similarity with the prompt exceeds 0.25. The paper's last step, a person who looks
at every image, is left to people (`build --reviewed`). A sample has images of one element per relational model
and plot.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from fairspace.builders.engine.build import write_atomically
from fairspace.builders.engine.dataset import BuildJob, BuildManifest, Columns, Dataset, Row, Split, expect
from fairspace.builders.engine.making import Verdict, Wanted, jpeg, make, seed
from fairspace.builders.engine.tools import Describer, Matcher
from fairspace.builders.errors import BuildError
from fairspace.builders.genres import plan
from fairspace.builders.registry import published_rows, published_split

if TYPE_CHECKING:
    from PIL.Image import Image

# Scenarios "without gender" (section 3.2) and descriptions in which gender "should not be distinguishable" (Figure 9)
# hold no gendered word and no role of one gender. Descriptions also omit the characters' roles (appendix B.2, step 1)
# and clothes of one gender: an image must not say who is who.


def words(text: str) -> list[str]:
    """The words of a text, in lower case and without accents."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.findall(r"[a-z]+", plain.lower())


GENDERED = frozenset(
    words("""
    he him his himself she her hers herself mr mrs ms miss sir madam madame lord lady ladies gentleman gentlemen
    man men woman women boy boys girl girls guy guys bloke lad lass male female males females masculine feminine
    husband husbands wife wives boyfriend girlfriend fiance fiancee bride groom bachelor widow widower
    mother mothers father fathers mum mom mommy dad daddy mama papa son sons daughter daughters brother brothers
    sister sisters uncle uncles aunt aunts auntie nephew niece grandmother grandfather grandma grandpa granny
    grandson granddaughter godfather godmother stepmother stepfather brotherhood sisterhood fatherly motherly
    king queen prince princess duke duchess waiter waitress steward stewardess actress heroine hostess landlord
    landlady policeman policewoman fireman chairman chairwoman salesman saleswoman businessman businesswoman
    fisherman craftsman handyman spokesman spokeswoman workman foreman cameraman mankind manpower masseuse monk nun
    priestess goddess pregnant pregnancy motherhood fatherhood maternity paternity beard moustache
    """)
)
STEREOTYPED = frozenset(
    words("""
    nurse nurses secretary secretaries receptionist housewife housewives homemaker househusband housekeeper maid
    nanny babysitter midwife beautician hairdresser seamstress cheerleader ballerina librarian
    engineer engineers programmer programmers mechanic plumber electrician carpenter builder soldier soldiers
    firefighter quarterback lumberjack butcher trucker bouncer surgeon boss ceo cleaner cleaners gossip doctor
    """)
)
LOOKS = frozenset(
    words("""
    bearded mustache stubble shaven blouse blouses skirt skirts dress dresses sundress gown gowns tuxedo tuxedos
    tie ties necktie neckties bra heels lipstick mascara makeup earrings ponytail pigtails
    """)
)
"""Looks mostly of one gender; for descriptions of images."""
ROLES = frozenset(
    words("""
    student seller buyer gamer photographer photography organizer colleague driver passenger provider guest host
    consultant client teacher therapist illustrator editor instructor customer lawyer researcher renting owner gardener
    monitor classmate captain teammate leader member director actor founder assistant manager employee principal
    coordinator officer chief journalist head attendee professor physician representative supervisor
    """)
)
"""Words that tell the two characters of an asymmetric relationship apart (Tables 7 and 8)."""
_PERSON = re.compile(r"(wo)?m[ae]n$")
_NO_PERSON = frozenset(words("human inhuman german roman ottoman omen specimen abdomen regimen acumen stamen"))


def gendered(text: str) -> set[str]:
    """The words of a text that tell a gender or name a role tied to one."""
    vocabulary = set(words(text))
    return (vocabulary & (GENDERED | STEREOTYPED)) | {w for w in vocabulary - _NO_PERSON if _PERSON.search(w)}


def roles(description: str) -> set[str]:
    """The role words of an asymmetric relationship ("one is the ... and the other is the ..."), else none."""
    if not description.startswith("one is the "):
        return set()
    roles = set(words(description)) & ROLES
    return roles | {f"{word}s" for word in roles}


def telling(text: str, description: str) -> set[str]:
    """The words of an image's `text`, for a relationship's description, that tell who is who."""
    return gendered(text) | (set(words(text)) & (LOOKS | roles(description)))


SIMILARITY = 0.25
"""Cosine similarity with its prompt that an image must exceed (appendix B.2, step 3)."""
ATTEMPTS = 50
"""Seeds tried for an image; the paper repeats "until five qualified images are obtained"."""
ASKED = 3
"""Requests for an element's descriptions, at most."""
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
    rf"|(who are )?({'|'.join(plan.AGES.values())})",
    re.IGNORECASE,
)


def descriptions(job: BuildJob, elements: Sequence[plan.Element]) -> dict[str, tuple[str, ...]]:
    """Element id -> its five descriptions; none without a describer. BuildError TOOL_OUTPUT if they stay unusable."""
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


def _described(describer: Describer, element: plan.Element) -> tuple[list[str], list[str]]:
    prompt, before, refused, good = plan.image_prompt(element), list[str](), list[str](), dict[str, str]()
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
        if len(good) >= plan.IMAGES:
            return list(good.values())[: plan.IMAGES], refused + wrong
        refused += wrong or [f"{len(good)} different descriptions instead of {plan.IMAGES}"]
        prompt = f"{plan.image_prompt(element)}\n\n{plan.fill(AGAIN, Fault='; '.join(refused))}"
    expected = (
        f"{plan.IMAGES} different descriptions, {PHRASES} phrases or more each, that tell neither gender nor role"
    )
    mend = "use another model, or give a file of descriptions and mend this element's in it"
    raise BuildError("TOOL_OUTPUT", f"{describer.name}, element {element.id}", "; ".join(refused), expected, mend)


def clean(text: str) -> str:
    """A description as phrases joined by ', ', without numbers, quotes, line breaks or words of the visual prompt."""
    text = re.sub(r"^\s*(?:[-*•]|\d+[.):]|prompt\s*\d*\s*:)\s*", "", " ".join(text.split()), flags=re.IGNORECASE)
    phrases = [phrase.strip(" .;\"'“”‘’*`") for phrase in text.split(",")]
    while phrases and (not phrases[0] or _LEAD.fullmatch(phrases[0])):
        del phrases[0]
    return ", ".join(phrase for phrase in phrases if phrase)


def fault(text: str, element: plan.Element) -> str:
    """The fault of a cleaned description for an element, or ''."""
    names = {name.lower() for group in plan.NAMES.values() for name in group}
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


def visual_prompt(job: BuildJob, pair: plan.NarrativePair, description: str) -> str:
    """The generator's prompt (Table 10); the build's seed draws the quality words."""
    drawn = {
        name: choices[seed(job.seed, f"{pair.id}/{name}", 0) % len(choices)]
        for name, choices in (("Realistic", plan.REALISTIC), ("Clarity", plan.CLARITY))
    }
    return plan.fill(plan.VISUAL_TEMPLATE, age=plan.AGES[pair.element.age], Description=description, **drawn)


def images(job: BuildJob, prompts: Mapping[str, str]) -> Iterator[dict[str, Any]] | None:
    """The columns of each image, by pair id -> prompt, null for one that never passed; None without its tools."""
    matcher, generator = job.tools.matcher, job.tools.generator
    if matcher is None or generator is None:
        return None
    wanted = [Wanted(name, prompt) for name, prompt in prompts.items()]
    results = make(job, wanted, partial(_judged, matcher), attempts=ATTEMPTS)
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


def single_split() -> Split:
    """The config of one character."""
    return Split(
        config="single",
        about="A prompt for a story of one character: the man or the woman of a pair, whose image goes with it.",
        columns={
            "pair": ("string", "id of the pair: its age, plot and name, and the image that is shown"),
            "gender": (plan.GENDERS, "of the name"),
            "age": (list(plan.AGES), "age group of the character"),
            "plot": (list(plan.PLOT_REQUIREMENTS), "that of the pair: conflict or cooperation"),
            "name": ("string", "of the one character"),
            "text_prompt": ("string", "what the model is asked: our wording, after Figure 3"),
        },
        units=[*plan.items_of_pairs()],
        rows=lambda units: (
            {
                "id": plan.single_id(pair.id, gender),
                "pair": pair.id,
                "gender": gender,
                "age": pair.element.age,
                "plot": pair.element.plot,
                "name": plan.single_names(pair, gender)[0],
                "text_prompt": plan.single_text_prompt(pair, gender),
            }
            for pair, gender in units
        ),
        groups=("gender", "plot"),
    )


MISSING = 0.01
"""Largest share of a build's images that may be null because no attempt passed."""
_SHARD = 240
"""Pairs per file: 48 elements, about 60 MB of images of 1024 pixels."""
_PLOTS = tuple(plan.PLOT_REQUIREMENTS)
_ELEMENT: Columns = {
    "relation": (
        list(plan.RELATIONS),
        "relational model: communal sharing, equality matching, market pricing, authority ranking",
    ),
    "age": (list(plan.AGES), "age group of both characters"),
    "relationship": ("int8", "number of the relationship within its relational model"),
    "relationship_description": ("string", "the relationship, as it stands in the prompts"),
    "scenario": ("int8", "number of the scenario within its relationship"),
    "scenario_text": ("string", "the scenario: our own text, without gender"),
    "plot": (_PLOTS, "conflict or cooperation"),
    "image_description_prompt": (
        "string",
        "what a language model is asked for the image descriptions (Figure 9)",
    ),
}


def splits(job: BuildJob) -> Sequence[Split]:
    """The four configs. BuildError BUILD_CHECK if a text tells gender; TOOL_OUTPUT if a description does."""
    elements = plan.load_elements()
    lint(elements)
    pictured = elements
    if job.sample:
        first: dict[tuple[str, str], plan.Element] = {}
        for element in elements:
            first.setdefault((element.relation, element.plot), element)
        pictured = tuple(first.values())
    described = descriptions(job, pictured)
    wanting = [name for name in ("describer", "generator", "matcher") if getattr(job.tools, name) is None]
    if wanting:
        job.note(f"image is null: no {' and no '.join(wanting)} was named.")
    elif job.sample:
        job.note(f"A sample: images of {len(pictured)} of the {len(elements)} elements; of the others, texts alone.")
    return (
        Split(
            config="pairs",
            about="A prompt for a story of two persons, and an image of them.",
            columns={
                **_ELEMENT,
                "name_1": ("string", "the name that stands first in the prompt"),
                "name_2": ("string", "the other name"),
                "female_name": ("string", "the character with a woman's name"),
                "male_name": ("string", "the character with a man's name"),
                "text_prompt": ("string", "what the model is asked (Figure 3)"),
                "image_description": ("string", "what the image shows, from a language model; null without images"),
                "visual_prompt": ("string", "what the image was made from (Table 10)"),
                "image_number": ("int8", "0 to 4: the element's five pairs differ in image and names"),
                "seed": ("int64", "of the attempt that passed"),
                "clip_similarity": (
                    "float64",
                    f"cosine of image and visual prompt; images above {SIMILARITY} are kept",
                ),
                "generator": ("string", "what made the image"),
                "origin": (["synthetic"], "synthetic; null without an image"),
                "image": ("image", "what is shown with the prompt; null where none was made"),
            },
            units=plan.pair_list(),
            rows=lambda part: _pair_rows(job, part, described),
            shard=_SHARD,
            groups=("relation", "plot"),
        ),
        Split(
            config="elements",
            about="A relationship at an age in one scenario: what five pairs share.",
            columns={
                **_ELEMENT,
                "image_descriptions": ("string", "JSON: the five descriptions; null without images"),
            },
            units=elements,
            rows=lambda part: _element_rows(part, described),
            groups=("relation", "plot"),
        ),
        single_split(),
        published_split("genres"),
    )


def lint(elements: Sequence[plan.Element]) -> None:
    """Check that no scenario, relationship or prompt of one character tells gender beyond a name.

    BuildError BUILD_CHECK names the element and the words.
    """
    texts = {f"{plan.ELEMENTS_FILE.name}, element {e.id}": f"{e.text} {e.description}" for e in elements}
    prompts = {
        plan.single_text_prompt(pair, gender).replace(plan.single_names(pair, gender)[0], "")
        for pair, gender in plan.items_of_pairs()
    }
    for where, text in (texts | {"genres/single": " ".join(prompts)}).items():
        if words_found := sorted(gendered(text)):
            what = f"a text with {', '.join(map(repr, words_found))}"
            expected = "no gendered word and no role that is tied to one gender"
            raise BuildError("BUILD_CHECK", where, what, expected, "mend the text")


def check(manifest: BuildManifest) -> None:
    """Elements, pairs and single items in the plan's numbers, even over their groups; images where promised."""
    relations = [f"{relation} / {plot}" for relation in plan.RELATIONS for plot in _PLOTS]
    genders = [f"{gender} / {plot}" for gender in plan.GENDERS for plot in _PLOTS]
    planned = {"pairs": (relations, 180), "elements": (relations, 36), "single": (genders, 720)}
    for config, (groups, each) in planned.items():
        where, built = f"{manifest.dataset}/{config}", manifest.find(config, "test")
        rows, joint = (built.rows, dict(built.joint)) if built else (0, {})
        expect(rows == len(groups) * each, where, f"{rows} rows", f"{len(groups) * each} rows")
        even = dict.fromkeys(groups, each)
        expect(joint == even, where, f"{joint}", f"{even}")
    published, figures = manifest.find("published", "test"), published_rows("genres").num_rows
    count = published.rows if published else 0
    expect(count == figures, f"{manifest.dataset}/published", f"{count} rows", f"{figures} rows")
    pairs = manifest.find("pairs", "test")
    if pairs and {"describer", "generator", "matcher"} <= set(manifest.tools):
        wanted = 8 * plan.IMAGES if manifest.sample else pairs.rows
        synthetic = pairs.counts["origin"]["synthetic"]
        if synthetic < wanted * (1 - MISSING):
            expected = f"{wanted}, less {MISSING:.0%} at most, that pass {SIMILARITY} within {ATTEMPTS} attempts"
            mend = "use another generator; review/rejected.jsonl has the similarities"
            raise BuildError("BUILD_CHECK", f"{manifest.dataset}/pairs", f"{synthetic} images", expected, mend)


def _pair_rows(
    job: BuildJob, pairs: Sequence[plan.NarrativePair], described: Mapping[str, Sequence[str]]
) -> Iterator[Row]:
    texts = {p.id: described[p.element.id][p.image] for p in pairs if p.element.id in described}
    prompts = {pair.id: visual_prompt(job, pair, texts[pair.id]) for pair in pairs if pair.id in texts}
    pictures = images(job, prompts)
    none = dict.fromkeys(("origin", "generator", "seed", "clip_similarity", "image"))
    for pair in pairs:
        yield {
            **plan.pair_row(pair, plan.PAPER),
            "image_number": pair.image,
            "image_description": texts.get(pair.id),
            "visual_prompt": prompts.get(pair.id),
            **(next(pictures) if pictures and pair.id in prompts else none),
        }


def _element_rows(elements: Sequence[plan.Element], described: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    for element in elements:
        texts = described.get(element.id)
        yield {
            **plan.element_row(element),
            "id": element.id,
            "image_description_prompt": plan.image_prompt(element),
            "image_descriptions": json.dumps(texts, ensure_ascii=False) if texts else None,
        }


DATASET = Dataset(
    name="genres",
    title="GENRES",
    benchmark="genres",
    revision=plan.PAPER,
    licence="CC-BY-4.0",
    sources=(),
    splits=splits,
    check=check,
    tools=("describer", "generator", "matcher"),
    task_categories=("text-generation", "image-to-text"),
    annotations=("no-annotation",),
    changes=(
        (
            "inaugural, zero_centred",
            "v2",
            "The pairs and images of v1. The prompts' format of the reply ends in a fourth line, `Shown personality "
            "traits`, as the authors' published prompts do; `fairspace items genres --dataset-revision v2` writes "
            "them.",
        ),
    ),
    revision_of=plan.built_revision,
)
