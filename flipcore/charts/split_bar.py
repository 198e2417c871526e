"""A study's flip rate as one thin bar: genuine, artifact."""

from __future__ import annotations

from flipcore.charts.theme import Colours, laid_out


def split_bar(total: float, genuine: float, c: Colours):
    """G and A stacked to T on a scale from 0 to 1; a negative A is drawn as an outline."""
    import plotly.graph_objects as go

    figure = go.Figure()
    artifact = total - genuine
    solid = artifact >= 0
    figure.add_bar(
        x=[min(genuine, total)],
        y=[""],
        orientation="h",
        name="genuine",
        marker_color=c.genuine,
        hovertemplate=f"genuine {genuine:.2f}<extra></extra>",
    )
    figure.add_bar(
        x=[abs(artifact)],
        y=[""],
        orientation="h",
        name="artifact" if solid else "artifact (negative)",
        marker=dict(color=c.artifact if solid else "rgba(0,0,0,0)", line=dict(color=c.artifact, width=2)),
        hovertemplate=f"artifact {artifact:.2f}<extra></extra>",
    )
    figure.update_layout(barmode="stack", bargap=0.35)
    laid_out(figure, c, height=92)
    figure.update_xaxes(range=[0, 1], tickvals=[0, 0.25, 0.5, 0.75, 1])
    return figure
