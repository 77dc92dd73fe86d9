"""One HTML page of a probe, with its figures, tables and plotly.js in it: it can be kept, sent, and opened offline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import plotly

from fairspace.submissions.errors import web
from fairspace.submissions.plotting import number
from fairspace.submissions.probing.figures import draw
from fairspace.submissions.probing.names import ASSOCIATION, COMPLEXITY, CONSISTENCY, DISTORTION, SIMILARITY, STEPWISE
from fairspace.submissions.probing.tables import COLUMNS, cells, place, printed

SECTIONS = {
    SIMILARITY: (
        "Representational similarity",
        "D.3.1",
        "How near the vision encoder puts an image to the anchor of its own gender. Visual bias is the absolute "
        "difference between stereotypical and counter-stereotypical images; 0 is equal fidelity.",
    ),
    ASSOCIATION: (
        "Association of words",
        "D.3.2",
        "Mean cosine similarity of an occupation's static embedding to three male and three female words. Above 0 the "
        "difference leans to the male words; 0 leans to neither.",
    ),
    CONSISTENCY: (
        "Consistency of intent",
        "D.3.3",
        "How alike the vectors are that eight paraphrases of one concept send to the image decoder, with their "
        "standard deviation. Above 0.95 (dotted) the paper speaks of a lazy commander.",
    ),
    DISTORTION: (
        "Distortion by the projection",
        "D.3.4",
        "By how much the projection changes the ratio of the distances from the neutral prompt to the counter-"
        "stereotypical and the stereotypical one. 1 (dotted) keeps the geometry.",
    ),
    STEPWISE: (
        "Bias step by step",
        "D.3.5",
        "Cosine similarity of each generation step's latent and a male-female direction, which is the difference of "
        "mean latents of prompts that name a gender and no occupation. The paper prints a figure, and no numbers.",
    ),
    COMPLEXITY: (
        "Magnitude and complexity of intent",
        "E.1",
        "What counter-stereotypical prompts cost: L2 norm of the intent embedding, and the participation ratio of its "
        "positions. A finding about effort: no value is ideal.",
    ),
}
_STYLE = """
:root { color-scheme: light; --ink: #1c2127; --quiet: #5f6770; --line: #d9dde1; --ground: #fff; --card: #f6f7f8; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1000px; padding: 28px 20px 60px; color: var(--ink); background: var(--ground);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 0; }
.quiet { color: var(--quiet); }
.small { font-size: .875rem; }
section { border-top: 1px solid var(--line); margin-top: 34px; padding-top: 22px; }
.value { font-size: 1.05rem; margin: 8px 0 2px; }
.value b { font-variant-numeric: tabular-nums; }
.figure { min-height: 380px; margin: 8px 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { font-weight: 600; color: var(--quiet); }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2), td.reason { text-align: left; }
td.reason { white-space: normal; color: var(--quiet); }
tr.printed td { color: var(--quiet); }
summary { cursor: pointer; padding: 6px 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 8px 0; font-size: .875rem; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; font-family: ui-monospace, monospace; }
.card { background: var(--card); border-radius: 8px; padding: 14px 18px; margin-top: 18px; }
.not { background: var(--card); border-radius: 8px; padding: 12px 16px; }
"""
_DRAW = """
for (const place of document.querySelectorAll("[data-figure]")) {
  const { data, layout } = JSON.parse(document.getElementById(place.dataset.figure).textContent);
  if (innerWidth < 560 && layout.margin) { layout.font.size = 11; layout.margin.l = 40; layout.margin.r = 6; }
  Plotly.newPlot(place, data, layout, { displayModeBar: false, responsive: true });
}
"""


def page(document: Mapping[str, Any]) -> str:
    """The page of what `measuring.probe` returned; all that came from outside is escaped."""
    signature = document["signature"]
    parts = [_head(document)]
    parts += [_section(name, document["probes"][name]) for name in SECTIONS]
    script = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    title = web(f"Probe of {signature['model']}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + f"\n<script>{script}</script>\n<script>{_DRAW}</script>\n</body>\n</html>\n"
    )


def _head(document: Mapping[str, Any]) -> str:
    signature = document["signature"]
    lines = "".join(f"<dt>{web(key)}</dt><dd>{web(_shown(value))}</dd>" for key, value in signature.items())
    return (
        f"<header><h1>Probe of {web(signature['model'])}</h1>\n"
        f'<p class="quiet">{web(document["about"])}</p>\n'
        "<p>What the model's representations hold, by the probes of IRIS (appendices D.3 and E.1). A probe says what a "
        "representation holds, not what the model does with it. Figures of other models are those that the paper "
        "prints.</p>\n"
        f'<details class="card"><summary>How this was made</summary><dl>{lines}</dl></details></header>'
    )


def _section(name: str, probe: Mapping[str, Any]) -> str:
    title, source, explanation = SECTIONS[name]
    head = (
        f'<section id="{name}"><h2>{title} <span class="quiet small">IRIS {source}</span></h2>\n<p>{explanation}</p>\n'
    )
    if probe["state"] == "not_run":
        return f'{head}<p class="not">Not run: {web(probe["reason"])}.</p></section>'
    figure = json.dumps(draw(name, probe).to_plotly_json(), allow_nan=False).replace("<", "\\u003c")
    return (
        f"{head}{_value(name, probe)}\n"
        f'<div class="figure" data-figure="figure-{name}" role="img" aria-label="{title}, per occupation"></div>\n'
        f'<script type="application/json" id="figure-{name}">{figure}</script>\n'
        f"<details><summary>Table</summary>{_table(name, probe)}</details></section>"
    )


def _value(name: str, probe: Mapping[str, Any]) -> str:
    if probe["state"] == "undefined":
        rest = probe["partial_mean"]
        others = "" if rest is None else f" Mean of the {probe['counts']['valid']} others: {number(rest, 4)}."
        return f'<p class="not">Undefined: {web(probe["reason"])}.{others}</p>'
    what = {
        SIMILARITY: "mean visual bias",
        ASSOCIATION: "mean difference, male − female",
        CONSISTENCY: "mean similarity",
        DISTORTION: "geometric mean of the distortion",
        STEPWISE: "mean rise from the first step to the last",
        COMPLEXITY: "mean difference of the participation ratios, counter − stereo",
    }[name]
    more = ""
    if name == ASSOCIATION:
        more = f"; absolute: <b>{number(probe['absolute_difference'], 4)}</b>"
    if name == COMPLEXITY:
        more = (
            f"; of the magnitudes: <b>{number(probe['magnitude_difference'], 4)}</b>. "
            f"Both higher in {len(probe['supported'])} of {probe['counts']['valid']} occupations"
        )
    interval = probe["interval"]
    ends = f" (95 % {number(interval[0], 4)} to {number(interval[1], 4)})" if interval else ""
    counts = probe["counts"]
    return (
        f'<p class="value">{what}: <b>{number(probe[name], 4)}</b>{ends}{more}.</p>'
        f'<p class="quiet small">All {counts["expected"]} occupations have a value.</p>'
    )


def _table(name: str, probe: Mapping[str, Any]) -> str:
    columns = [column.replace("_", " ").replace("llm", "LLM").replace("unet", "UNet") for column in COLUMNS[name]]
    columns = [column.removesuffix(" pr") + " PR" if column.endswith(" pr") else column for column in columns]
    lines = []
    for occupation, row in probe["by_occupation"].items():
        values = [number(cell, 4) if cell is not None else "undefined" for cell in cells(name, row).values()]
        low, high = row["interval"] or (None, None)
        interval = "–" if low is None else f"{number(low, 4)} to {number(high, 4)}"
        shown = "".join(f"<td>{value}</td>" for value in values)
        ends = f'<td>{interval}</td><td class="reason">{web(row["reason"])}</td>'
        lines.append(f"<tr><td>{web(occupation)}</td><td>this model</td>{shown}{ends}</tr>")
        for (model, of), figures in printed(name).items():
            if of == occupation:
                shown = "".join(f"<td>{figures.get(column, '–').replace('-', '−')}</td>" for column in COLUMNS[name])
                first = f'<tr class="printed"><td></td><td>{model}, printed</td>{shown}'
                lines.append(f"{first}<td>–</td><td></td></tr>")
    head = "".join(f"<th>{column}</th>" for column in columns)
    header = f"<tr><th>occupation</th><th>model</th>{head}<th>95 % interval</th><th></th></tr>"
    source = f'<p class="quiet small">Printed figures: {place(name)}.</p>' if place(name) else ""
    return f'<div class="wide"><table>{header}{"".join(lines)}</table></div>{source}'


def _shown(value: Any) -> str:
    return "all" if value is None else str(value)
