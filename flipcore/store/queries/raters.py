"""Names of the people who rated one output; a readout numbers them as samples."""

import json
from collections.abc import Sequence

import pandas as pd

from flipcore.store.connection import Store
from flipcore.store.visible import OPEN

_RATED = f"""
SELECT DISTINCT l.model, l.item_id, l.axis, l.variant_id, l.sample, c.raw_reply
FROM readout_sources l JOIN study_items i USING (study_id, item_id) JOIN completions c
    USING (call_id)
WHERE l.study_id = $study_id AND {OPEN} ORDER BY ALL
"""


def rater_name(raw_reply: str, columns: Sequence[str], sample: int) -> str:
    """Return who gave a rating: the file's name for them, or "Rater 2" by their place in it.

    `columns` are the file's columns of raters (`Study.rater_columns`).
    """
    cells = json.loads(raw_reply) if raw_reply.startswith("{") else {}
    for column in columns:
        name = cells.get(column)
        if isinstance(name, float) and name.is_integer():
            name = int(name)
        text = "" if name is None else str(name).strip()
        if text:
            return f"Rater {text}" if text.isdecimal() else text
    # Imports of earlier versions kept no names.
    return f"Rater {sample + 1}"


def raters(store: Store, study_id: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return model, item_id, axis, variant_id, sample and rater, one row per output and person."""
    frame = store.frame(_RATED, study_id=study_id)
    names = []
    for raw_reply, sample in zip(frame["raw_reply"], frame["sample"], strict=True):
        names.append(rater_name(raw_reply or "", columns, int(sample)))
    return frame.drop(columns="raw_reply").assign(rater=names)
