"""The tables of a probe, one CSV file each, with the figures that the paper prints."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fairspace.metrics.association_bias.formula import NAME as ASSOCIATION
from fairspace.metrics.embedding_complexity.formula import NAME as COMPLEXITY
from fairspace.metrics.intent_consistency.formula import NAME as CONSISTENCY
from fairspace.metrics.projection_distortion.formula import NAME as DISTORTION
from fairspace.metrics.representation_similarity_bias.formula import NAME as SIMILARITY
from fairspace.metrics.stepwise_bias.formula import NAME as STEPWISE

FOLDER = Path(__file__).with_name("published")
Cells = dict[str, float | None]
COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    SIMILARITY: {
        "stereotype_similarity": ("stereotypical",),
        "counter_similarity": ("counter_stereotypical",),
        "visual_bias": ("value",),
        "female_representation_bias": ("representation_bias", "female"),
        "male_representation_bias": ("representation_bias", "male"),
    },
    ASSOCIATION: {
        "male_association": ("male",),
        "female_association": ("female",),
        "difference": ("value",),
        "absolute_difference": ("absolute_difference",),
    },
    CONSISTENCY: {"mean_similarity": ("value",), "standard_deviation": ("standard_deviation",)},
    DISTORTION: {"ratio_llm": ("ratio_before",), "ratio_unet": ("ratio_after",), "distortion": ("value",)},
    STEPWISE: {"rise": ("value",)},
    COMPLEXITY: {
        "stereo_magnitude": ("stereotypical", "magnitude"),
        "counter_magnitude": ("counter_stereotypical", "magnitude"),
        "stereo_pr": ("stereotypical", "participation_ratio"),
        "counter_pr": ("counter_stereotypical", "participation_ratio"),
    },
}
"""Probe -> column -> path in the row of an occupation."""
PRINTED: dict[str, tuple[str, str, dict[str, str]]] = {
    SIMILARITY: (
        "probe_table31_rsa",
        "BLIP3-o",
        {
            "stereotype_similarity": "stereo_similarity",
            "counter_similarity": "counter_similarity",
            "visual_bias": "visual_bias",
            # Table 35's, whose "stereotype" is the female image of every occupation (`Harmon_probe.py`).
            "female_representation_bias": "stereo_representation_bias",
            "male_representation_bias": "counter_representation_bias",
        },
    ),
    ASSOCIATION: (
        "probe_table30_34_m_iat",
        "",
        {
            "male_association": "male_assoc",
            "female_association": "female_assoc",
            "absolute_difference": "abs_difference",
        },
    ),
    CONSISTENCY: (
        "probe_table32_consistency",
        "BLIP3-o",
        {"mean_similarity": "mean_similarity", "standard_deviation": "std_similarity"},
    ),
    DISTORTION: (
        "probe_table33_distortion",
        "BLIP3-o",
        {name: name for name in ("ratio_llm", "ratio_unet", "distortion")},
    ),
    COMPLEXITY: (
        "probe_table36_37_energy",
        "",
        {name: name for name in ("stereo_magnitude", "counter_magnitude", "stereo_pr", "counter_pr")},
    ),
}
"""Probe -> (file, model if the file does not name it, our column -> the file's)."""


def cells(name: str, row: Mapping[str, Any]) -> Cells:
    """The cells of an occupation, None where undefined."""
    cells: Cells = {}
    for column, path in COLUMNS[name].items():
        cell: Any = row
        for key in path:
            cell = cell[key]
        cells[column] = cell
    return cells


@cache
def printed(name: str) -> dict[tuple[str, str], dict[str, str]]:
    """(model, occupation) -> our column -> printed figure; empty for a probe without a table."""
    if name not in PRINTED:
        return {}
    first, its_model, columns = PRINTED[name]
    printed = {}
    for file, model in [(first, its_model), ("probe_table35_harmon", "Harmon")][: 1 + (name == SIMILARITY)]:
        with (FOLDER / f"{file}.csv").open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                occupation = {"soccerplayer": "soccer player"}.get(row["occupation"], row["occupation"])
                figures = {ours: row[theirs] for ours, theirs in columns.items() if theirs in row}
                printed[row.get("model") or model, occupation] = figures
    return printed


def csv_of(name: str, probe: Mapping[str, Any]) -> str:
    """A probe's table: one row per occupation with its interval, then the printed figures by model."""
    out = io.StringIO()
    header = ["occupation", "model", *COLUMNS[name], "low", "high", "reason"]
    if name == STEPWISE:
        header = ["occupation", "step", "bias", "reason"]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for occupation, row in probe["by_occupation"].items():
        if name == STEPWISE:
            points = list(zip(row["steps"], row["curve"], strict=True)) or [("", "")]
            writer.writerows([occupation, step, bias, row["reason"]] for step, bias in points)
            continue
        low, high = row["interval"] or ("", "")
        measured = ["" if cell is None else cell for cell in cells(name, row).values()]
        writer.writerow([occupation, "this model", *measured, low, high, row["reason"]])
    for (model, occupation), figures in printed(name).items():
        if occupation in probe["by_occupation"]:
            shown = [figures.get(column, "") for column in COLUMNS[name]]
            writer.writerow([occupation, f"{model} (printed)", *shown, "", "", ""])
    return out.getvalue()
