"""Which variants may be compared for flips: those of harmless changes. One rule for statistics, pages, command line and exports.

A study says it of each variant where its axis is not harmless (`params.harmless`), so that it holds wherever the file goes,
also where the package of the axis is not installed. Files from before that are judged by the axes that are known here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from flipcore.axes import AXES
from flipcore.core.records import BASE

# of study_variants v; parameters $base and $changing
HARMLESS = (
    "(v.key = $base OR (coalesce(v.params->>'$.harmless', 'true') <> 'false' AND v.axis NOT IN (SELECT unnest($changing))))"
)


def harmless_params() -> dict[str, Any]:
    """What HARMLESS is asked with."""
    return {"base": BASE, "changing": sorted(name for name, axis in AXES.items() if not axis.harmless) or [""]}


def is_harmless(axis: str, key: str, params: str | Mapping[str, Any]) -> bool:
    """The same of one stored variant; `params` as they are stored, JSON."""
    table = json.loads(params) if isinstance(params, str) else params
    return key == BASE or (table.get("harmless", True) is not False and (axis not in AXES or AXES[axis].harmless))
