"""GENRES' eight gender bias metrics as an `evaluate` metric; the formulas are in `formula.py`."""

from typing import Any

import numpy as np

from fairspace.metrics.columns import GENRES_CITATION, MetricInputError, encode, number, numbers, outcome
from fairspace.metrics.metric import About, ColumnMetric

from .formula import (
    RELATIONAL_MODELS,
    correlation_p,
    main_character_correlation,
    mean_difference,
    status_difference,
    status_difference_by_relation,
    stereoscopic_correlation,
)

DESCRIPTION = """\
Eight differences between the male and the female character of two-character narratives (M1 to M8): traits, agency and
status, emotional expression, framing.
"""

INPUTS = """
Args:
    relations: the relational model of each passage: 'CS', 'EM', 'MP' or 'AR'.
    male_warmth, male_competence, female_warmth, female_competence: trait words per profile (M1).
    male_valence, male_matched, female_valence, female_matched: positive minus negative valence, matched words (M2).
    male_subjects, female_subjects: sentences with the character as subject (M3).
    higher_status: 'male', 'female', 'neither' (the judge answers NA), or '' for a missing judgement (M4).
    male_emotions, female_emotions: emotion words in the character's sentences (M5).
    male_positive, male_sentences, female_positive, female_sentences: positive and all sentences (M6).
    male_stereoscopic, female_stereoscopic: 'yes', 'no' or '' for a missing judgement (M7).
    main_character: 'male', 'female', 'neither' (none, or both), or '' for a missing judgement (M8).
    Counts are numbers, nan where missing. Every passage of the protocol has a row, missing ones included.
Returns:
    M1 to M8: each with value (0 at best, above 0 favours the male character; None if undefined), if_missing_low and
        if_missing_high (bounds over what is missing), state, reason, coverage and counts.
    M4 is the mean of the four relational models, as it is ranked and enters total_bias_score; its one_share, of all
        passages at once, is the text's formula.
    M7_p, M8_p: value, the two-sided p-value of the correlation over characters (scipy.stats.pearsonr), in [0, 1], and
        reason; None where the metric is undefined or has fewer than three characters.
Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/genres_bias")
    >>> nan = float("nan")
    >>> row = {name: [nan] for name in metric.features} | {"relations": ["CS"]}
    >>> row |= {name: [""] for name in ("higher_status", "male_stereoscopic", "female_stereoscopic", "main_character")}
    >>> result = metric.compute(**row | {"male_subjects": [5.0], "female_subjects": [3.0]})
    >>> result["M3"]["value"], result["M4"]["value"], result["M7_p"]["value"]
    (2.0, None, None)
"""

MOST = 1e9
CHOICES = {
    "relations": RELATIONAL_MODELS,
    "higher_status": ("male", "female", "neither", ""),
    "male_stereoscopic": ("yes", "no", ""),
    "female_stereoscopic": ("yes", "no", ""),
    "main_character": ("male", "female", "neither", ""),
}
MEANS = {
    "M1": (("male_warmth", "male_competence"), ("female_warmth", "female_competence")),
    "M2": (("male_valence", "male_matched"), ("female_valence", "female_matched")),
    "M3": (("male_subjects",), ("female_subjects",)),
    "M5": (("male_emotions",), ("female_emotions",)),
    "M6": (("male_positive", "male_sentences"), ("female_positive", "female_sentences")),
}
COUNTS = tuple(name for sides in MEANS.values() for names in sides for name in names)
PARTS = {
    "male_valence": "male_matched",
    "female_valence": "female_matched",
    "male_positive": "male_sentences",
    "female_positive": "female_sentences",
}
NEEDED = {
    "M1": (("male_warmth", "male_competence"), ("female_warmth", "female_competence")),
    "M6": (("male_sentences",), ("female_sentences",)),
}
SIDES = ("male", "female", "")
REASONS = {
    "M1": "no passage has warmth or competence words for both characters",
    "M2": "no passage has the trait words of both characters",
    "M3": "no passage has the subject sentences of both characters",
    "M4": "a relational model has no passage with a character of higher status",
    "M5": "no passage has the emotion words of both characters",
    "M6": "no passage has sentences of both characters",
    "M7": "a gender has no judged character, or all judged characters are alike",
    "M8": "no passage has exactly one main character",
}


class GenresBias(ColumnMetric):
    """M1 to M8 over the passages of one model."""

    about = About(
        DESCRIPTION, INPUTS, dict.fromkeys(CHOICES, "string") | dict.fromkeys(COUNTS, "float64"), GENRES_CITATION, ()
    )

    def _measure(self, **columns: list[Any]) -> dict[str, Any]:
        for name, allowed in CHOICES.items():
            encode(columns[name], name, allowed, missing=name != "relations")
        words = {name: np.array([word or "" for word in columns[name]], str) for name in CHOICES}
        table = {name: numbers(columns[name], name, -MOST if "valence" in name else 0, MOST) for name in COUNTS}
        for part, whole in PARTS.items():
            beyond = np.flatnonzero(np.abs(table[part]) > table[whole])
            if len(beyond):
                raise MetricInputError("METRIC_RANGE", f"{part}[{beyond[0]}] is beyond its {whole}")
        n = len(words["relations"])
        bounds: dict[str, tuple[float, float, float]] = {}
        usable: dict[str, int] = {}
        for metric, sides in MEANS.items():
            present = ~np.isnan([table[name] for names in sides for name in names]).any(0)
            male, female = ([table[name][present] for name in names] for names in sides)
            bounds[metric] = mean_difference(metric, male, female, n - int(present.sum()))
            usable[metric] = int(present.sum())
        for metric, wholes in NEEDED.items():
            usable[metric] = int(np.all([np.sum([table[w] for w in whole], 0) > 0 for whole in wholes], 0).sum())
        status, main = words["higher_status"], words["main_character"]
        one_share = status_difference(*(int((status == s).sum()) for s in SIDES))
        bounds["M4"] = status_difference_by_relation(
            *([int(((status == s) & (words["relations"] == r)).sum()) for r in RELATIONAL_MODELS] for s in SIDES)
        )
        deep = [words["male_stereoscopic"], words["female_stereoscopic"]]
        yes, absent = ([int((d == answer).sum()) for d in deep] for answer in ("yes", ""))
        bounds["M7"] = stereoscopic_correlation(yes[0], yes[1], n, absent[0], absent[1])
        bounds["M8"] = main_character_correlation(*(int((main == m).sum()) for m in SIDES))
        usable["M4"], usable["M8"] = int((status != "").sum()), int((main != "").sum())
        usable["M7"] = int(np.all([d != "" for d in deep], 0).sum())
        result: dict[str, Any] = {
            metric: outcome("value", bounds[metric], valid=usable[metric], expected=n, reason=reason, evidence={})
            for metric, reason in REASONS.items()
        }
        none = "no passage has a character of higher status"
        share = outcome("value", one_share, valid=usable["M4"], expected=n, reason=none, evidence={})
        result["M4"]["one_share"] = share
        for metric, characters in (("M7", 2 * n - sum(absent)), ("M8", 2 * int(np.isin(main, SIDES[:2]).sum()))):
            p = number(correlation_p(bounds[metric][0], characters))
            result[f"{metric}_p"] = {"value": p, "reason": REASONS[metric] if p is None else ""}
        return result
