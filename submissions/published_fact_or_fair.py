"""The rows of FACT-OR-FAIR: Table 2, with Tables 3 to 8 as values, under the scorer's names and as shares."""

from __future__ import annotations

from submissions.published import KINDS
from submissions.published_tables import SOURCES, Published, footnotes, organisation, table
from submissions.values import Value, measured, not_run

_SUMMARY = {
    "obj_fact_gender": "{}_factuality_gender",
    "obj_fact_race": "{}_factuality_race",
    "obj_fact_avg": "{}_factuality",
    "subj_fair_gender": "{}_fairness_gender",
    "subj_fair_race": "{}_fairness_race",
    "subj_fair_avg": "{}_fairness",
    "avg_gender": "average_{}_gender",
    "avg_race": "average_{}_race",
    "avg": "average_{}",
}
"""Column of Table 2 -> the scorer's name of the score, by kind of model."""
_DETAILS = {"s_fact": "factuality", "s_e": "entropy", "s_kld": "kld", "s_fair": "fairness", "distance": "distance"}
_ERRORS = {"rep_high": "representativeness_high", "rep_low": "representativeness_low"}
_ERRORS |= {"attr": "attribution", "avg_increase": "increase"}


def _percent(name: str, text: str, source: str) -> Value:
    """A number that is printed in percent, as a share; '<0.0001' as 0."""
    number = 0.0 if text.startswith("<") else float(text) / 100
    return measured(name, number, evidence={"printed": f"{text} %", "source": source})


def rows(standard: str) -> list[Published]:
    """Table 2's models; under another truth their factuality is not available."""
    paper = SOURCES["fact_or_fair"]
    found = []
    for row in table("fof_table2_summary"):
        model = row["model"]
        values, kind = _fact_or_fair_values(model)
        named = ((name.format(kind), row[column]) for column, name in _SUMMARY.items())
        scores = {name: _percent(name, text, f"{paper}, Table 2") for name, text in named}
        reason = f"not available under {standard}: the printed answers are judged by the paper's labels"
        if standard != "inaugural":
            scores |= {name: not_run(name, reason) for name in scores if "fairness" not in name}
        found.append(
            Published(
                model=model,
                organisation=organisation("fact_or_fair", model),
                source=f"{paper}, Table 2",
                scores=scores,
                ranking=f"average_{kind}",
                unranked=() if standard == "inaugural" else (f"partial: factuality is {reason}",),
                values=values,
                cohort=KINDS[kind],
                footnotes=footnotes("fact_or_fair", model),
            )
        )
    return found


def _fact_or_fair_values(model: str) -> tuple[dict[str, Value], str]:
    """Tables 3 to 8 of one model under the scorer's names, and its kind."""
    paper, values, kind = SOURCES["fact_or_fair"], [], ""
    for line in (line for line in table("fof_table4_8_scores") if line["model"] == model):
        kind = line["kind"]
        context = f"{kind}_{line['context']}".replace("llm_subjective_", "llm_")
        for column, metric in _DETAILS.items():
            name = f"{metric}_{context}_{line['attribute']}"
            values.append(_percent(name, line[column], f"{paper}, Tables 4 to 8"))
    for line in (line for line in table("fof_table3_cognitive_errors") if line["model"] == model):
        for column, text in line.items():
            error, _, attribute = column.rpartition("_")
            if error:
                name = f"cognitive_error_{_ERRORS.get(error, error)}_{attribute}"
                values.append(_percent(name, text, f"{paper}, Table 3"))
    return {value.name: value for value in values}, kind
