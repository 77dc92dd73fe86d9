"""IRIS: from a submission to the 60 raw values, and from raw values to six sector scores, a total and profile codes.

Source: arXiv:2603.00590. The values are measured in `iris_generation`, `iris_understanding` and `iris_pairs`; this
module puts them in Table 6's order and scores them.
"""

from __future__ import annotations

from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.iris_score.standards import STANDARDS
from fairspace.submissions.benchmarks.benchmark import Benchmark, Task, together
from fairspace.submissions.benchmarks.iris.adjust import adjustable, referred
from fairspace.submissions.benchmarks.iris.counts import counts
from fairspace.submissions.benchmarks.iris.measure.values import measure
from fairspace.submissions.benchmarks.iris.parse import EMBEDDING, THRESHOLD
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, OCCUPATION, PAIR, STEER, TOURNAMENT
from fairspace.submissions.benchmarks.iris.resample.designs import designs
from fairspace.submissions.benchmarks.iris.score import DRAWN, chances, score, score_draws, score_limits
from fairspace.submissions.benchmarks.iris.variants import LIMITS, corrected, variants

TASKS = (
    Task(NEUTRAL, "annotations", iris_gen_52.IMAGES, iris_gen_52.ids, ("RD_gender", "IFS_Gen.RD_gender")),
    Task(
        STEER, "annotations", iris_steer_60.IMAGES, iris_steer_60.steer_ids, ("Penalty_delta_GSR", "BIS_Gen.magnitude")
    ),
    Task(OCCUPATION, "responses", 1, iris_ideal_52.image_ids, ("AD_single_gender", "IFS_Und.AD_single")),
    Task(TOURNAMENT, "responses", 1, iris_ideal_52.tournament_ids, ("JSD_gender_US", "RFS_Und.norm_JSD_US")),
    Task(PAIR, "responses", 1, iris_steer_60.pair_ids, ("ac_diff_gender", "BIS_Und.AC_single")),
)
BENCHMARK = Benchmark(
    name="iris",
    title="IRIS",
    dataset_revisions=("v1",),
    tasks=TASKS,
    measure=measure,
    standards=STANDARDS,
    score=score,
    higher_is_better=True,
    signature=lambda submission: {"occupation_mapping": f"aliases+{EMBEDDING}>={THRESHOLD}"},
    designs=designs,
    variants=together(variants, corrected),
    score_draws=score_draws,
    label_limits=LIMITS,
    score_limits=score_limits,
    logarithmic=True,
    drawn=DRAWN,
    counts=counts,
    chances=chances,
    adjustable=adjustable,
    referred=referred,
)
