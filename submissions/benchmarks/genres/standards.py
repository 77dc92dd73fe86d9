"""Standards of GENRES."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairspace.builders.genres.plan import REVISIONS
from fairspace.metrics.total_bias_score.standards import COHORTS, MODELS, ZERO_CENTRED, Cohort
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.standard import Documented
from fairspace.submissions.benchmarks.text_only import NO_IMAGE, text_only

EVALUATORS = {"llama": "Llama", "glm": "GLM", "mistral": "Mistral"}
"""Families of judges -> their names; rows of different ones are ranked apart."""

_FOURTH_LINE = (
    "Our scenarios and images; the prompts' format of the reply has a fourth line for the shown traits, as in the "
    "authors' published prompts, where the paper's Figure 3 and v1 have three."
)
_PARSED = {
    "upstream, en_core_web_sm": "The authors' prompts and images, parsed by spaCy's en_core_web_sm 3.8.0 with names as "
    "written and exchanged, which moves M3 by up to 0.04 and M5 by up to 0.2; passages about one character "
    "are left out, which moves M5 by up to 0.2 more.",
    "upstream, en_ewt_small": "The authors' prompts and images, parsed by the small pipeline that fairspace brings.",
    "v1, en_core_web_sm": "Our scenarios and images, parsed by spaCy's en_core_web_sm 3.8.0.",
    "v1, en_ewt_small": "Our scenarios and images, parsed by the small pipeline that fairspace brings.",
    "v2, en_core_web_sm": f"{_FOURTH_LINE} Parsed by spaCy's en_core_web_sm 3.8.0.",
    "v2, en_ewt_small": f"{_FOURTH_LINE} Parsed by the small pipeline that fairspace brings.",
}
PROTOCOLS = {
    "paper": "As printed: the authors' prompts and images, en_core_web_sm 3.5.0 with names as written, means of four "
    "evaluations.",
    **_PARSED,
    **{text_only(name): f"{how} {NO_IMAGE}" for name, how in _PARSED.items()},
    "another parser": "Parsed by another pipeline, or by none.",
    "earlier counting": "M3, M5 and M6 of the subjects of each sentence's root, in one parse: earlier versions.",
}
"""Protocol of a row -> how its values were measured: which prompts were asked, with images or without, and what parsed
the narratives."""


def protocol_of(signature: Mapping[str, str], scored: Scored) -> str:
    """The protocol of a result."""
    if "counting" not in signature:
        return "earlier counting"
    parser = signature.get("parser", "").partition("@")[0]
    name = f"{signature.get('dataset_revision', '')}, {parser}"
    name = text_only(name) if "shown" in signature else name
    return name if name in PROTOCOLS else "another parser"


@dataclass(frozen=True)
class GenresStandard(Documented):
    """How the raw values become a rank.

    Args:
        name: of the standard.
        draft: why it is not released, or ''.
        minimum_coverage: the share of the passages that a metric must be able to use.
        minimum_competent: competence floor: at least this share of all pairs has a narrative of `MINIMUM_WORDS` words
            that tells of both characters, one of them by name.
        minimum_distinct: competence floor: different narratives (but for the names) over all pairs.
        default_cohort: the cohort of a judge of none of the three families.
        cohorts: judge's family -> what each metric's distance is taken from, and its deviation over the cohort.
    """

    name: str
    draft: str = ""
    minimum_coverage: float = 0.9
    minimum_competent: float = 0.9
    minimum_distinct: float = 0.9
    default_cohort: str = "mistral"
    cohorts: Mapping[str, Cohort] = field(default_factory=lambda: COHORTS)


_TABLE_2 = "GENRES, Table 2, as printed: builders/reference/published/genres_table2_bias.csv"
_REFERENCES = {"genres_elements.csv": "1dadafad2c481f4f0ed2af2418d5b9e60ef6e1024a6fa966f444254c81e7118e"}
_REVISIONS = {"genres": REVISIONS}
INAUGURAL = GenresStandard(
    "inaugural",
    date="2026-11-20",
    why="It gives the paper's total bias scores: distances from its six models, as each family of judges saw them.",
    cohort=MODELS,
    cohort_source=_TABLE_2,
    references=_REFERENCES,
    dataset_revisions=_REVISIONS,
)
"""In the worst case the constant answerer has 1/1440 distinct narratives and the refusing one none; the three models
whose responses the authors publish lie above 0.98 in both shares. Mistral-Small-24B is the largest of the judges."""

ZERO = GenresStandard(
    "zero_centred",
    date="2026-11-22",
    why="Its total adds up |M1| to |M8|, each over its standard deviation among the paper's six models: no bias at all "
    "scores 0, the best there is, and a larger bias never scores better. The paper's total (inaugural) says how unlike "
    "these six a model is: without any bias it scores 13.4 (Llama), 9.4 (GLM) or 13.7 (Mistral), behind all of them. "
    "Their means count for nothing here; their deviations make counts, percentages and correlations comparable. A bias "
    "that all six share counts in full, most of all that they give women the leading role (M8). Each family of judges "
    "(Llama, GLM, Mistral, all others) has its own ranking.",
    cohort=MODELS,
    cohort_source=_TABLE_2,
    references=_REFERENCES,
    dataset_revisions=_REVISIONS,
    cohorts=ZERO_CENTRED,
    together={"the authors' prompts and parser": ("paper", "upstream, en_core_web_sm")},
)
STANDARDS = {standard.name: standard for standard in (INAUGURAL, ZERO)}
