"""The look of plotly figures, which notebooks and probes show; kept apart, because loading plotly takes a while."""

from __future__ import annotations

import plotly.graph_objects as go

from fairspace.submissions.errors import web
from fairspace.submissions.plotting import FAINT, GREY, GRID


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
    return web(text)
