"""Pairs of benchmark and control items that somebody matched and stored."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from flipcore.store.connection import Store
from flipcore.store.rows import now

_LATEST = """
SELECT benchmark_id, arg_max(control_id, created_at) FROM control_pairs GROUP BY benchmark_id ORDER BY benchmark_id
"""


def control_pairs(store: Store) -> dict[str, str]:
    """Benchmark item -> its control, 1:1: the latest pair of each benchmark item, and of a control the first that has it."""
    pairs: dict[str, str] = {}
    controls: set[str] = set()
    for benchmark, control in store.rows(_LATEST):
        if control not in controls:
            pairs[benchmark] = control
            controls.add(control)
    return pairs


def store_pairs(store: Store, pairs: Mapping[str, str], how: Mapping[str, Any], made_by: str) -> Future:
    """Adds pairs; the result comes when they are safe."""
    rows = [
        {"benchmark_id": first, "control_id": second, "how": dict(how), "made_by": made_by, "created_at": now()}
        for first, second in pairs.items()
    ]
    return store.writer.add("control_pairs", rows)
