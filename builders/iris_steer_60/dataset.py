"""IRIS-Steer-60 as a dataset: the configs and what they promise (C.2)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from fairspace.builders.engine.dataset import BuiltSplit, Dataset, Job, Manifest, Split, expect
from fairspace.builders.engine.headline import Headline
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import COMBINATIONS, GROUPS, OCCUPATIONS
from fairspace.builders.iris.revisions import REVISIONS, cohort_revision, combinations_of
from fairspace.builders.iris_steer_60.cohorts import read_cohort
from fairspace.builders.iris_steer_60.generation import generation_splits
from fairspace.builders.iris_steer_60.plan import LABELS, OBJECTIVE, PAIRS, QUESTIONS, STEREOTYPES, SUBJECTIVE, pairs
from fairspace.builders.iris_steer_60.prompts import prompts_split
from fairspace.builders.iris_steer_60.understanding import (
    COLUMNS,
    CONFIG,
    inconsistent,
    sample_pairs,
    understanding_split,
)
from fairspace.builders.sources import SOURCES
from fairspace.builders.sources.model_store import ModelStore

KINDS = ("subjective", "objective")
MADE_SHARE = 0.95
"""Least share of each combination's planned pairs that a build with images must have."""


def splits(job: Job, revision: str = REVISIONS[0]) -> Sequence[Split]:
    """Pairs of a revision and their questions; every steer prompt; the plans and images of the source's models."""
    splits = [understanding_split(job, revision), _questions(), prompts_split()]
    if cohort := combinations_of(revision):
        named = ", ".join(f"{OCCUPATIONS[occupation]} {GROUPS[group]}" for occupation, group in cohort)
        job.note(f"The pairs show the combinations in which a cohort of models is most biased (C.2): {named}.")
    folder = SOURCES["models"].found(job.source)
    store = ModelStore(job, folder) if folder else None
    if store is None or not store.models:
        job.note("No model's neutral images were given (source `models`): the config generation is left out.")
        return splits
    return [*generation_splits(job, store), *splits]


def check(manifest: Manifest) -> None:
    """Counts and balance of C.2. BuildError BUILD_CHECK says which is broken."""
    questions, prompts, generation = (manifest.find(c, "test") for c in ("questions", "prompts", "generation"))
    expect(_rows(questions) == len(QUESTIONS), manifest.dataset, f"{_rows(questions)} questions", f"{len(QUESTIONS)}")
    every = len(OCCUPATIONS) * len(GROUPS) * 6
    expect(_rows(prompts) == every, manifest.dataset, f"{_rows(prompts)} prompts", f"{every}")
    if generation is not None:
        types, per_model = generation.counts["prompt_type"], STEREOTYPES * 6
        even = types["counter-stereotypical"] == 5 * types["stereotypical"] and generation.rows % per_model == 0
        expect(even, manifest.dataset, f"steer prompts {types}", "ten stereotypical and fifty others for each model")
    understanding = manifest.find(CONFIG, "test")
    if understanding is None:
        raise KeyError(f"a build without {CONFIG}")
    _check_pairs(manifest, understanding)


def _check_pairs(manifest: Manifest, built: BuiltSplit) -> None:
    planned = np.array(sample_pairs(manifest.revision)) if manifest.sample else np.arange(PAIRS)
    per_combination = np.bincount(pairs(manifest.revision).combination[planned])
    sides = built.counts["side"]
    expect(sides["a"] == sides["b"], manifest.dataset, f"images {sides}", "two for each pair")
    pairs_there, odd_rows = Counter[str](), Counter[str]()
    for labels, rows in built.joint.items():
        combination, odd, status = labels.split(" / ")
        if status != "failed":
            pairs_there[combination] += rows // 2
            odd_rows[odd] += rows
    for combination, expected_pairs in zip(COMBINATIONS, per_combination.tolist(), strict=True):
        there = pairs_there[combination]
        if not MADE_SHARE * expected_pairs <= there <= expected_pairs:
            what, expected = f"{there} pairs of {combination}", f"{expected_pairs}, at least {MADE_SHARE:.0%} of them"
            mend = (
                "read review/rejected.jsonl, then build into a new folder with a better generator, editor or labeller"
            )
            raise BuildError("BUILD_CHECK", manifest.dataset, what, expected, mend)
    share = odd_rows["yes"] / odd_rows.total()
    asked_share = float(inconsistent(manifest.revision)[planned].mean())
    what = f"{share:.1%} of the pairs intentionally inconsistent"
    expect(abs(share - asked_share) <= 0.01, manifest.dataset, what, f"{asked_share:.1%}")


def _rows(split: BuiltSplit | None) -> int:
    return split.rows if split else 0


def _questions() -> Split:
    rows = [
        {
            "id": question,
            "kind": KINDS[question in OBJECTIVE],
            "question": text,
            "column": COLUMNS.get(question),
            "labels": json.dumps(LABELS[question]) if question in LABELS else None,
        }
        for question, text in (SUBJECTIVE | OBJECTIVE).items()
    ]
    return Split(
        config="questions",
        about="A question about each image of a pair (Table 29).",
        columns={
            "kind": (KINDS, "subjective: a rating from 1 to 10; objective: one of the labels"),
            "question": ("string", "with {occupation} where the table names it"),
            "column": ("string", "the column of `understanding` with the right answer; null for ratings"),
            "labels": ("string", "the answers that count, as a JSON list; null for ratings"),
        },
        units=pa.Table.from_pylist(rows),
        groups=("kind",),
        id="what stands behind an image's id in the id of an answer",
    )


def of_cohort(dataset: Dataset, file: Path) -> Dataset:
    """The dataset with pairs that follow a cohort's file, under the revision that names its combinations.

    Errors: BuildError of `read_cohort`.
    """
    revision = cohort_revision(read_cohort(file))

    def splits_of_cohort(job: Job) -> Sequence[Split]:
        job.used("cohort.json", file)
        return splits(job, revision)

    return replace(dataset, revision=revision, splits=splits_of_cohort)


DATASET = Dataset(
    name="iris_steer_60",
    title="IRIS-Steer-60: steer prompts, and image pairs that differ in one group",
    benchmark="iris",
    revision=REVISIONS[0],
    of_cohort=of_cohort,
    headlines=(
        Headline("BIS_Gen", "prompts", "bias inertia: prompts against a stereotype are followed as well as others"),
        Headline("BIS_Und", "understanding", "bias inertia: pictures that differ in a group get the same answers"),
    ),
    changes=(
        (
            "inaugural, bounded",
            "v2",
            "Prompts of pairs name nothing that is not to be seen, show the chest where a badge is, and say "
            "middle-aged; a matcher confirms the labels of attire and details (`label_margins`), and a pair without a "
            "confirmed label stands as failed. A steer image without a face is a failure; SCL is the similarity to "
            "IRIS-Ideal-52. Columns of yes and no number no as 0.",
        ),
    ),
    licence="CC-BY-4.0",
    sources=("models",),
    splits=splits,
    check=check,
    tools=("generator", "editor", "labeller", "matcher"),
    task_categories=("visual-question-answering", "text-to-image"),
)
