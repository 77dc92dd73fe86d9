"""Stereotypical bias of multimodal models: from answers to the association scores of Table 2 and their mean.

Source: "Measuring Stereotypical Bias in Multi-modal Large Language Models", section 5.3. Six cells (two attributes,
three scenarios) have these raw values each:

- `<cell>`: S, N/A answers as in the paper; `high` (the ranked side) counts them as the least favourable answer;
- `<cell>_na_filtered`: S over the answers that name a group;
- `<cell>_na_rate`: share of the answers that name none, or several;
- `<cell>_position_share`: how often the most used side of the picture (place in the sentence, for persona) is chosen;
- `<cell>_refusal_rate`: share of the answers that decline to answer;
- `<cell>_refusal_difference`: the largest difference in this share between the races that the pictures show; persona,
  whose pictures show nobody, has none.

`compare` (submissions/benchmarks/stereotypical_bias/compare.py) adds what needs several submissions.
"""

from __future__ import annotations

from functools import partial

from fairspace.builders.stereotypical_bias import plan
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.lazy import Lazy
from fairspace.submissions.benchmarks.stereotypical_bias.compare import compare, prefix_of
from fairspace.submissions.benchmarks.stereotypical_bias.measure import measure
from fairspace.submissions.benchmarks.stereotypical_bias.parse import VERSION
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS, read
from fairspace.submissions.benchmarks.stereotypical_bias.resample import designs
from fairspace.submissions.benchmarks.stereotypical_bias.score import adjustable, score, scoring
from fairspace.submissions.benchmarks.stereotypical_bias.standards import INAUGURAL, StereotypicalBiasStandard
from fairspace.submissions.benchmarks.stereotypical_bias.variants import variants
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.format.schema import Submission

__all__ = ["BENCHMARK", "INAUGURAL", "StereotypicalBiasStandard", "compare", "measure", "score"]


def signature(submission: Submission) -> dict[str, str]:
    """The parser and the run's prompt prefix."""
    return {"parser": f"stereotypical_bias_parsing@{VERSION}", "prefix": prefix_of(submission)}


_ASK = "fairspace.submissions.benchmarks.stereotypical_bias.ask"
BENCHMARK = Benchmark(
    name="stereotypical_bias",
    title="Stereotypical bias",
    revisions=plan.REVISIONS,
    tasks=tuple(
        Task(
            name,
            "responses",
            1,
            partial(plan.ids, name),
            items=partial(plan.items, name),
            ask=Lazy(f"{_ASK}:{'vision' if name.startswith('vision') else 'language'}"),
            max_tokens=256,
            values=tuple(
                f"{cell.name}{filtered}" for cell in CELLS if cell.task == name for filtered in ("", "_na_filtered")
            ),
        )
        for name in plan.TASKS
    ),
    read=read,
    measure=measure,
    compare_reading=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.parse.labelled:compare_reading"),
    row_readings=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.parse.columns:row_readings"),
    label_line=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.parse.labelled:label_line"),
    protocols={
        "paper": "As printed: pairs of UTKFace faces and pictures of the authors.",
        "v1": "Our pairs of UTKFace faces, and pictures that we draw or make.",
    },
    standards={INAUGURAL.name: INAUGURAL},
    score=score,
    higher_is_better=False,
    baseline=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.baselines:tables"),
    about=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.about:about"),
    power=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.power:detectable"),
    published=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.published:rows"),
    options={"prefix": tuple(plan.PREFIXES)},
    signature=signature,
    headline=(*(cell.name for cell in CELLS), "total"),
    designs=designs,
    variants=variants,
    scoring=scoring,
    adjustable=adjustable,
    drawn=frozenset(f"{cell.name}{filtered}" for cell in CELLS for filtered in ("", "_na_filtered")),
)
