"""What an interval really holds: its coverage in simulation.

`measured_coverage.json` is written by `python -m tests.lab.simulations.coverage` from planted worlds of 26 to 500 items. An
interval that is short is labelled with its measured coverage; one that is too short is shown and nothing is claimed of it.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

SIGNED = ("A", "A_minus_G")
TABLE = Path(__file__).with_suffix(".json")


def measured_coverage(kind: str, n: int, *, signed: bool = False, rows: Sequence[dict] | None = None) -> float | None:
    """The smallest share of simulated sets whose 95% interval held the truth, over the planted worlds of about `n` items: the
    largest simulated size that is not above `n`, or the smallest one. `kind` is what was asked for (`intervals.KINDS`);
    `signed`: a difference, A or A − G, not a share. None for a kind that was not simulated. `rows` instead of the stored table."""
    of_kind = [r for r in rows or _table_rows() if r["kind"] == kind and (r["quantity"] in SIGNED) == signed]
    sizes = sorted({row["n"] for row in of_kind})
    if not sizes:
        return None
    size = max((one for one in sizes if one <= n), default=sizes[0])
    return min(row["covered"] for row in of_kind if row["n"] == size)


@cache
def _table_rows() -> list[dict]:
    return json.loads(TABLE.read_text(encoding="utf-8"))["rows"]
