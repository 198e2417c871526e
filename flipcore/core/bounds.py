"""Bounds of a study's numbers, texts and tables, because a study may come from anybody."""

import math
from collections.abc import Mapping
from typing import Any

from flipcore.core.errors import BadInput

MAX_CHARS = 1_000_000  # of a study file
MAX_TEXT = 20_000  # characters of one text in it
MAX_NAME = 1_000
MAX_ENTRIES = 2_000  # of one list or table
MAX_DEPTH = 6
MAX_VARIANTS = 2_000_000  # of all items, times the number of models
MAX_BUDGET_USD = 1_000_000.0

# key -> (least, most)
STUDY = {
    "n": (0, 10_000_000),
    "seed": (0, 2**31 - 1),
    "n_samples": (1, 1_000),
    "n_examples": (0, 20),
    "max_tokens": (1, 1_000_000),
    "reasoning_budget": (0, 1_000_000),
    "temperature": (0.0, 5.0),
    "top_p": (0.0, 1.0),
    "budget_usd": (0.0, MAX_BUDGET_USD),
    "confirmatory_share": (0.0, 0.95),
}
PARAMETERS = {
    "n": (1, 1_000),
    "n_samples": (1, 1_000),
    "max_tokens": (1, 100_000),
    "top_k": (1, 1_000),
    "least": (1, 10_000),
    "lead": (1, 10_000),
    "cap": (1, 10_000),
    "temperature": (0.0, 5.0),
    "pct": (0.0, 100.0),
    "levels_pct": (0.0, 100.0),
    "least_mass": (0.0, 1.0),
}
_ANY_NUMBER = (-1e12, 1e12)


def check_number(
    where: str, key: str, value: float, bounds: Mapping[str, tuple[float, float]] = STUDY
) -> None:
    """Raise BadInput for a number that is not finite, or beyond the bounds of its key."""
    low, high = bounds.get(key, _ANY_NUMBER)
    if isinstance(value, float) and not math.isfinite(value):
        raise BadInput(
            f"{where} has {key} = {value}; it must be at least {low:,} and at most {high:,}, and a "
            "finite number."
        )
    if not low <= value <= high:
        limit = f"at least {low:,}" if value < low else f"at most {high:,}"
        text = str(value) if abs(value) < 1e15 else f"{float(min(value, 10**300)):.3g}"
        raise BadInput(f"{where} has {key} = {text}; it must be {limit}.")


def check_text(where: str, key: str, text: str) -> None:
    """Raise BadInput for a text that is too long."""
    limit = MAX_NAME if key == "name" else MAX_TEXT
    if len(text) > limit:
        raise BadInput(
            f"{where} has {len(text):,} characters in {key}; at most {limit:,} are read."
        )


def check_nested(
    where: str, key: str, value: Any, bounds: Mapping[str, tuple[float, float]], depth: int = 1
) -> None:
    """Raise BadInput for anything in a table that is too deep, too long, too large or of an unknown
    type."""
    if depth > MAX_DEPTH:
        raise BadInput(f"{where} has {key} nested more than {MAX_DEPTH} deep. Write it flatter.")
    if isinstance(value, Mapping):
        _check_length(where, key, n=len(value))
        for inner_key, inner_value in value.items():
            check_text(where, key, text=str(inner_key))
            check_nested(where, str(inner_key), value=inner_value, bounds=bounds, depth=depth + 1)
    elif isinstance(value, (list, tuple)):
        _check_length(where, key, n=len(value))
        for entry in value:
            check_nested(where, key, value=entry, bounds=bounds, depth=depth + 1)
    elif isinstance(value, str):
        check_text(where, key, text=value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        check_number(where, key, value=value, bounds=bounds)
    elif value is not None and not isinstance(value, bool):
        raise BadInput(
            f"{where} has a {type(value).__name__} in {key}; it may hold texts, numbers, true, "
            "false and lists."
        )


def _check_length(where: str, key: str, n: int) -> None:
    if n > MAX_ENTRIES:
        raise BadInput(f"{where} has {n:,} entries in {key}; at most {MAX_ENTRIES:,} are read.")
