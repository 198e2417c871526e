"""Where to look first: of a study's readouts the item whose two outputs show best what its headline says."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from flipcore.core.records import IDENTITY, WRITTEN_ANSWER
from flipcore.stats.flips import surface
from flipcore.stats.flips.decomposition import default_reference
from flipcore.stats.memory import frames

ANSWER, REWRITING = WRITTEN_ANSWER, "numeric_resample"


def flip_to_open(frame: pd.DataFrame, field: str, scorers: Sequence[str] = ()) -> dict[str, str] | None:
    """{item, axis, readout} of the item of the first model that flips most under the compared extractor `field` and least under
    the reference; None before there is one. `frame`: readouts."""
    if frame.empty:
        return None
    frame = frame[frame["model"] == frame["model"].iloc[0]]
    names = list(frame["extractor"].unique())
    if field not in names:
        return None
    reference = default_reference(names, scorers)
    first, second = surface.aligned(surface.surface(frame, field), surface.surface(frame, reference))
    if set(first.columns) <= {IDENTITY}:
        return None
    row = surface.order_of(first, second, "difference", first.items)[0]
    return {"item": first.items[row], "axis": surface.most_flipping(first, row), "readout": field}


def break_to_open(frame: pd.DataFrame) -> dict[str, str] | None:
    """{item, axis, readout} of a judged item that is answered right as published and wrong with other numbers; None without."""
    frame = frame[(frame["extractor"] == ANSWER) & (frame["model"] == frame["model"].iloc[0])] if len(frame) else frame
    if frame.empty or REWRITING not in set(frame["axis"].unique()):
        return None
    rows = frames.drop_rows(frames.rewritten(frame, REWRITING, ANSWER, frames.roles_of(frame)[0]))
    breaks = rows[(rows["before"] == 1) & np.isfinite(rows["drop"]) & (rows["drop"] > 0)]
    return {"item": breaks["item_id"].iloc[0], "axis": REWRITING, "readout": ANSWER} if len(breaks) else None
