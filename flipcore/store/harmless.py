"""The rule for which variants may be compared for flips: those of harmless changes.

Statistics, pages, command line and exports share it. A study stores `params.harmless` = false with
each variant of an axis that is not harmless. So the rule works in any database, even where the
axis's package is not installed. For older variants without it, the installed axes decide.
"""

import json
from collections.abc import Mapping
from typing import Any

from flipcore.axes import AXES
from flipcore.core.records import BASE, CONTINUATION, ROTATION_READOUTS
from flipcore.extractors import VALUES

# SQL for study_variants v; parameters $base and $changing.
HARMLESS = (
    "(v.key = $base OR (coalesce(v.params->>'$.harmless', 'true') <> 'false' AND v.axis NOT IN"
    " (SELECT unnest($changing))))"
)
# SQL for study_variants v, variants w and items q: harmless, with the item's own right answer, and
# with a question to answer.
COMPARABLE = (
    f"(w.target IS NOT DISTINCT FROM q.target AND w.layout <> $continuation AND {HARMLESS})"
)
# SQL for readouts r: an answer or its absence; no loss or similarity, and no verdict without an
# answer.
IS_ANSWER = (
    "(NOT (r.status = 'ok' AND r.answer IS NULL) AND r.extractor NOT IN (SELECT unnest($values)))"
)


def comparable_params() -> dict[str, Any]:
    """Return the parameters of COMPARABLE, which include those of HARMLESS."""
    changing = sorted(name for name, axis in AXES.items() if not axis.harmless) or [""]
    return {"continuation": CONTINUATION, "base": BASE, "changing": changing}


def answer_params() -> dict[str, Any]:
    """Return the parameters of IS_ANSWER."""
    return {"values": sorted([*VALUES, *ROTATION_READOUTS])}


def is_harmless(axis: str, key: str, params: str | Mapping[str, Any]) -> bool:
    """Return whether a stored variant is harmless; `params` may be JSON."""
    stored_params = json.loads(params) if isinstance(params, str) else params
    return key == BASE or (
        stored_params.get("harmless", True) is not False
        and (axis not in AXES or AXES[axis].harmless)
    )
