"""The figures of a probe, drawn as the board draws its own; figures that the paper prints are marks beside the bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fairspace.submissions.drawing.plotly_look import finish, plot
from fairspace.submissions.plotting import BLUE, COLOURS, GREEN, GREY, INK, ORANGE, PURPLE, number
from fairspace.submissions.probing.names import ASSOCIATION, CONSISTENCY, DISTORTION, SIMILARITY, STEPWISE
from fairspace.submissions.probing.tables import cells, printed

MARKS = {"BLIP3-o": "diamond", "Harmon": "circle", "Janus-Pro": "square"}
_CURVES = 5
"""Curves of single occupations that can be told apart; with more, they are all grey."""


def draw(name: str, probe: Mapping[str, Any]) -> go.Figure:
    """The figure of a probe that was run."""
    rows: Mapping[str, Mapping[str, Any]] = probe["by_occupation"]
    if name == SIMILARITY:
        pair = {"stereotype_similarity": "stereotypical", "counter_similarity": "counter-stereotypical"}
        return _bars(name, rows, pair, "similarity to the gender's anchor")
    if name == ASSOCIATION:
        pair = {"male_association": "male words", "female_association": "female words"}
        return _bars(name, rows, pair, "mean cosine similarity")
    if name == CONSISTENCY:
        figure = _bars(
            name, rows, {"mean_similarity": "mean similarity"}, "cosine of paraphrases", "standard_deviation"
        )
        known = [row for row in _all(name, rows) if row["mean_similarity"] is not None]
        low = min(((row["mean_similarity"] or 0) - (row["standard_deviation"] or 0) for row in known), default=0.95)
        figure.update_yaxes(range=[min(0.9, low - 0.05), 1.02])
        return figure.add_hline(y=probe["threshold"], line=_line())
    if name == DISTORTION:
        return _bars(name, rows, {"distortion": "distortion"}, "ratio after / ratio before").add_hline(
            y=1, line=_line()
        )
    return _steps(probe) if name == STEPWISE else _complexity(name, rows)


def _line() -> dict[str, Any]:
    return {"color": GREY, "width": 1.5, "dash": "dot"}


def _all(name: str, rows: Mapping[str, Mapping[str, Any]]) -> list[dict[str, float | None]]:
    figures = [dict.fromkeys(f, None) | {k: float(v) for k, v in f.items() if v} for f in _printed(name, rows).values()]
    return [*(cells(name, row) for row in rows.values()), *figures]


def _printed(name: str, rows: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, str]]:
    return {key: figures for key, figures in printed(name).items() if key[1] in rows}


def _bars(
    name: str, rows: Mapping[str, Mapping[str, Any]], columns: Mapping[str, str], title: str, error: str = ""
) -> go.Figure:
    figure = go.Figure()
    _bars_into(figure, name, rows, columns, error)
    _undefined(figure, name, rows, columns)
    figure = finish(figure, 400)
    figure.update_layout(barmode="group", bargap=0.25, showlegend=True)
    _places(figure, rows)
    return figure.update_yaxes(title=title, automargin=True)


def _places(figure: go.Figure, rows: Mapping[str, Any], **at: Any) -> None:
    turned = -35 if len(rows) > 6 else None
    names, ends = [plot(row) for row in rows], [-0.6, len(rows) - 0.4]
    axis = {"showgrid": False, "zeroline": False, "automargin": True, "tickangle": turned}
    figure.update_xaxes(**axis, tickvals=list(range(len(rows))), ticktext=names, range=ends, **at)


def _bars_into(
    figure: go.Figure,
    name: str,
    rows: Mapping[str, Mapping[str, Any]],
    columns: Mapping[str, str],
    error: str = "",
    legend: bool = True,
    **at: Any,
) -> None:
    table = [cells(name, row) for row in rows.values()]
    width = 0.7 / len(columns)
    for which, ((column, label), colour) in enumerate(zip(columns.items(), (BLUE, ORANGE), strict=False)):
        shift = (which - (len(columns) - 1) / 2) * width
        places = [place + shift for place in range(len(rows))]
        values = [row[column] for row in table]
        bar: dict[str, Any] = {}
        if error:
            bar["error_y"] = {"type": "data", "array": [row[error] for row in table], "color": INK, "thickness": 2}
        elif len(columns) == 1 and any(row["interval"] for row in rows.values()):
            ends = [row["interval"] or (row["value"], row["value"]) for row in rows.values()]
            up = [None if v is None else e[1] - v for v, e in zip(values, ends, strict=True)]
            down = [None if v is None else v - e[0] for v, e in zip(values, ends, strict=True)]
            bar["error_y"] = {"type": "data", "symmetric": False, "array": up, "arrayminus": down, "color": INK}
        drawn = go.Scatter if error else go.Bar  # a bar says something of 0, which a cosine near 1 leaves far below
        bar |= {"mode": "markers", "marker": {"color": colour, "size": 12}} if error else {"width": width * 0.92}
        figure.add_trace(
            drawn(
                x=places,
                y=values,
                name=label,
                legendgroup=label,
                showlegend=legend,
                customdata=[f"{plot(o)}, {label}: {number(v, 4)}" for o, v in zip(rows, values, strict=True)],
                hovertemplate="%{customdata}<extra>this model</extra>",
                **{"marker": {"color": colour}} | bar,
            ),
            **at,
        )
        for model, mark in MARKS.items():
            shown = {o: f[column] for (m, o), f in _printed(name, rows).items() if m == model and f.get(column)}
            if shown:
                figure.add_scatter(
                    x=[place + shift for place, o in enumerate(rows) if o in shown],
                    y=[float(shown[o]) for o in rows if o in shown],
                    mode="markers",
                    name=f"{model}, as printed",
                    legendgroup=model,
                    showlegend=legend and which == 0,
                    legendrank=2000,
                    marker={"symbol": mark, "size": 9, "color": "#ffffff", "line": {"width": 2, "color": INK}},
                    customdata=[f"{plot(o)}, {label}: {shown[o]}" for o in rows if o in shown],
                    hovertemplate=f"%{{customdata}}<extra>{model}, as printed</extra>",
                    **at,
                )


def _undefined(
    figure: go.Figure, name: str, rows: Mapping[str, Mapping[str, Any]], columns: Sequence[str] | Any
) -> None:
    """The word `undefined` where an occupation has no bar."""
    for place, row in enumerate(rows.values()):
        if all(cells(name, row)[column] is None for column in columns):
            figure.add_annotation(
                x=place, y=0.02, yref="paper", text="undefined", textangle=-90, showarrow=False, yanchor="bottom"
            )


def _steps(probe: Mapping[str, Any]) -> go.Figure:
    figure = go.Figure()
    rows = {name: row for name, row in probe["by_occupation"].items() if row["curve"]}
    few = len(rows) <= _CURVES
    for place, (name, row) in enumerate(rows.items()):
        colour = (ORANGE, GREEN, PURPLE, "#8a6d00", "#5b6c8f")[place] if few else "rgba(128, 134, 142, 0.55)"
        figure.add_scatter(
            x=row["steps"],
            y=row["curve"],
            mode="lines",
            name=plot(name) if few else "one occupation",
            legendgroup=None if few else "occupations",
            showlegend=few or place == 0,
            line={"color": colour, "width": 1.3},
            hovertemplate=f"{plot(name)}, step %{{x}}: %{{y:.4f}}<extra></extra>",
        )
    ends = probe["curve_interval"]
    if ends and all(ends):
        figure.add_scatter(
            x=[*probe["steps"], *probe["steps"][::-1]],
            y=[*(high for _, high in ends), *(low for low, _ in reversed(ends))],
            fill="toself",
            fillcolor="rgba(0, 114, 178, 0.16)",
            line={"width": 0},
            mode="lines",
            name="95 % interval of the mean",
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=probe["steps"],
        y=probe["curve"],
        mode="lines+markers" if len(probe["steps"]) < 40 else "lines",
        name="mean",
        line={"color": COLOURS[0], "width": 3},
        hovertemplate="step %{x}: %{y:.4f}<extra>mean</extra>",
    )
    figure = finish(figure, 420)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title="generation step", zeroline=False, dtick=1 if len(probe["steps"]) < 12 else None)
    return figure.update_yaxes(title="female  ←  cosine  →  male", zerolinewidth=2, automargin=True)


def _complexity(name: str, rows: Mapping[str, Mapping[str, Any]]) -> go.Figure:
    figure = make_subplots(1, 2, subplot_titles=["magnitude (L2 norm)", "participation ratio"], horizontal_spacing=0.1)
    for place, kind in enumerate(("magnitude", "pr"), 1):
        pair = {f"stereo_{kind}": "stereotypical", f"counter_{kind}": "counter-stereotypical"}
        _bars_into(figure, name, rows, pair, legend=place == 1, row=1, col=place)
        _places(figure, rows, row=1, col=place)
    figure = finish(figure, 430)
    figure.update_layout(barmode="group", showlegend=True, margin={"l": 56, "r": 20, "t": 84, "b": 52})
    figure.update_layout(legend={"y": 1.12})
    return figure.update_annotations(font={"size": 13, "color": GREY})
