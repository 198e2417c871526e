"""The rule on which variants may be compared for flips: those of harmless changes. One rule for
statistics, pages, command line and exports.

A study says it of each variant where its axis is not harmless (`params.harmless`), so that it holds
wherever the file goes, also where the package of the axis is not installed. Files from before that
are judged by the axes that are known here.
"""

import json
from collections.abc import Mapping
from typing import Any

from flipcore.axes import AXES
from flipcore.core.records import BASE, CONTINUATION, ROTATION_READOUTS
from flipcore.extractors import VALUES

# of study_variants v; parameters $base and $changing
HARMLESS = (
    "(v.key = $base OR (coalesce(v.params->>'$.harmless', 'true') <> 'false' AND v.axis NOT IN"
    " (SELECT unnest($changing))))"
)
# the same of variants w of items q whose answers may be compared: a target as the item's own, and a
# text to answer
COMPARABLE = (
    f"(w.target IS NOT DISTINCT FROM q.target AND w.layout <> $continuation AND {HARMLESS})"
)
# of readouts r: an answer, or that there is none; no loss, similarity or recorded right without an
# answer
IS_ANSWER = (
    "(NOT (r.status = 'ok' AND r.answer IS NULL) AND r.extractor NOT IN (SELECT unnest($values)))"
)


def comparable_params() -> dict[str, Any]:
    """Return the parameters of COMPARABLE, and so of HARMLESS in it."""
    changing = sorted(name for name, axis in AXES.items() if not axis.harmless) or [""]
    return {"continuation": CONTINUATION, "base": BASE, "changing": changing}


def answer_params() -> dict[str, Any]:
    """Return the parameters of IS_ANSWER."""
    return {"values": sorted([*VALUES, *ROTATION_READOUTS])}


def is_harmless(axis: str, key: str, params: str | Mapping[str, Any]) -> bool:
    """The same of one stored variant; `params` as they are stored, JSON."""
    table = json.loads(params) if isinstance(params, str) else params
    return key == BASE or (
        table.get("harmless", True) is not False and (axis not in AXES or AXES[axis].harmless)
    )
