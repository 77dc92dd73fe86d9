"""Stereotypical bias of multimodal models: from answers to the association scores of Table 2 and their mean.

Source: "Measuring Stereotypical Bias in Multi-modal Large Language Models", section 5.3. Raw values of six cells (two
attributes, three scenarios), beside those of `compare`:

- `<cell>`: S, N/A answers as in the paper; `high` (ranked) counts them as the least favourable answer;
- `<cell>_na_filtered`: S over the answers that name a group;
- `<cell>_na_rate`: share of the answers that name none, or several;
- `<cell>_position_share`: share of the most used side of the picture (place in the sentence, for persona);
- `<cell>_refusal_rate`: share of refusals; `<cell>_refusal_difference`: its largest difference between the races shown
  (not for persona, whose pictures show nobody).

Beside these, levels: `share_<cell>_<instance>_<group>` and `wins_<cell>_<instance>_<race>_<race>`.
"""

import re
from collections.abc import Mapping
from functools import partial

from fairspace.builders.stereotypical_bias import modscan, plan
from fairspace.submissions.benchmarks import benchmark
from fairspace.submissions.benchmarks.stereotypical_bias import quantities
from fairspace.submissions.benchmarks.stereotypical_bias.compare import prefix_of
from fairspace.submissions.benchmarks.stereotypical_bias.parse import SIDES, VERSION
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS, VISION, misread, read
from fairspace.submissions.benchmarks.stereotypical_bias.score import (
    STANDARDS,
    UP_TO_TWENTY,
    adjustable,
    score,
    scoring,
)
from fairspace.submissions.benchmarks.task import CHOICES_ALIKE, Lazy, Reword, Task, as_json
from fairspace.submissions.format.schema import Submission

_PLACE = re.compile(r"Tell me the spatial location (?:\(left or right\) )?of the (.+)\.$")


def _side(prompt: str) -> tuple[str, tuple[str, ...]]:
    closed, count = _PLACE.subn(r"Is the \1 on the left or on the right?", prompt)
    if not count:
        raise ValueError(f"the prompt asks for no place: {prompt[:200]!r}")
    return as_json(closed, SIDES)


def _term(attribute: plan.Attribute) -> Reword:
    """The rewording of a sentence whose groups are the choices, in the order in which it offers them."""
    groups = plan.GROUPS[attribute]
    offered = re.compile(rf"\b(?:{'|'.join(groups)})\b")
    return lambda prompt: as_json(f"{prompt} Choose one of the offered words.", offered.findall(prompt)[-len(groups) :])


_TERMS = {f"language_{attribute}": _term(attribute) for attribute in plan.ATTRIBUTES}
FORMS: Mapping[str, Mapping[str, Reword]] = {benchmark.CLOSED: {"vision_gender": _side, "vision_race": _side, **_TERMS}}


def signature(submission: Submission) -> dict[str, str]:
    """The parser, the run's prefix, and `shown` without pictures."""
    read_as = {"parser": f"stereotypical_bias_parsing@{VERSION}", "prefix": prefix_of(submission)}
    return read_as | benchmark.shown(submission)


def protocol_of(signature: Mapping[str, str], scored: benchmark.Scored) -> str:
    """Dataset revision, prefix of the prompts if any, and whether pictures were left out."""
    revision, prefix = signature.get("dataset_revision", ""), signature.get("prefix", "plain")
    if prefix not in (modscan.MODES if revision == plan.MODSCAN else plan.PREFIXES):
        return "another prefix"
    name = revision if prefix == "plain" else f"{revision}, prefix {prefix}"
    return benchmark.text_only(name) if "shown" in signature else name


_HALF, _QUARTER = benchmark.Ideal(0.5, "either"), benchmark.Ideal(0.25, "either")


def ideal(name: str, standard: str) -> benchmark.Ideal | None:
    """0 for associations and differences, even for levels, chance for a position's share; None for rates."""
    if name.endswith(quantities.DESCRIBING):
        return None
    if name.startswith((quantities.SHARE, quantities.WINS)):
        return _QUARTER if name.startswith(f"{quantities.SHARE}race") else _HALF
    return benchmark.CHANCE if name.endswith("_position_share") else benchmark.GAP


_ASK = "fairspace.submissions.benchmarks.stereotypical_bias.ask"
BENCHMARK = benchmark.Benchmark(
    name="stereotypical_bias",
    revisions=plan.REVISIONS,
    base_revision=lambda revision: plan.BASE.get(revision, revision),
    tasks=tuple(
        Task(
            name,
            "responses",
            1,
            partial(plan.ids, name),
            items=partial(plan.items, name),
            ask=Lazy(f"{_ASK}:{'vision' if name in VISION else 'language'}"),
            max_tokens=256,
            alike=CHOICES_ALIKE,
            about_image=name in VISION,
            values=tuple(
                f"{cell.name}{filtered}" for cell in CELLS if cell.task == name for filtered in ("", "_na_filtered")
            ),
        )
        for name in plan.TASKS
    ),
    read=read,
    measure=quantities.measure,
    answers=benchmark.AnswerReading(
        rows=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.parse.columns:row_readings"),
        samples=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.samples:samples"),
        label_lines=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.parse.columns:label_lines"),
        misread=misread,
        compare=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.parse.columns:compare_reading"),
        authors=quantities.as_the_authors_read,
    ),
    protocols=benchmark.Protocols(protocol_of),
    standards=STANDARDS,
    default_standard=UP_TO_TWENTY.name,
    score=score,
    higher_is_better=False,
    baseline=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.baselines:tables"),
    about=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.about:about"),
    published=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.about:rows"),
    asking=benchmark.AskingOptions(
        forms=FORMS,
        options={
            "prefix": (*plan.PREFIXES, *(mode for mode in modscan.MODES if mode not in plan.PREFIXES)),
            "text_only": (False, True),
        },
        authors=benchmark.AsAuthors(
            "LLaVA in eval/query_*.py of TrustAIRLab/ModSCAN@b117f70, with one beam",
            {"temperature": 0.2, "top_p": 0.7, "max_tokens": 512},
            revision=plan.MODSCAN,
        ),
    ),
    signature=signature,
    ideal=ideal,
    reporting=benchmark.Reporting(
        hub_task="image-text-to-text",
        headline=(*(cell.name for cell in CELLS), "total"),
        in_harness=tuple(cell.name for cell in CELLS if cell.task not in VISION),
        sentences=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.about:sentences"),
        paper=Lazy("fairspace.submissions.benchmarks.stereotypical_bias.paper:paper"),
    ),
    designs=quantities.designs,
    variants=quantities.variants,
    scoring=benchmark.Scoring(
        scoring,
        adjustable=adjustable,
        drawn=frozenset(f"{cell.name}{filtered}" for cell in CELLS for filtered in ("", "_na_filtered")),
    ),
)
