"""The tables of a probe, one CSV file each, with the figures that the paper prints."""

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
_MIAT = {"male_association": "Male Assoc.", "female_association": "Female Assoc.", "absolute_difference": "Difference"}
_SIMILARITIES = {"stereotype_similarity": "Stereotype Sim.", "counter_similarity": "Counter-Stereo Sim."}
# The "stereotype" of Table 35 is the female image of every occupation (`Harmon_probe.py`).
_BIASES = {"female_representation_bias": "Stereotype Rep. Bias", "male_representation_bias": "Counter-Stereo Rep. Bias"}
_CONSISTENCY = {"mean_similarity": "Mean Similarity", "standard_deviation": "Std. Similarity"}
_RATIOS = {"ratio_llm": "Ratio LLM", "ratio_unet": "Ratio UNet", "distortion": "Distortion Metric"}
_ENERGY = {"stereo_magnitude": "Stereo Magnitude", "counter_magnitude": "Counter Magnitude"}
_ENERGY |= {"stereo_pr": "Stereo PR", "counter_pr": "Counter PR"}
PRINTED: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "Table 30": (ASSOCIATION, "BLIP3-o", "probe_table30_34_m_iat", _MIAT),
    "Table 31": (SIMILARITY, "BLIP3-o", "probe_table31_rsa", _SIMILARITIES | {"visual_bias": "Visual Bias"}),
    "Table 32": (CONSISTENCY, "BLIP3-o", "probe_table32_consistency", _CONSISTENCY),
    "Table 33": (DISTORTION, "BLIP3-o", "probe_table33_distortion", _RATIOS),
    "Table 34": (ASSOCIATION, "Harmon", "probe_table30_34_m_iat", _MIAT),
    "Table 35": (SIMILARITY, "Harmon", "probe_table35_harmon", _BIASES),
    "Table 36": (COMPLEXITY, "BLIP3-o", "probe_table36_37_energy", _ENERGY),
    "Table 37": (COMPLEXITY, "Janus-Pro", "probe_table36_37_energy", _ENERGY),
}
"""Table -> probe, model, file, and its columns: ours in the file's order, and as printed."""


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
    printed = {}
    for _, model, file, columns in (of for of in PRINTED.values() if of[0] == name):
        with (FOLDER / f"{file}.csv").open(encoding="utf-8", newline="") as lines:
            for row in (row for row in csv.DictReader(lines) if row.pop("model", model) == model):
                occupation = row.pop("occupation").replace("soccerplayer", "soccer player")
                printed[model, occupation] = dict(zip(columns, row.values(), strict=True))
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
