"""IRIS-Classifier-25 as a dataset: its splits and checks."""

from __future__ import annotations

from collections.abc import Sequence

from fairspace.builders.engine.dataset import Dataset, Job, Manifest, Split, expect
from fairspace.builders.iris_classifier_25.plan import COMPLETE, TARGETS, quotas


def _splits(job: Job) -> Sequence[Split]:
    from fairspace.builders.iris_classifier_25.images import splits

    return splits(job)


def _check(manifest: Manifest) -> None:
    """No class is larger than planned, and none much smaller where what lacks could be generated."""
    fillable = {"generator", "labeller"} <= set(manifest.tools)
    for built in manifest.splits:
        counts = built.counts[built.config]
        name = f"{manifest.dataset} {built.config}/{built.split}"
        if built.config not in TARGETS:
            sizes = {count for label, count in counts.items() if label}
            expect(len(sizes) == 1, name, f"classes of {sorted(sizes)} images", "classes of equal size")
            continue
        for label, quota in quotas(config=built.config, sample=manifest.sample)[built.split].items():
            least = COMPLETE * quota if fillable else 0
            expected = f"{least:g} to {quota}, or every candidate that was rejected looked at"
            expect(least <= counts[label] <= quota, name, f"{counts[label]} images of {label}", expected)


DATASET = Dataset(
    name="iris_classifier_25",
    title="IRIS-Classifier-25",
    benchmark="iris",
    revision="v1",
    licence="CC-BY-NC-4.0",
    sources=("fairface", "utkface", "mst_e"),
    includes=("mst_e",),
    splits=_splits,
    check=_check,
    gated=True,
    tools=("generator", "labeller"),
    task_categories=("image-classification",),
)
