"""Colours, numbers and layout that all plotly figures share."""

from __future__ import annotations

import html

import plotly.graph_objects as go

from fairspace.submissions.errors import plain

INK, GREY = "#1c2127", "#5f6770"
FAINT = "rgba(128, 134, 142, 0.55)"
GRID = "rgba(128, 134, 142, 0.28)"
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#C24E00", "#00795A", "#9A4C80"
"""After Okabe and Ito, told apart with every kind of colour vision; 4.5 or more against a white ground."""
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)


def _legend() -> dict[str, object]:
    return {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "xanchor": "left"}


def finish(figure: go.Figure, height: int) -> go.Figure:
    """The look that all figures share."""
    figure.update_layout(
        template=go.layout.Template(),
        height=height,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 13, "color": GREY},
        hoverlabel={"font": {"family": "system-ui, sans-serif", "size": 13}},
        margin={"l": 56, "r": 20, "t": 44, "b": 52},
        legend=_legend(),
    )
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=FAINT, linecolor=GRID, title_standoff=10)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=FAINT, linecolor=GRID, title_standoff=8)
    return figure


def plot(text: str) -> str:
    """Submitted text for plotly, which reads a few HTML tags in names, labels and hover texts."""
    return html.escape(plain(text))


def number(value: float | None, digits: int, signed: bool = False) -> str:
    """A number with a true minus sign, '–' for None; never '-0.00'."""
    if value is None:
        return "–"
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "\N{MINUS SIGN}")
