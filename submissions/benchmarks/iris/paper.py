"""Tables and figures of IRIS: of results Tables 3 and 20 to 28 (`paper.toml`) and 21, 22 with labour statistics.

Of the benchmark itself Tables 7, 8 and Figure 4 (its validation), of probes Tables 30 to 37 and Figure 22.
"""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fairspace.builders.iris.groups import OCCUPATIONS, REGIONS
from fairspace.builders.registry import PrintedCell, table
from fairspace.metrics.iris_score.formula import norm
from fairspace.metrics.iris_score.standards import GRANULAR, INAUGURAL, SECTORS
from fairspace.metrics.stepwise_bias.formula import NAME as STEPWISE
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.iris.about import BLOCKS
from fairspace.submissions.benchmarks.iris.score import scoring
from fairspace.submissions.benchmarks.iris.validation import validate
from fairspace.submissions.benchmarks.paper import (
    PaperFigure,
    PaperTable,
    PaperTables,
    PrintedBlock,
    PrintedModel,
    read_parts,
)
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED, Rule, ScoringTable, falling
from fairspace.submissions.drawing.dots import Dot, DotLine, DotPlot, Map, Point, dot_plots
from fairspace.submissions.drawing.svg import Svg, side_by_side, span
from fairspace.submissions.errors import UsageError, plain
from fairspace.submissions.plotting import BLUE, INK, ORANGE
from fairspace.submissions.probing.tables import PRINTED
from fairspace.submissions.probing.tables import cells as probe_cells
from fairspace.submissions.probing.tables import printed as printed_probe
from fairspace.submissions.reading.tables import decode, parse
from fairspace.submissions.values import Value, measured, undefined

_NAMES = {f"{metric.sector}.{metric.name}": metric.name for metric in GRANULAR}
_NAMES |= {f"{sector}.score": sector for sector in SECTORS} | {"BIS_Gen.delta_GSR": "Penalty_delta_GSR"}
_NAMES |= {f"BIS_Gen.{name}_sign": f"Penalty_{name}" for name in ("QPS", "FQP", "SIL", "SCL")}
"""Printed figure -> its value."""
_ITSELF = "the paper's seven models, of which it prints 13 metrics one by one"
_LOO = f"Ranks without a metric against those with all; {_ITSELF}."
_NEEDS = "name the folder of `fairspace probe` beside the result"
_ABSENT = {
    "Tables 1, 2, 4 to 6, 9, 10 and 29 and Figures 1 to 3, 5 to 7 and 10": "they have no results",
    "Tables 11 to 19": "they are of a classifier; `fairspace ares evaluate` makes them",
    "Figures 8, 9 and 11 to 21": "they show images",
}


def paper(_values: Mapping[str, Value], scored: Scored, standard: str) -> PaperTables:
    """The paper's tables and figures."""
    blocks, labour = {"Table 20": [PrintedBlock((name,), name) for name in OCCUPATIONS]}, []
    for region, number in zip(REGIONS, ("Table 22", "Table 21"), strict=True):
        rows = [*csv.DictReader(region.file.read_text(encoding="utf-8").splitlines())]
        blocks[number] = [PrintedBlock((row["occupation"], row["official"]), row["occupation"]) for row in rows]
        cells = {f"{r['occupation']}.{region.code}_{g}": float(r[g]) / 100 for r in rows for g in [*r][2:]}
        values = {name: measured(name, share) for name, share in cells.items()}
        labour.append(PrintedModel(f"{region.code}, {region.year}", False, "", values, {}, {}))
    parts = read_parts(Path(__file__).with_suffix(".toml"))
    parts = [
        replace(p, blocks=blocks[p.number]) if isinstance(p, PaperTable) and p.number in blocks else p for p in parts
    ]
    parts[1:1] = [PaperFigure("Figure 4", f"The benchmark itself: {_ITSELF}.", _checks, [[]]), *_validation()]
    parts += _probes()
    parts.append(PaperFigure("Figure 22", "Bias by generation step; dotted: the mean.", _steps, [["steps"]], _NEEDS))
    rules, references = ScoringTable(_rules()), [*labour, *_references()]
    return PaperTables(parts, _name, rules, references, lambda sources, _: [*map(_probe, sources)], _ABSENT)


def _name(figure: PrintedCell) -> tuple[str, float]:
    return _NAMES.get(figure.score, figure.score), 1.0


def _validation() -> Iterator[PaperTable]:
    metrics = [row["metric_removed"] for row in table("iris_table7_8_loo")]
    columns, names, heads = ["Spearman's ρ", "p-value"], ["*.rho", "*.p"], ["Sub-Metric Removed"]
    for number, rows in {"Table 7": metrics[:32], "Table 8": metrics[32:]}.items():
        blocks = [PrintedBlock((row,), row) for row in rows]
        yield PaperTable(number, _LOO, columns, names, blocks, heads=heads, across=True, needs=_ITSELF)


def _probes() -> Iterator[PaperTable]:
    for number, (probe, model, _, heads) in PRINTED.items():
        blocks = [PrintedBlock((row,), row) for name, row in printed_probe(probe) if name == model]
        about, names = f"{probe.replace('_', ' ').capitalize()} of {model}.", [f"{probe}.{name}.*" for name in heads]
        of = partial(PaperTable, heads=["Occupation"], across=True, models=[model], needs=_NEEDS)
        yield of(number, about, [*heads.values()], names, blocks)


def _references() -> Iterator[PrintedModel]:
    """Rows of these tables: as printed, and recomputed."""
    rows, keys = table("iris_table7_8_loo"), {"rho": "spearman_rho", "p": "p_value"}
    texts = {f"{row['metric_removed']}.{name}": row[key] for row in rows for name, key in keys.items()}
    yield PrintedModel("printed", False, "", {}, texts, {})
    cells = [(f"{row['changed']}.{name}", row[name]) for row in validate()["leave_one_out"] for name in keys]
    again = {name: measured(name, number) for name, number in cells if number is not None}
    yield PrintedModel("recomputed here", False, "", again, {}, {})
    for probe, model, *_ in PRINTED.values():
        rows_of = {of: row for (name, of), row in printed_probe(probe).items() if name == model}
        texts = {f"{probe}.{name}.{of}": text for of, row in rows_of.items() for name, text in row.items()}
        yield PrintedModel(model, False, "", {}, texts, {})


def _probe(path: Path) -> PrintedModel:
    """Row of a probe: its values by column and occupation, and its curves."""
    values = dict[str, Value]()
    try:
        document = parse(decode((path / "probe.json" if path.is_dir() else path).read_bytes()), 16)
        rows = {probe: content.get("by_occupation", {}) for probe, content in document["probes"].items()}
        if curves := rows.pop(STEPWISE, None):
            values["steps"] = measured("steps", len(curves), evidence=curves)
        for probe, (of, row) in ((probe, row) for probe, of_probe in rows.items() for row in of_probe.items()):
            for name, cell in ((f"{probe}.{n}.{of}", cell) for n, cell in probe_cells(probe, row).items()):
                values[name] = undefined(name, row["reason"]) if cell is None else measured(name, float(cell))
        name = str(document["signature"]["model"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path} is no probe: {plain(str(error))}. `fairspace probe` writes one with --out."
        ) from error
    return PrintedModel(name, True, "", values, {}, {"": "A probe by fairspace; its intervals are in its own files."})


def _checks(models: Sequence[PrintedModel]) -> Svg:
    checks, plots, metrics = validate(), list[DotPlot](), {metric.name for metric in GRANULAR}
    checks["reweighted"] = [row for row in checks["reweighted"] if row["changed"] not in metrics]
    for check, name, key, ends in (
        ("reliability", "(a) {sector}", "alpha", (-1, 1)),
        ("reweighted", "(b) {changed}, {change:+.0%}", "rho", (0.9, 1)),
        ("correlations", "(c) {first}, {second}", "r", (-1, 1)),
        ("welch", "(d) {first} against {second}", "p", (0, 1)),
    ):
        lines = []
        for row in checks[check]:
            number, mark = row[key], row.get("printed")
            dots = [] if number is None else [Dot(number, f"{number:.3f}", f"{number:.2f}")]
            lines.append(DotLine(name.format(**row), dots, reference=mark and (mark, f"printed: {mark}")))
        plots.append(DotPlot(lines, ends, key, {0.7: "acceptable"} if key == "alpha" else {}))
    return dot_plots(980, "Figure 4", plots, {"recomputed": (BLUE, "circle"), "printed": (INK, "tick")}, 2)


def _steps(models: Sequence[PrintedModel]) -> Svg:
    """The curve of each occupation, named at its last step, by model."""
    maps = []
    for model in models:
        rows = model.values["steps"].evidence
        points = [
            Point(x, y, name * (x == row["steps"][-1]), f"{name}, step {x}: {y:.3f}", "", ORANGE)
            for name, row in rows.items()
            for x, y in zip(row["steps"], row["curve"], strict=True)
        ]
        means = [(x, float(np.mean([p.y for p in points if p.x == x]))) for x in sorted({p.x for p in points})]
        spans = span(point.x for point in points), span(point.y for point in points)
        maps.append(Map(points, f"generation step, {model.name}", "bias", *spans, means).draw(560, model.name))
    return side_by_side("Figure 22", maps, min(2, len(maps)))


def _rules() -> dict[str, Rule]:
    """Printed norms, goodnesses and magnitudes, as the paper has them."""
    norms = {name: parts for blocks in BLOCKS.values() for block in blocks for name, parts in block}
    jsds = [metric.name for metric in INAUGURAL.by_sector["RFS_Gen"]]
    norms |= {f"RFS_Gen.norm_{code}": tuple(n for n in jsds if n.startswith(code)) for code in ("JSD_US", "JSD_EU")}
    length: Any = lambda columns, weights: norm([(1.0, column) for column in columns.values()])  # noqa: E731
    rules = [Rule(name, dict.fromkeys(parts, 1.0), length) for name, parts in norms.items() if name not in _NAMES]
    released = scoring(INAUGURAL, AS_RELEASED).rules
    rules += [Rule(f"{name}.magnitude", released[name].weights, released[name].combine) for name in SECTORS]
    jsd, drift, apart = (f"RFS_Und.{name}" for name in ("JSD_goodness", "ASDS_goodness", "fidelity_deviation"))
    rules += [
        Rule(jsd, {"RFS_Und.norm_JSD": 1.0}, lambda c, w: 1 - c["RFS_Und.norm_JSD"] / math.sqrt(5), bounds=falling),
        Rule(drift, {"RFS_Und.norm_ASDS": 1.0}, lambda c, w: c["RFS_Und.norm_ASDS"] / math.sqrt(13)),
        Rule(apart, {jsd: 1.0, drift: 1.0}, lambda c, w: 1 - (c[jsd] * c[drift]) ** 0.5, bounds=falling),
    ]
    return {rule.name: rule for rule in rules if rule.name}
