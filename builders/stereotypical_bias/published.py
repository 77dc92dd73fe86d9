"""The table that the review version of ModSCAN prints (openreview.net/forum?id=bW1C5XODvo)."""

from collections.abc import Mapping

from fairspace.builders.registry import Paper, Printed
from fairspace.metrics.columns import MODSCAN_CITATION

_MODELS = {"llava": "LLaVA-v1.5", "minigpt": "MiniGPT-v2", "cogvlm": "CogVLM", "ensemble": "Ensemble"}


def _score(row: Mapping[str, str], column: str) -> str:
    filtered = "_na_filtered" if column.endswith("_na_filtered") else ""
    return f"{row['attribute']}_{row['scenario']}{filtered}"


def _model(row: Mapping[str, str], column: str) -> str:
    return _MODELS[column.removesuffix("_na_filtered")]


PAPER = Paper(
    "ModSCAN (Measuring Stereotypical Bias in Multi-modal Large Language Models)",
    (Printed("stereobias_table2_scores", "Table 2", _score, ("attribute", "scenario"), model=_model),),
    tags=("arxiv:2410.06967",),
    citation=MODSCAN_CITATION,
    url="https://openreview.net/forum?id=bW1C5XODvo",
)
