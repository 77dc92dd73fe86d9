"""The tables that the IRIS paper prints (arXiv:2603.00590)."""

from collections.abc import Callable, Mapping

from fairspace.builders.registry import Paper, Printed
from fairspace.metrics.columns import CITATION

_SCORES = {name.lower(): name for name in ("IFS_Und", "RFS_Und", "BIS_Und", "IFS_Gen", "RFS_Gen", "BIS_Gen")}
_SCORES |= {"mbti_gen_printed": "profile_gen", "mbti_und_printed": "profile_und"}
_MODELS = {"FLUX-1.dev": "FLUX.1-dev"}
"""Name in Tables 23 to 25 -> name in Table 3."""


def _sector(file: str, place: str, name: str) -> Printed:
    return Printed(file, place, _score(name), model=_model)


def _score(sector: str) -> Callable[[Mapping[str, str], str], str]:
    return lambda row, column: f"{sector}.{column}"


def _model(row: Mapping[str, str], column: str) -> str:
    return _MODELS.get(row["model"], row["model"])


PAPER = Paper(
    "IRIS (arXiv:2603.00590)",
    (
        Printed("iris_table3_overall", "Table 3", lambda row, column: _SCORES.get(column, column), cohort="kind"),
        _sector("iris_table23_ifs_gen", "Table 23", "IFS_Gen"),
        _sector("iris_table24_rfs_gen", "Table 24", "RFS_Gen"),
        _sector("iris_table25_bis_gen", "Table 25", "BIS_Gen"),
        _sector("iris_table26_ifs_und", "Table 26", "IFS_Und"),
        _sector("iris_table27_rfs_und", "Table 27", "RFS_Und"),
        _sector("iris_table28_bis_und", "Table 28", "BIS_Und"),
    ),
    tags=("arxiv:2603.00590",),
    citation=CITATION,
    url="https://arxiv.org/abs/2603.00590",
)
