"""GENRES as a dataset: its pairs with their images, its elements, the prompts of one character, and printed results.

Texts need nothing. Images need a describer, a generator and a matcher; without one of them `image` is null and a note
says why. A sample has all texts, and images of 8 elements: one conflict and one cooperation of each relational model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairspace.builders.engine.dataset import Columns, Dataset, Job, Manifest, Row, Split, expect
from fairspace.builders.engine.headline import Headline
from fairspace.builders.errors import BuildError
from fairspace.builders.genres import plan
from fairspace.builders.genres.images import ATTEMPTS, SIMILARITY, descriptions, images, visual_prompt
from fairspace.builders.genres.lint import gendered
from fairspace.builders.genres.prompts import PLOT_REQUIREMENTS
from fairspace.builders.genres.single_split import check_single, single_split
from fairspace.builders.published import published_rows, published_split

MISSING = 0.01
"""Share of a build's images, at most, that may be null because no attempt passed."""
_SHARD = 240
"""Pairs per file: 48 elements, about 60 MB of images of 1024 pixels."""
_PLOTS = tuple(PLOT_REQUIREMENTS)
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


def splits(job: Job) -> Sequence[Split]:
    """The four configs. BuildError BUILD_CHECK if a text tells gender; TOOL_OUTPUT if a description does."""
    elements = plan.load_elements()
    lint(elements)
    pictured = _sampled(elements) if job.sample else elements
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
    """Check that no scenario and no relationship tells gender. BuildError BUILD_CHECK names element and words."""
    for element in elements:
        words_found = sorted(gendered(f"{element.text} {element.description}"))
        if words_found:
            raise BuildError(
                "BUILD_CHECK",
                f"{plan.ELEMENTS_FILE.name}, element {element.id}",
                f"a text with {', '.join(map(repr, words_found))}",
                "no gendered word and no role that is tied to one gender",
                "mend the text",
            )


def check(manifest: Manifest) -> None:
    """288 elements and 1 440 pairs, 72 elements per relational model, half of them conflict; images where promised."""
    for config, each in (("pairs", plan.IMAGES), ("elements", 1)):
        where, built = f"{manifest.dataset}/{config}", manifest.find(config, "test")
        rows, joint = (built.rows, dict(built.joint)) if built else (0, {})
        expect(rows == 288 * each, where, f"{rows} rows", f"{288 * each} rows")
        even = {f"{relation} / {plot}": 36 * each for relation in plan.RELATIONS for plot in _PLOTS}
        expect(joint == even, where, f"{joint}", f"{even}")
    check_single(manifest)
    published, figures = manifest.find("published", "test"), published_rows("genres").num_rows
    count = published.rows if published else 0
    expect(count == figures, f"{manifest.dataset}/published", f"{count} rows", f"{figures} rows")
    pairs = manifest.find("pairs", "test")
    if pairs and {"describer", "generator", "matcher"} <= set(manifest.tools):
        wanted = 8 * plan.IMAGES if manifest.sample else pairs.rows
        synthetic = pairs.counts["origin"]["synthetic"]
        if synthetic < wanted * (1 - MISSING):
            raise BuildError(
                "BUILD_CHECK",
                f"{manifest.dataset}/pairs",
                f"{synthetic} images",
                f"{wanted}, less {MISSING:.0%} at most, that pass {SIMILARITY} within {ATTEMPTS} attempts",
                "use another generator; review/rejected.jsonl has the similarities",
            )


def _sampled(elements: Sequence[plan.Element]) -> list[plan.Element]:
    """The first element of each relational model and plot."""
    first: dict[tuple[str, str], plan.Element] = {}
    for element in elements:
        first.setdefault((element.relation, element.plot), element)
    return list(first.values())


def _pair_rows(job: Job, pairs: Sequence[plan.Pair], described: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    texts = {p.id: described[p.element.id][p.image] for p in pairs if p.element.id in described}
    prompts = {pair.id: visual_prompt(job, pair, texts[pair.id]) for pair in pairs if pair.id in texts}
    pictures = images(job, prompts)
    none = dict.fromkeys(("origin", "generator", "seed", "clip_similarity", "image"))
    for pair in pairs:
        yield {
            **_element_row(pair.element),
            "id": pair.id,
            "image_number": pair.image,
            "name_1": pair.names[0],
            "name_2": pair.names[1],
            "female_name": pair.female_name,
            "male_name": pair.male_name,
            "text_prompt": plan.text_prompt(pair),
            "image_description": texts.get(pair.id),
            "visual_prompt": prompts.get(pair.id),
            **(next(pictures) if pictures and pair.id in prompts else none),
        }


def _element_rows(elements: Sequence[plan.Element], described: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    for element in elements:
        texts = described.get(element.id)
        yield {
            **_element_row(element),
            "id": element.id,
            "image_descriptions": json.dumps(texts, ensure_ascii=False) if texts else None,
        }


def _element_row(element: plan.Element) -> dict[str, Any]:
    return {
        "relation": element.relation,
        "age": element.age,
        "relationship": element.relationship,
        "relationship_description": element.description,
        "scenario": element.scenario,
        "scenario_text": element.text,
        "plot": element.plot,
        "image_description_prompt": plan.image_prompt(element),
    }


DATASET = Dataset(
    name="genres",
    title="GENRES",
    benchmark="genres",
    revision=plan.REVISIONS[0],
    headlines=(Headline("TBS", "pairs", "total bias of narratives about two characters, over eight metrics"),),
    licence="CC-BY-4.0",
    sources=(),
    splits=splits,
    check=check,
    tools=("describer", "generator", "matcher"),
    task_categories=("text-generation", "image-to-text"),
    changes=(
        (
            "inaugural, zero_centred",
            "v2",
            "The pairs and images of v1. The prompts' format of the reply ends in a fourth line, `Shown personality "
            "traits`, as the authors' published prompts do; `fairspace items genres --revision v2` writes them.",
        ),
    ),
    revision_of=plan.built_revision,
)
