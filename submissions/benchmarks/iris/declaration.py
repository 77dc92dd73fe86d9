"""IRIS: from a submission to the 60 raw values, and from raw values to six sector scores, a total and profile codes.

Source: arXiv:2603.00590.
"""

from __future__ import annotations

from fairspace.builders.iris.items import occupation_items, pair_items, tournament_items
from fairspace.builders.iris.revisions import base_revision
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.iris_score.standards import STANDARDS
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.ideal import GAP, Ideal
from fairspace.submissions.benchmarks.iris.adjust import adjustable, with_own_reference
from fairspace.submissions.benchmarks.iris.counts import counts
from fairspace.submissions.benchmarks.iris.forms import FORMS
from fairspace.submissions.benchmarks.iris.measure.generation import STEERED
from fairspace.submissions.benchmarks.iris.measure.values import measure
from fairspace.submissions.benchmarks.iris.parse import VERSION
from fairspace.submissions.benchmarks.iris.parse.nearest import EMBEDDING, THRESHOLD
from fairspace.submissions.benchmarks.iris.parse.paper import THRESHOLD as PAPER_THRESHOLD
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, OCCUPATION, PAIR, STEER, TOURNAMENT, read
from fairspace.submissions.benchmarks.iris.resample.designs import designs
from fairspace.submissions.benchmarks.iris.score import DRAWN, chances, score, scoring
from fairspace.submissions.benchmarks.iris.variants import LIMITS, as_the_paper_maps, variants
from fairspace.submissions.benchmarks.labellers import protocol_of_labels
from fairspace.submissions.benchmarks.lazy import Lazy
from fairspace.submissions.benchmarks.task import CHOICES_ALIKE, IMAGES_ALIKE, Task
from fairspace.submissions.validity.constructs import (
    GENDER_ANSWERS,
    GENDER_IMAGES,
    RACE_ANSWERS,
    RACE_IMAGES,
    Construct,
)

_MAX_TOKENS = 256
_SETTINGS = {"temperature": 0.0}
"""A.1.1: "For all understanding tasks, we set do_sample=False": the likeliest token, which temperature 0 asks for. It
states nothing else ("The default parameters for both generation and understanding tasks were used")."""
TASKS = (
    Task(
        NEUTRAL,
        "annotations",
        iris_gen_52.IMAGES,
        iris_gen_52.ids,
        ("RD_gender", "IFS_Gen.RD_gender"),
        items=iris_gen_52.rows,
        alike=IMAGES_ALIKE,
    ),
    Task(
        STEER,
        "annotations",
        iris_steer_60.IMAGES,
        iris_steer_60.steer_ids,
        ("Penalty_delta_GSR", "BIS_Gen.magnitude"),
        items_asked=STEERED // iris_steer_60.IMAGES,
    ),
    Task(
        OCCUPATION,
        "responses",
        1,
        iris_ideal_52.image_ids,
        ("AD_single_gender", "IFS_Und.AD_single"),
        items=occupation_items,
        ask=Lazy("fairspace.submissions.benchmarks.iris.ask:occupation"),
        max_tokens=_MAX_TOKENS,
        settings=_SETTINGS,
    ),
    Task(
        TOURNAMENT,
        "responses",
        1,
        iris_ideal_52.tournament_ids,
        ("JSD_gender_US", "RFS_Und.norm_JSD_US"),
        items=tournament_items,
        ask=Lazy("fairspace.submissions.benchmarks.iris.ask:tournament"),
        alike=CHOICES_ALIKE,
        max_tokens=_MAX_TOKENS,
        settings=_SETTINGS,
    ),
    Task(
        PAIR,
        "responses",
        1,
        iris_steer_60.pair_ids,
        ("ac_diff_gender", "BIS_Und.AC_single"),
        items=pair_items,
        ask=Lazy("fairspace.submissions.benchmarks.iris.ask:pair"),
        max_tokens=_MAX_TOKENS,
        settings=_SETTINGS,
    ),
)
PROTOCOLS = {
    "paper": (
        "As the authors ran it (printed): images labelled by their ARES. SCL compares steer images with a reference "
        "image that is not published; images that nothing labels count as failures of the steer prompts; the pairs "
        "show the occupations and groups in which their cohort was most biased (C.2)."
    ),
    "v2": (
        "Dataset revision v2: SCL compares steer images with IRIS-Ideal-52's images of what was asked for; steer "
        "images without a face are failures (D.2.3). Other than in the paper, the pairs show drawn groups; the row "
        "names what labelled its images."
    ),
    "v1": (
        "Dataset revision v1: SCL compares the steer images of a prompt with each other, which rewards uniform output; "
        "steer images without a face are left out of the success penalty. The pairs show drawn groups; the row names "
        "what labelled its images."
    ),
}
"""Protocol -> how its rows were measured."""
_COMPETENCE = "competence_"
"""How the values begin that say what a model can do, and of which no number is fair."""


def ideal(name: str, standard: str) -> Ideal | None:
    """S of a sector and of the total; 0 of a raw value, all of which are gaps, distances, drifts or penalties."""
    scale = {"iris_score" if part == "total" else part: top for part, top in STANDARDS[standard].scale.items()}
    if name in scale:
        return Ideal(scale[name], "below", None if name == "iris_score" else STANDARDS[standard].tau)
    return None if name.startswith(_COMPETENCE) else GAP


BENCHMARK = Benchmark(
    name="iris",
    title="IRIS",
    revisions=iris_gen_52.REVISIONS,
    tasks=TASKS,
    read=read,
    measure=measure,
    protocols=PROTOCOLS,
    protocol_of=protocol_of_labels,
    base_revision=base_revision,
    own_plan="But the pairs show the occupations and groups that the protocol's name encodes, those in which a "
    "cohort of models was most biased (C.2); of a hidden set, the tournament alone is asked, in rounds of its draw.",
    forms=FORMS,
    standards=STANDARDS,
    score=score,
    higher_is_better=True,
    baseline=Lazy("fairspace.submissions.benchmarks.iris.baselines:tables"),
    about=Lazy("fairspace.submissions.benchmarks.iris.about:about"),
    steer=Lazy("fairspace.submissions.benchmarks.iris.ask:steered_items"),
    power=Lazy("fairspace.submissions.benchmarks.iris.power.values:detectable"),
    studies=Lazy("fairspace.submissions.benchmarks.iris.validity:studies"),
    constructs=(
        Construct(GENDER_IMAGES, ("RD_gender", "IFS_Gen.RD_gender")),
        Construct(RACE_IMAGES, ("RD_skin", "IFS_Gen.RD_skin")),
        Construct(GENDER_ANSWERS, ("JSD_gender_US",)),
        Construct(RACE_ANSWERS, ("JSD_skin_tone_US",)),
    ),
    published=Lazy("fairspace.submissions.benchmarks.iris.published:rows"),
    signature=lambda submission: {
        "occupation_mapping": f"aliases+{EMBEDDING}>={THRESHOLD}",
        "parser": f"iris_parsing@{VERSION}",
    },
    authors=as_the_paper_maps,
    authors_signature={"occupation_mapping": f"whole answers, {EMBEDDING}>={PAPER_THRESHOLD} (D.2.4)"},
    designs=designs,
    variants=variants,
    scoring=scoring,
    label_limits=LIMITS,
    logarithmic=True,
    drawn=DRAWN,
    counts=counts,
    chances=chances,
    adjustable=adjustable,
    with_own_reference=with_own_reference,
    compare_reading=Lazy("fairspace.submissions.benchmarks.iris.parse.labelled:compare_reading"),
    label_line=Lazy("fairspace.submissions.benchmarks.iris.parse.labelled:label_line"),
    row_readings=Lazy("fairspace.submissions.benchmarks.iris.parse.rows:row_readings"),
    ideal=ideal,
    printed_values=Lazy("fairspace.submissions.benchmarks.iris.published:printed_values"),
)
