"""Counts that the sources published, kept as counts, so that what the product says of them is computed, not copied."""

from __future__ import annotations

from flipcore.stats.intervals import wilson
from flipcore.stats.loss_test import SEED_LEVEL, excess_fraction

LOSS_FLAGS = {"MATH": (460, 5_000), "TriviaQA": (706, 4_800), "GSM8K": (41, 1_319), "ARC-Challenge": (178, 5_281)}


def loss_rows() -> list[dict[str, float | int | str]]:
    """Source 001's table (flagged at p < .01, uncorrected) with what chance explains of it, shares in percent."""
    rows = []
    for name, (k, n) in LOSS_FLAGS.items():
        found, (low, high) = excess_fraction(k, n, SEED_LEVEL), wilson(k, n)
        rows.append({"benchmark": name, "items": n, "flagged": k, "share, %": 100 * k / n,
                     "share, 95 %": f"{100 * low:.1f} to {100 * high:.1f}", "by chance": found["exp_false"],
                     "of the flags, chance %": 100 * found["exp_false"] / k, "beyond chance, %": 100 * found["point"],
                     "at least, %": 100 * found["lower95"]})
    return rows
