"""How often the Audit page claims a difference of scores where there is none."""

from __future__ import annotations

from functools import partial

import numpy as np

from flipcore.claims.audit import MODELS_DIFFER, READOUTS_DIFFER, difference_claim
from flipcore.claims.claim import Assertion, Claim
from flipcore.lab.claims.cell import Cell, each
from flipcore.stats.audit.paired import paired_scores


def _single(rng: np.random.Generator, assertion: Assertion, n: int, disagree: float) -> Claim:
    """Two columns equally often right that differ on a share of the items."""
    first = (rng.random(n) < 0.6).astype(float)
    apart = rng.random(n) < disagree
    second = np.where(apart, (rng.random(n) < 0.6).astype(float), first)
    return difference_claim(paired_scores(first, second), assertion, "first", "second")


def _templates(rng: np.random.Generator, assertion: Assertion, n_templates: int, size: int) -> Claim:
    """Templates favour one or the other at random, all their items together."""
    lean = np.repeat(rng.normal(0, 0.25, n_templates), size)
    first = (rng.random(lean.size) < np.clip(0.6 + lean, 0, 1)).astype(float)
    second = (rng.random(lean.size) < np.clip(0.6 - lean, 0, 1)).astype(float)
    difference = paired_scores(first, second, np.repeat(np.arange(n_templates), size))
    return difference_claim(difference, assertion, "first", "second")


CELLS = (
    Cell(
        READOUTS_DIFFER,
        "no difference",
        "40",
        each(partial(_single, assertion=READOUTS_DIFFER, n=40, disagree=0.2)),
        n_runs=2_000,
    ),
    Cell(
        READOUTS_DIFFER,
        "no difference",
        "300",
        each(partial(_single, assertion=READOUTS_DIFFER, n=300, disagree=0.1)),
        n_runs=2_000,
    ),
    Cell(
        READOUTS_DIFFER,
        "templates",
        "30 x 5",
        each(partial(_templates, assertion=READOUTS_DIFFER, n_templates=30, size=5)),
        n_runs=2_000,
    ),
    Cell(
        MODELS_DIFFER, "no difference", "40", each(partial(_single, assertion=MODELS_DIFFER, n=40, disagree=0.6)), n_runs=2_000
    ),
    Cell(
        MODELS_DIFFER,
        "no difference",
        "300",
        each(partial(_single, assertion=MODELS_DIFFER, n=300, disagree=0.6)),
        n_runs=2_000,
    ),
    Cell(
        MODELS_DIFFER,
        "templates",
        "40 x 4",
        each(partial(_templates, assertion=MODELS_DIFFER, n_templates=40, size=4)),
        n_runs=2_000,
    ),
)
