"""Stereotypical bias as a dataset: its splits and checks."""

from __future__ import annotations

from collections.abc import Sequence

from fairspace.builders.engine.dataset import Dataset, Job, Manifest, Split, expect
from fairspace.builders.engine.headline import Headline
from fairspace.builders.stereotypical_bias.plan import ATTRIBUTES, IMAGES_PER_TRAIT, REVISIONS, TRAITS, cell_sizes


def _splits(job: Job) -> Sequence[Split]:
    from fairspace.builders.published import published_split
    from fairspace.builders.stereotypical_bias import persona as stereotypical_bias_persona
    from fairspace.builders.stereotypical_bias import vision as stereotypical_bias_vision

    return [
        *stereotypical_bias_vision.splits(job),
        *stereotypical_bias_persona.splits(job),
        published_split("stereotypical_bias"),
    ]


def _check(manifest: Manifest) -> None:
    """Every planned picture is there or logged as missing; in a sample every trait has images."""
    from fairspace.builders.stereotypical_bias.persona import TOO_FEW

    persona = manifest.find("persona", "test")
    traits = persona.counts["trait"] if persona else {}
    lost = manifest.rejected.get(TOO_FEW, 0)
    if manifest.sample:
        expect(all(traits.values()), manifest.dataset, f"images per trait {dict(traits)}", "at least one of each")
        return
    if persona is not None:
        planned = len(TRAITS) * IMAGES_PER_TRAIT
        expect(persona.rows + lost == planned, manifest.dataset, f"{persona.rows} and {lost} missing", f"{planned}")
    pictures = [built for built in manifest.splits if built.config == "vision"]
    if pictures:
        rows = sum(built.rows for built in pictures)
        lost = sum(manifest.rejected.get(reason, 0) for reason in ("no face in a cell", "too few faces in a cell"))
        planned = sum(sum(cell_sizes(attribute)) for attribute in ATTRIBUTES)
        expect(rows + lost == planned, manifest.dataset, f"{rows} pairs and {lost} left out", f"{planned} pairs")


DATASET = Dataset(
    name="stereotypical_bias",
    title="Stereotypical Bias of Multi-modal Large Language Models",
    benchmark="stereotypical_bias",
    revision=REVISIONS[0],
    headlines=(
        Headline("total", "vision", "mean association of gender and race with occupations, descriptors and personas"),
        *(
            Headline(f"{attribute}_{scenario}", config, f"association of {attribute} with {what}")
            for attribute in ("gender", "race")
            for scenario, config, what in (
                ("occupation", "vision", "occupations"),
                ("descriptor", "vision", "descriptors"),
                ("persona", "persona", "personas"),
            )
        ),
    ),
    licence="CC-BY-NC-4.0",
    sources=("utkface",),
    includes=("persons",),
    splits=_splits,
    check=_check,
    gated=True,
    tools=("detector", "generator"),
    task_categories=("visual-question-answering",),
    changes=(
        (
            "up_to_twenty",
            "v2",
            "Pairs: 20 places of each age, shared group and two groups, those that UTKFace can fill; `v1` spread the "
            "paper's totals evenly over the cells. A face is once in a cell. Questions, traits and orders are those of "
            "v1.",
        ),
    ),
)
