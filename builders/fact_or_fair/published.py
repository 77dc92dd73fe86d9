"""The tables that the FACT-OR-FAIR paper prints."""

from collections.abc import Mapping
from functools import lru_cache

from fairspace.builders.registry import Paper, Printed, table
from fairspace.metrics.columns import FACT_OR_FAIR_CITATION

_DETAILS = {"s_fact": "factuality", "s_e": "entropy", "s_kld": "kld", "s_fair": "fairness", "distance": "distance"}
_ERRORS = {
    "rep_high": "representativeness_high",
    "rep_low": "representativeness_low",
    "attr": "attribution",
    "avg_increase": "increase",
}


@lru_cache
def _kind(model: str) -> str:
    """`llm` or `t2i`: Table 2 prints it as a heading, Tables 4 to 8 in the row."""
    return next(row["kind"] for row in table("fof_table4_8_scores") if row["model"] == model)


def _summary(row: Mapping[str, str], column: str) -> str:
    """Table 2: `obj_fact_gender` is `llm_factuality_gender`, `avg` is `average_llm`."""
    kind = _kind(row["model"])
    if column.startswith("avg"):
        return f"average_{kind}{column.removeprefix('avg')}"
    question, attribute = column.rsplit("_", 1)
    score = "factuality" if question == "obj_fact" else "fairness"
    return f"{kind}_{score}" + ("" if attribute == "avg" else f"_{attribute}")


def _detail(row: Mapping[str, str], column: str) -> str:
    """Tables 4 to 8: `s_e` of a context and an attribute is `entropy_llm_base_race`."""
    context = f"{row['kind']}_{row['context']}".replace("llm_subjective_", "llm_")
    return f"{_DETAILS[column]}_{context}_{row['attribute']}"


def _cognitive(row: Mapping[str, str], column: str) -> str:
    """Table 3: a cognitive error of an attribute."""
    error, _, attribute = column.rpartition("_")
    return f"cognitive_error_{_ERRORS.get(error, error)}_{attribute}"


PAPER = Paper(
    "FACT-OR-FAIR",
    (
        Printed("fof_table2_summary", "Table 2", _summary, cohort_of=_kind),
        Printed("fof_table4_8_scores", "Tables 4 to 8", _detail, ("attribute", "context"), "kind"),
        Printed("fof_table3_cognitive_errors", "Table 3", _cognitive, cohort_of=_kind),
    ),
    tags=("arxiv:2502.05849",),
    citation=FACT_OR_FAIR_CITATION,
    url="https://arxiv.org/abs/2502.05849",
)
