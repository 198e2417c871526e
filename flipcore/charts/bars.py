"""Pairs that flip in three parts, a bar for each cell: under the compared extractor alone, under both, under the reference
alone. So the compared extractor's total T ends where "both" ends, and the reference's total G begins where "both" begins."""

from collections.abc import Callable, Sequence

from flipcore.charts.captions import caption
from flipcore.charts.theme import Colours, Figure, as_text, laid_out, new_figure, whiskers

COMPARED_FLOOR = "noise floor, compared (from 0)"
REFERENCE_FLOOR = "noise floor, reference (from the blue)"
FLOORS = "noise floors: the line the compared extractor's, from 0, the diamond the reference's, from where its pairs begin"
ALONE, BOTH, REFERENCE = "compared extractor alone", "both extractors", "reference extractor alone"


def parts(one) -> tuple[float, float, float]:
    """(compared alone, both, reference alone) of a Decomposition; a reference cell is all "both"."""
    if one.is_reference:
        return 0.0, one.T.value, 0.0
    return one.A_plus.value, one.both.value, one.A_minus.value


def decomposition_bars(cells: Sequence, title_of: Callable[[str], str], c: Colours) -> Figure:
    """`cells`: Decompositions of one model; `FLOORS` says what marks the noise floor of each extractor's total, the whisker is T's
    interval."""
    axes = [[as_text(one.axis.replace("_", " ")) for one in cells], [as_text(title_of(one.extractor)) for one in cells]]
    figure = new_figure()
    for i, (name, marker) in enumerate(markers(c).items()):
        figure.add_bar(
            x=axes,
            y=[parts(one)[i] for one in cells],
            name=name,
            marker=marker,
            error_y=whiskers([one.T for one in cells], c.text, 1.5, 5) if name == BOTH else None,
            customdata=[as_text(_text(one, i)) for one in cells],
            hovertemplate=f"{name} %{{customdata}}<extra></extra>",
        )
    own_floors = [(one.W.value, one.W.text()) for one in cells]
    for name, floors in ((COMPARED_FLOOR, own_floors), (REFERENCE_FLOOR, _reference_floors(cells))):
        figure.add_scatter(
            x=axes,
            y=[at for at, _ in floors],
            mode="markers",
            name=name,
            marker=floor_marker(c, "ew", 26, 4) if name == COMPARED_FLOOR else floor_marker(c),
            customdata=[text for _, text in floors],
            hovertemplate=f"{name} %{{customdata}}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.3)
    words = f"Pairs of variants that flip, in three parts; {FLOORS}; whiskers the interval of T."
    laid_out(figure, c, height=420, says=caption(words, [one.T for one in cells]), y_title="share of variant pairs that flip")
    figure.update_yaxes(rangemode="tozero")
    return figure


def floor_marker(c: Colours, line: str = "", size: int = 11, width: int = 2) -> dict:
    """The mark of a noise floor: a line of this direction, or a diamond, which begins where the reference's pairs begin."""
    return {
        "symbol": f"line-{line}" if line else "diamond-open",
        "size": size,
        "color": c.floor,
        "line": {"color": c.floor, "width": width},
    }


def markers(c: Colours) -> dict[str, dict]:
    """How each of the three parts is painted."""
    return {
        ALONE: {"color": c.artifact},
        BOTH: {"color": c.genuine},
        REFERENCE: {"color": c.genuine, "opacity": 0.55, "pattern": {"shape": "/", "fgcolor": c.text}},
    }


def _text(one, i: int) -> str:
    return one.T.text() if one.is_reference and i == 1 else (one.A_plus, one.both, one.A_minus)[i].text()


def _reference_floors(cells: Sequence) -> list[tuple[float, str]]:
    """The reference's total begins above the part that flips under the compared extractor alone, and so does its floor."""
    return [(float("nan") if one.is_reference else parts(one)[0] + one.W_ref.value, one.W_ref.text()) for one in cells]
