"""IRIS (arXiv:2603.00590): tasks, 60 raw values, six sector scores, a total and profile codes."""

from fairspace.builders.iris.groups import CORE, OCCUPATIONS, base_revision
from fairspace.builders.iris.items import occupation_items, pair_items, tournament_items
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.iris_score.standards import INAUGURAL_POINTS, STANDARDS
from fairspace.submissions.benchmarks.benchmark import (
    CLOSED,
    GAP,
    AnswerReading,
    AsAuthors,
    AskingOptions,
    Benchmark,
    Ideal,
    Protocols,
    Reporting,
    Scoring,
    protocol_of_labels,
)
from fairspace.submissions.benchmarks.iris.image_quantities import STEERED
from fairspace.submissions.benchmarks.iris.parse import VERSION
from fairspace.submissions.benchmarks.iris.parse.rows import EMBEDDING, PAPER_THRESHOLD, THRESHOLD
from fairspace.submissions.benchmarks.iris.quantities import designs, measure
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, OCCUPATION, PAIR, STEER, TOURNAMENT, misread, read
from fairspace.submissions.benchmarks.iris.score import DRAWN, DRIFT_REWARDED, adjustable, chances, score, scoring
from fairspace.submissions.benchmarks.iris.variants import LIMITS, as_the_paper_maps, variants
from fairspace.submissions.benchmarks.task import CHOICES_ALIKE, IMAGES_ALIKE, Lazy, Task, as_json

_SETTINGS = {"temperature": 0.0}
"""Temperature 0, as A.1.1: "For all understanding tasks, we set do_sample=False"; no other setting is stated."""
_UNDERSTANDING = (
    (OCCUPATION, iris_ideal_52.image_ids, occupation_items, ("AD_single_gender", "IFS_Und.AD_single"), 0.0),
    (
        TOURNAMENT,
        iris_ideal_52.tournament_ids,
        tournament_items,
        ("JSD_gender_US", "RFS_Und.norm_JSD_US"),
        CHOICES_ALIKE,
    ),
    (PAIR, iris_steer_60.pair_ids, pair_items, ("ac_diff_gender", "BIS_Und.AC_single"), 0.0),
)
"""Task -> its ids, items and values, and the agreement from which two models' answers are alike."""
TASKS = (
    Task(
        NEUTRAL,
        "annotations",
        iris_gen_52.IMAGES,
        iris_gen_52.ids,
        ("RD_gender", "IFS_Gen.RD_gender"),
        items=iris_gen_52.rows,
        samples_in=dict.fromkeys(CORE, iris_gen_52.CORE_IMAGES),
        alike=IMAGES_ALIKE,
    ),
    Task(
        STEER,
        "annotations",
        iris_steer_60.IMAGES,
        iris_steer_60.steer_ids,
        ("Penalty_delta_GSR", "BIS_Gen.magnitude"),
        items_asked=STEERED,
        samples_in=dict.fromkeys(CORE, iris_steer_60.CORE_IMAGES),
    ),
    *(
        Task(
            name,
            "responses",
            1,
            ids,
            values,
            items=items,
            ask=Lazy(f"fairspace.submissions.benchmarks.iris.ask:{name}"),
            max_tokens=256,
            settings=_SETTINGS,
            alike=alike,
        )
        for name, ids, items, values, alike in _UNDERSTANDING
    ),
)
_NAMES = [name.replace("_", " ") for name in OCCUPATIONS]
FORMS = {CLOSED: {OCCUPATION: lambda prompt: as_json(f"{prompt} Choose one of these: {', '.join(_NAMES)}.", _NAMES)}}
"""The closed form of the one free question, the occupation of a person in an image."""
_COMPETENCE = "competence_"
"""Prefix of competences, which have no fair value."""


def ideal(name: str, standard: str) -> Ideal | None:
    """S for a sector and the total; 0 for a raw value, all of which are gaps, distances, drifts or penalties."""
    scale = {"iris_score" if part == "total" else part: top for part, top in STANDARDS[standard].scale.items()}
    if name in scale:
        mixed = DRIFT_REWARDED if name == "RFS_Und" and STANDARDS[standard].fidelity_by_goodness else ""
        return Ideal(scale[name], "below", None if name == "iris_score" else STANDARDS[standard].tau, mixed=mixed)
    return None if name.startswith(_COMPETENCE) else GAP


BENCHMARK = Benchmark(
    name="iris",
    revisions=(*iris_gen_52.REVISIONS, *CORE),
    tasks=TASKS,
    read=read,
    measure=measure,
    base_revision=base_revision,
    protocols=Protocols(protocol_of_labels),
    standards=STANDARDS,
    default_standard=INAUGURAL_POINTS.name,
    score=score,
    higher_is_better=True,
    baseline=Lazy("fairspace.submissions.benchmarks.iris.baselines:tables"),
    about=Lazy("fairspace.submissions.benchmarks.iris.about:about"),
    asking=AskingOptions(
        steer=Lazy("fairspace.submissions.benchmarks.iris.ask:steered_items"),
        forms=FORMS,
        authors=AsAuthors("A.1.1 of the paper, as by default; no program of theirs asks a model", _SETTINGS),
    ),
    published=Lazy("fairspace.submissions.benchmarks.iris.about:rows"),
    signature=lambda submission: {
        "occupation_mapping": f"aliases+{EMBEDDING}>={THRESHOLD}",
        "parser": f"iris_parsing@{VERSION}",
    },
    answers=AnswerReading(
        rows=Lazy("fairspace.submissions.benchmarks.iris.parse.rows:row_readings"),
        samples=Lazy("fairspace.submissions.benchmarks.iris.quantities:samples"),
        label_lines=Lazy("fairspace.submissions.benchmarks.iris.parse.rows:label_lines"),
        misread=misread,
        compare=Lazy("fairspace.submissions.benchmarks.iris.parse.rows:compare_reading"),
        authors=as_the_paper_maps,
        authors_signature={"occupation_mapping": f"whole answers, {EMBEDDING}>={PAPER_THRESHOLD} (D.2.4)"},
    ),
    reporting=Reporting(
        hub_task="any-to-any",
        hub_dataset="iris_ideal_52",
        sentences=Lazy("fairspace.submissions.benchmarks.iris.about:sentences"),
        mixed=Lazy("fairspace.submissions.benchmarks.iris.about:drift_rewarded"),
        paper=Lazy("fairspace.submissions.benchmarks.iris.paper:paper"),
    ),
    designs=designs,
    variants=variants,
    scoring=Scoring(
        scoring, adjustable=adjustable, chances=chances, logarithmic=True, drawn=DRAWN, label_limits=LIMITS
    ),
    ideal=ideal,
    with_region=Lazy("fairspace.submissions.benchmarks.iris.records:with_region"),
)
