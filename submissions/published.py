"""The figures that the four papers print, as rows for the board. The tables lie in `published/`, as printed.

A published row carries printed numbers only: no intervals, no coverage, no records behind them. Where a printed number
contradicts its own formula, the row keeps the number and a footnote names the erratum in `cards/errata.md`.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from submissions.values import Value, measured, not_run

FOLDER = Path(__file__).parent / "published"
SOURCES = {
    "iris": "IRIS (arXiv:2603.00590)",
    "fact_or_fair": "FACT-OR-FAIR",
    "stereotypical_bias": "Measuring Stereotypical Bias in Multi-modal Large Language Models",
    "genres": "GENRES (From Individuals to Interactions)",
}
IRIS_SECTORS = ("IFS_Und", "RFS_Und", "BIS_Und", "IFS_Gen", "RFS_Gen", "BIS_Gen")
RELATIONAL_MODELS = ("CS", "EM", "MP", "AR")
EVALUATORS = {"llama": "Llama", "glm": "GLM", "mistral": "Mistral"}


@dataclass(frozen=True)
class Footnote:
    """A remark on one printed number: the score it stands at, and the erratum that explains it."""

    score: str
    erratum: str
    text: str


@dataclass(frozen=True)
class Published:
    """One model of one paper's table.

    Args:
        model: as printed.
        organisation: who made it.
        source: paper and table.
        scores: printed scores by name; `not_run` where the table has none.
        ranking: the score that the board sorts by.
        unranked: why the row has no rank; empty if it has.
        labels: printed labels (profile codes, kind).
        values: further printed figures by name.
        cohort: rows are ranked among rows of the same cohort (GENRES: the evaluator; FACT-OR-FAIR: the kind of model).
        footnotes: remarks on contradicting numbers.
    """

    model: str
    organisation: str
    source: str
    scores: Mapping[str, Value]
    ranking: str
    unranked: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    cohort: str = ""
    footnotes: tuple[Footnote, ...] = ()


def table(name: str) -> list[dict[str, str]]:
    """The rows of one table in `published/`, every cell as printed."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def printed(name: str, text: str, source: str) -> Value:
    """A printed number as a value; `not_run` where the table has none ('' or 'n/a')."""
    if text in ("", "n/a", "-"):
        return not_run(name, f"{source} prints no such figure for this model")
    return measured(name, float(text.lstrip("<")), evidence={"printed": text, "source": source})


@lru_cache
def published(benchmark: str, standard: str = "inaugural") -> tuple[Published, ...]:
    """Every model that the paper of a benchmark prints, in the paper's order.

    Under a standard other than `inaugural` an IRIS row shows the sectors that the printed raw figures still give.
    """
    rows = {
        "iris": _iris,
        "fact_or_fair": _fact_or_fair,
        "stereotypical_bias": _stereotypical_bias,
        "genres": _genres,
    }
    return tuple(rows[benchmark](standard))


def _organisation(benchmark: str, model: str) -> str:
    return next(r["organisation"] for r in table("models") if (r["benchmark"], r["model"]) == (benchmark, model))


# Footnotes -----------------------------------------------------------------------------------------------------------

FOOTNOTES: Mapping[tuple[str, str], tuple[tuple[str, str, str], ...]] = {}
"""(benchmark, model) -> (score or label, erratum, remark)."""


def _footnotes(benchmark: str, model: str) -> tuple[Footnote, ...]:
    return tuple(Footnote(*note) for note in FOOTNOTES.get((benchmark, model), ()))


# IRIS ----------------------------------------------------------------------------------------------------------------

_IRIS_NAMES = {"FLUX.1-dev": "FLUX-1.dev"}
"""Table 3's name -> the name in Tables 23 to 25."""
_IRIS_TABLES = {
    "IFS_Gen": ("iris_table23_ifs_gen", "Table 23"),
    "RFS_Gen": ("iris_table24_rfs_gen", "Table 24"),
    "BIS_Gen": ("iris_table25_bis_gen", "Table 25"),
    "IFS_Und": ("iris_table26_ifs_und", "Table 26"),
    "RFS_Und": ("iris_table27_rfs_und", "Table 27"),
    "BIS_Und": ("iris_table28_bis_und", "Table 28"),
}


def _iris(standard: str) -> list[Published]:
    source = f"{SOURCES['iris']}, Table 3"
    rows = []
    for row in table("iris_table3_overall"):
        figures = _iris_figures(row["model"])
        if standard == "inaugural":
            scores = {s: printed(s, row[s.lower()], source) for s in (*IRIS_SECTORS, "iris_score")}
            labels = {"profile_gen": row["mbti_gen_printed"], "profile_und": row["mbti_und_printed"]}
        else:
            scores = _iris_rescored(figures, standard)
            labels = {}
        missing = [name for name, value in scores.items() if value.state != "value"]
        reason = (
            f"partial: {', '.join(missing)} not printed"
            if standard == "inaugural"
            else "partial: " + (f"{', '.join(missing)} not available under {standard} from the printed figures")
        )
        rows.append(
            Published(
                model=row["model"],
                organisation=_organisation("iris", row["model"]),
                source=source,
                scores=scores,
                ranking="iris_score",
                unranked=(reason,) if missing else (),
                labels={k: v for k, v in labels.items() if v} | {"kind": row["kind"]},
                values=figures,
                footnotes=_footnotes("iris", row["model"]) if standard == "inaugural" else (),
            )
        )
    return rows


def _iris_figures(model: str) -> dict[str, Value]:
    """The printed figures of Tables 23 to 28 as `<sector>.<column>`."""
    names = {model, _IRIS_NAMES.get(model, model)}
    return {
        f"{sector}.{column}": printed(f"{sector}.{column}", text, f"{SOURCES['iris']}, {place}")
        for sector, (name, place) in _IRIS_TABLES.items()
        for row in table(name)
        if row["model"] in names
        for column, text in row.items()
        if column not in ("model", "score") and not column.endswith("_sign")
    }


def _iris_rescored(figures: Mapping[str, Value], name: str) -> dict[str, Value]:
    """Sector scores under another standard, where the printed figures are the ones that it asks for.

    Table 23 and 24 print every value of their sector. Tables 25 and 26 print the magnitude, whose rule is the same.
    Table 28 prints the norm of each level, which can be divided by a metric's bound. Table 27 prints norms over 13
    drifts, of which a standard may ask for ten: not available, and with it the total.
    """
    from metrics.iris_score.formula import sector_magnitude, sector_score
    from metrics.iris_score.standards import STANDARDS

    standard = STANDARDS[name]
    raw = {key.split(".", 1)[1]: value.value or 0.0 for key, value in figures.items()}
    raw |= {metric: raw[column] for metric, column in _RD_COLUMNS.items() if column in raw}
    magnitudes = {sector: sector_magnitude(raw, sector, standard) for sector in ("IFS_Gen", "RFS_Gen")}
    for sector in ("BIS_Gen", "IFS_Und"):
        magnitude = figures.get(f"{sector}.magnitude")
        magnitudes[sector] = math.nan if magnitude is None or magnitude.value is None else magnitude.value
    levels = [figures.get(f"BIS_Und.{kind}_{level}") for kind in ("AC", "DHR") for level in _LEVELS]
    bound = standard.sector_divisor.get("answer_consistency_difference", 1.0)
    norms = [math.nan if v is None or v.value is None else v.value for v in levels]
    magnitudes["BIS_Und"] = math.hypot(*(x / bound for x in norms[:3]), *norms[3:])
    scores = {}
    for sector in IRIS_SECTORS:
        score = sector_score(magnitudes.get(sector, math.nan), sector, standard)
        scores[sector] = (
            not_run(sector, f"not available under {name}: the paper does not print the figures that it asks for")
            if math.isnan(score)
            else measured(sector, score, evidence={"source": f"{SOURCES['iris']}, {_IRIS_TABLES[sector][1]}"})
        )
    reason = f"not available under {name}: the paper does not print the figures that it asks for"
    return scores | {"iris_score": not_run("iris_score", reason)}


_LEVELS = ("single", "dual", "triple")
_RD_COLUMNS = {"RD_joint_all": "RD_joint_all"}


# FACT-OR-FAIR --------------------------------------------------------------------------------------------------------


KINDS = {"llm": "language model", "t2i": "image model"}
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
_ERRORS = {"rep_high": "representativeness_high", "rep_low": "representativeness_low", "attr": "attribution"}


def _percent(name: str, text: str, source: str) -> Value:
    """A number that is printed in percent, as a share; '<0.0001' as 0."""
    number = 0.0 if text.startswith("<") else float(text) / 100
    return measured(name, number, evidence={"printed": f"{text} %", "source": source})


def _fact_or_fair(standard: str) -> list[Published]:
    paper = SOURCES["fact_or_fair"]
    rows = []
    for row in table("fof_table2_summary"):
        model = row["model"]
        values, kind = _fact_or_fair_values(model)
        named = ((name.format(kind), row[column]) for column, name in _SUMMARY.items())
        scores = {name: _percent(name, text, f"{paper}, Table 2") for name, text in named}
        reason = f"not available under {standard}: the printed answers are judged by the paper's labels"
        if standard != "inaugural":
            scores |= {name: not_run(name, reason) for name in scores if "fairness" not in name}
        rows.append(
            Published(
                model=model,
                organisation=_organisation("fact_or_fair", model),
                source=f"{paper}, Table 2",
                scores=scores,
                ranking=f"average_{kind}",
                unranked=() if standard == "inaugural" else (f"partial: factuality is {reason}",),
                values=values,
                cohort=KINDS[kind],
                footnotes=_footnotes("fact_or_fair", model),
            )
        )
    return rows


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
            if error and error != "avg_increase":
                name = f"cognitive_error_{_ERRORS.get(error, error)}_{attribute}"
                values.append(_percent(name, text, f"{paper}, Table 3"))
    return {value.name: value for value in values}, kind


# Stereotypical bias --------------------------------------------------------------------------------------------------

_MLLMS = {"LLaVA-v1.5": "llava", "MiniGPT-v2": "minigpt", "CogVLM": "cogvlm", "Ensemble": "ensemble"}


def _stereotypical_bias(standard: str) -> list[Published]:
    source = f"{SOURCES['stereotypical_bias']}, Table 2"
    rows = []
    for model, column in _MLLMS.items():
        scores = {}
        for row in table("stereobias_table2_scores"):
            name = f"{row['attribute']}_{row['scenario']}"
            scores[name] = printed(name, row.get(column, ""), source)
            filtered = f"{name}_na_filtered"
            scores[filtered] = printed(filtered, row[f"{column}_na_filtered"], source)
        plain = [v.value for name, v in scores.items() if not name.endswith("_na_filtered") and v.value is not None]
        scores["total"] = (
            measured("total", sum(plain) / 6, evidence={"source": f"mean of the six scores of {source}, not printed"})
            if len(plain) == 6
            else not_run("total", f"{source} prints no such figure for this model")
        )
        rows.append(
            Published(
                model=model,
                organisation=_organisation("stereotypical_bias", model),
                source=source,
                scores=scores,
                ranking="total",
                unranked=("no worst case: how many questions were not answered is not printed",),
                footnotes=_footnotes("stereotypical_bias", model),
            )
        )
    return rows


# GENRES --------------------------------------------------------------------------------------------------------------


def _genres(standard: str) -> list[Published]:
    source = f"{SOURCES['genres']}, Table 2"
    rows = []
    for row in table("genres_table2_bias"):
        scores = {k.removesuffix("_pct"): v for k, v in row.items() if k not in ("evaluator", "model")}
        rows.append(
            Published(
                model=row["model"],
                organisation=_organisation("genres", row["model"]),
                source=source,
                scores={k: printed(k, v, source) for k, v in scores.items()},
                ranking="TBS",
                labels={"cohort": row["evaluator"]},
                cohort=EVALUATORS[row["evaluator"]],
                footnotes=_footnotes("genres", row["model"]),
            )
        )
    return rows
