"""Coverage of the intervals in simulation: how often they really hold the truth.

`measured_coverage.json` is written by `python -m tests.lab.simulations.coverage` from planted
worlds of 26 to 500 items. An interval that is short is labelled with its measured coverage; one
that is too short is shown and nothing is claimed of it.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

SIGNED = ("A", "A_minus_G")
TABLE = Path(__file__).with_suffix(".json")


def measured_coverage(
    kind: str, n: int, *, signed: bool = False, rows: Sequence[dict] | None = None
) -> float | None:
    """Return the smallest share of simulated sets whose 95% interval held the truth, over the
    planted worlds of about `n` items: the largest simulated size that is not above `n`, or the
    smallest one. `kind` is one of `intervals.KINDS`; `signed` means a difference (A or A − G), not
    a share. None for a kind that was not simulated. `rows` replace the stored table."""
    kind_rows = [
        row
        for row in rows or _table_rows()
        if row["kind"] == kind and (row["quantity"] in SIGNED) == signed
    ]
    sizes = sorted({row["n"] for row in kind_rows})
    if not sizes:
        return None
    # Coverage improves with n: the next smaller size never promises too much.
    size = max((size for size in sizes if size <= n), default=sizes[0])
    return min(row["covered"] for row in kind_rows if row["n"] == size)


@cache
def _table_rows() -> list[dict]:
    return json.loads(TABLE.read_text(encoding="utf-8"))["rows"]
