"""How often the Audit page claims a difference of scores where there is none."""

from __future__ import annotations

from functools import partial

import numpy as np

from flipcore.claims.audit import MODELS_DIFFER, READOUTS_DIFFER, difference_claim
from flipcore.claims.claim import Assertion, Claim
from flipcore.stats.audit.paired import paired_scores
from tests.lab.claims.cell import Cell, Simulation, each

LEAST = 1.2  # of a t whose 95 % point is 1.96 or more


def _single(rng: np.random.Generator, assertion: Assertion, n: int, disagree: float) -> Claim:
    """Two columns equally often right that differ on a share of the items."""
    first = (rng.random(n) < 0.6).astype(float)
    apart = rng.random(n) < disagree
    second = np.where(apart, (rng.random(n) < 0.6).astype(float), first)
    return difference_claim(paired_scores(first, second), assertion, "first", "second")


def _templates(assertion: Assertion, n_templates: int, size: int) -> Simulation:
    """Templates favour one or the other at random, all their items together. Logs whose plain t over templates is below `LEAST`
    are drawn and not put into words: every interval in use is far wider."""
    clusters = np.repeat(np.arange(n_templates), size)

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        lean = np.repeat(rng.normal(0, 0.25, (runs, n_templates)), size, axis=1)
        first, second = (rng.random(lean.shape) < np.clip(0.6 + sign * lean, 0, 1) for sign in (1, -1))
        means = (second * 1.0 - first).reshape(runs, n_templates, size).mean(axis=2)
        spread = means.std(axis=1, ddof=1) / n_templates**0.5
        promising = np.flatnonzero(np.abs(means.mean(axis=1)) > LEAST * spread)
        scores = (paired_scores(first[i] * 1.0, second[i] * 1.0, clusters) for i in promising)
        return sum(difference_claim(one, assertion, "first", "second").is_made for one in scores), runs

    return simulate


CELLS = (
    *(
        Cell(assertion, "no difference", f"{n:,}", each(partial(_single, assertion=assertion, n=n, disagree=disagree)))
        for assertion, n, disagree in (
            (READOUTS_DIFFER, 40, 0.2),
            (READOUTS_DIFFER, 300, 0.1),
            (MODELS_DIFFER, 40, 0.6),
            (MODELS_DIFFER, 300, 0.6),
            (MODELS_DIFFER, 1_319, 0.1),
        )
    ),
    *(
        Cell(assertion, "templates", f"{n} x {size}", _templates(assertion, n, size))
        for assertion, n, size in (
            (READOUTS_DIFFER, 12, 8),
            (READOUTS_DIFFER, 30, 5),
            (MODELS_DIFFER, 12, 8),
            (MODELS_DIFFER, 40, 4),
        )
    ),
)
