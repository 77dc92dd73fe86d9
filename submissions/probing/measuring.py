"""A probe from beginning to end: stimuli shown, vectors measured by `metrics/`, with state and signature.

The same model, recipe, stimuli, seed and machine give the same bytes. A probe that the recipe or the stimuli leave out
is *not run*, with the reason.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from fairspace.metrics.association_bias import formula as association
from fairspace.metrics.embedding_complexity import formula as complexity
from fairspace.metrics.intent_consistency import formula as consistency
from fairspace.metrics.projection_distortion import formula as distortion
from fairspace.metrics.representation_similarity_bias import formula as similarity
from fairspace.metrics.stepwise_bias import formula as stepwise
from fairspace.submissions.probing.extraction import Extractor, Floats, OpenedModel
from fairspace.submissions.probing.recipe import Recipe
from fairspace.submissions.probing.stimuli import ANCHOR, ATTRIBUTES, NOUNS, Stimuli, other
from fairspace.submissions.version import VERSION

FORMAT = "fairspace-probe/1"
Tell = Callable[[str, int], None]


@dataclass(frozen=True)
class ProbeSettings:
    """Settings of a probe: `resamples` are bootstrap replicates (0: no intervals); `steps` None follows all."""

    seed: int = 0
    resamples: int = 1000
    steps: int | None = None
    dtype: str = ""


ALL_STEPS = 1 << 16


def probe(
    opened: OpenedModel,
    recipe: Recipe,
    stimuli: Stimuli,
    settings: ProbeSettings = ProbeSettings(),
    tell: Tell = lambda _what, _done: None,
) -> dict[str, Any]:
    """All probes of a model, as JSON data (see `submissions/RUNNING.md`). RunError if the recipe does not fit it."""
    extractor = Extractor(opened, recipe, settings.seed, tell)
    probes: dict[str, Any] = {}
    for name, (measure, *stages) in PROBES.items():
        absent = [stage for stage in stages if stage not in recipe.stages]
        if absent:
            probes[name] = {"state": "not_run", "reason": f"the recipe names no {' and no '.join(absent)}"}
        elif name == similarity.NAME and not stimuli.images:
            probes[name] = {"state": "not_run", "reason": "no images were given (--images)"}
        else:
            probes[name] = measure(extractor, stimuli, settings)
    return {
        "format": FORMAT,
        "signature": {
            "model": opened.name,
            "revision": opened.revision,
            "recipe": recipe.name,
            "recipe_hash": recipe.hash,
            "stimuli_hash": stimuli.hash,
            "seed": settings.seed,
            "resamples": settings.resamples,
            "steps": settings.steps,
            "dtype": settings.dtype or "the device's own",
            "fairspace": VERSION,
            "torch": version("torch"),
            "transformers": version("transformers"),
        },
        "about": recipe.about,
        "stimuli": stimuli.data,
        "probes": probes,
    }


def dumps(document: dict[str, Any]) -> str:
    """The text of probe.json."""
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _similarity(extractor: Extractor, stimuli: Stimuli, settings: ProbeSettings) -> dict[str, Any]:
    vectors = {
        key: np.stack([taken.vectors[0] for taken in extractor.images(files)]) for key, files in stimuli.images.items()
    }
    images_of: dict[str, dict[tuple[str, str], Floats]] = {}
    for name, gender in stimuli.occupations.items():
        roles = {"stereotypical": gender, "counter_stereotypical": other(gender)}
        images_of[name] = {(role, sex): vectors[name, sex] for role, sex in roles.items() if (name, sex) in vectors}
    anchors = {gender: vectors[ANCHOR, gender] for gender in NOUNS if (ANCHOR, gender) in vectors}
    return similarity.measure(images_of, anchors, settings.seed, settings.resamples)


def _association(extractor: Extractor, stimuli: Stimuli, settings: ProbeSettings) -> dict[str, Any]:
    sets = {name: (name,) for name in stimuli.occupations}
    vectors = _grouped(extractor.words, {**sets, **{f"\0{name}": terms for name, terms in ATTRIBUTES.items()}})
    terms = {name: vectors.pop(f"\0{name}") for name in ATTRIBUTES}
    return association.measure(vectors, terms, settings.seed, settings.resamples)


def _consistency(extractor: Extractor, stimuli: Stimuli, settings: ProbeSettings) -> dict[str, Any]:
    prompts = {name: stimuli.paraphrases(name) for name in stimuli.occupations}
    vectors = _grouped(lambda texts: extractor.prompts(texts, ("intent",))["intent"], prompts)
    return consistency.measure(vectors, settings.seed, settings.resamples)


def _distortion(extractor: Extractor, stimuli: Stimuli, settings: ProbeSettings) -> dict[str, Any]:
    triples = {name: stimuli.triple(name) for name in stimuli.occupations}
    texts = [text for triple in triples.values() for text in triple.values()]
    taken = extractor.prompts(texts, ("before", "after"))
    each = iter(zip(taken["before"], taken["after"], strict=True))
    groups: dict[str, dict[str, tuple[Floats, Floats]]] = {}
    for name, triple in triples.items():
        pairs = {role: next(each) for role in triple}
        groups[name] = {role: (before.vectors[:1], after.vectors[:1]) for role, (before, after) in pairs.items()}
    return distortion.measure(groups, settings.seed, settings.resamples)


def _stepwise(extractor: Extractor, stimuli: Stimuli, settings: ProbeSettings) -> dict[str, Any]:
    prompts = {name: [stimuli.step(name)] for name in stimuli.occupations}
    prompts |= {f"\0{gender}": stimuli.persons(gender) for gender in NOUNS}
    texts = [text for group in prompts.values() for text in group]
    each = iter(extractor.prompts(texts, ("step",), settings.steps or ALL_STEPS)["step"])
    latents = {name: [next(each).vectors for _ in group] for name, group in prompts.items()}
    sides = {gender: np.concatenate(latents.pop(f"\0{gender}")) for gender in NOUNS}
    towards = stepwise.direction(sides["male"], sides["female"])
    steps = {name: {t: series[0][t : t + 1] for t in range(len(series[0]))} for name, series in latents.items()}
    return stepwise.measure(steps, towards, settings.seed, settings.resamples)


def _complexity(extractor: Extractor, stimuli: Stimuli, settings: ProbeSettings) -> dict[str, Any]:
    prompts = {(name, role): texts for name in stimuli.occupations for role, texts in stimuli.steers(name).items()}
    each = iter(extractor.prompts([text for texts in prompts.values() for text in texts], ("intent",))["intent"])
    groups: dict[str, dict[str, list[tuple[float, float]]]] = {name: {} for name in stimuli.occupations}
    for (name, role), texts in prompts.items():
        taken = [next(each) for _ in texts]
        groups[name][role] = [(complexity.magnitude(state.vectors[:1]), state.ratio) for state in taken]
    return complexity.measure(groups, settings.seed, settings.resamples)


def _grouped(extract: Callable[[list[str]], Any], groups: Any) -> dict[str, Floats]:
    each = iter(extract([text for texts in groups.values() for text in texts]))
    return {name: np.stack([next(each).vectors[0] for _ in texts]) for name, texts in groups.items()}


PROBES: dict[str, tuple[Any, ...]] = {
    similarity.NAME: (_similarity, "vision"),
    association.NAME: (_association, "words"),
    consistency.NAME: (_consistency, "intent"),
    distortion.NAME: (_distortion, "before", "after"),
    stepwise.NAME: (_stepwise, "step"),
    complexity.NAME: (_complexity, "intent"),
}
"""Probe -> its measure and its stages, in the order of the paper."""
