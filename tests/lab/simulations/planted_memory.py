"""Data with a known truth for the memorization and holdout statistics.

Every number made from it is SIMULATED. The tests use it to check sizes, power and coverage.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# (accuracy, P(right -> wrong), P(wrong -> right)) of benchmark and control.
GAP_SCENARIOS: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "N0 no drop at all": ((0.8, 0, 0), (0.8, 0, 0)),
    "N1 clean + decode noise": ((0.8, 0.05, 0.15), (0.8, 0.05, 0.15)),
    "N2 brittle both": ((0.8, 0.20, 0.05), (0.8, 0.20, 0.05)),
    "N3 brittle, control harder": ((0.9, 0.25, 0), (0.6, 0.25, 0)),
    "N4 brittle, control easier": ((0.6, 0.25, 0), (0.9, 0.25, 0)),
    "gap .05": ((0.85, 0.09 / 0.85, 0), (0.8, 0.05, 0)),
    "gap .10": ((0.85, 0.14 / 0.85, 0), (0.8, 0.05, 0)),
    "gap .15": ((0.85, 0.19 / 0.85, 0), (0.8, 0.05, 0)),
    "gap .26": ((0.9, 0.30 / 0.9, 0), (0.8, 0.05, 0)),
    "gap .10 + brittle .16": ((0.85, 0.26 / 0.85, 0), (0.8, 0.16 / 0.8, 0)),
}


def before_after(
    n: int, accuracy: float, breaks: float, fixes: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Correctness (n,) before and after: right with `accuracy`, right -> wrong with `breaks`, wrong -> right with `fixes`."""
    before = rng.random(n) < accuracy
    changes = rng.random(n) < np.where(before, breaks, fixes)
    return before.astype(float), (before ^ changes).astype(float)


def gap_sets(scenario: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(bo, bp, co, cp) of `n` benchmark and `n` control items under a named scenario."""
    benchmark, control = GAP_SCENARIOS[scenario]
    return *before_after(n, *benchmark, rng), *before_after(n, *control, rng)


def hash_uniform(*names: object) -> float:
    """A number in [0, 1) that is a pure function of `names` (sha256), so that asking again gives the same answer."""
    digest = hashlib.sha256("\x1f".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


@dataclass(frozen=True)
class PlantedModel:
    """A model of source 000's table: right with `ability` on any wording; recalls a share `recall` of published texts;
    loses a share `brittle` of its right answers under any rewriting."""

    ability: float
    recall: float = 0.0
    brittle: float = 0.0
    seed: int = 0

    def is_correct(self, item_id: str, perturbed: bool, published: bool) -> bool:
        """Deterministic in (seed, item, perturbed)."""
        if published and not perturbed and hash_uniform(self.seed, item_id, "recall") < self.recall:
            return True
        right = hash_uniform(self.seed, item_id, "ability") < self.ability
        return right and not (perturbed and hash_uniform(self.seed, item_id, "brittle") < self.brittle)

    def answers(self, item_ids: Sequence[str], published: bool) -> tuple[np.ndarray, np.ndarray]:
        """Correctness (n,) before and after rewriting."""
        before, after = (
            np.array([self.is_correct(item_id, perturbed, published) for item_id in item_ids], dtype=float)
            for perturbed in (False, True)
        )
        return before, after


MODELS = {"memorized": PlantedModel(0.74, recall=1.0), "clean": PlantedModel(0.80), "brittle": PlantedModel(0.80, brittle=0.25)}


def loss_differences(
    rng: np.random.Generator,
    n: int = 5_000,
    m: int = 1_200,
    memorized: float = 0.0,
    shift_sd: float = 0.0,
    mean: float = 0.04,
    sd: float = 0.62,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(D, D0, truth): Gaussian differences in nats; a share `memorized` of the items is shifted by `shift_sd` deviations."""
    d0, d = rng.normal(mean, sd, m), rng.normal(mean, sd, n)
    truth = np.arange(n) < round(memorized * n)
    return d + shift_sd * sd * truth, d0, truth


def pearl_scores(
    rng: np.random.Generator, n: int, means: Sequence[float] | np.ndarray, n_samples: int = 10, sd: float | None = None
) -> np.ndarray:
    """(n, levels, samples) similarities around `means`; noise of `sd`, or of one lognormal(log .1, .5) an item."""
    noise = rng.lognormal(math.log(0.1), 0.5, n) if sd is None else np.full(n, sd)
    shape = (n, len(means), n_samples)
    return np.asarray(means)[None, :, None] + noise[:, None, None] * rng.standard_normal(shape)


def embedding_sets(
    rng: np.random.Generator, n: int = 80, dimensions: int = 32, shift: float = 0.0, spread: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """(T, R) of `n` unit vectors each, around a common mean of length 4; R is shifted by `shift` along another direction
    and its scatter multiplied by `spread`."""
    mean = np.zeros(dimensions)
    mean[0] = 4.0
    aside = np.zeros(dimensions)
    aside[1] = shift
    target = mean + rng.standard_normal((n, dimensions))
    retro = mean + aside + spread * rng.standard_normal((n, dimensions))
    return tuple(rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (target, retro))


def odd_one_out_hits(
    rng: np.random.Generator,
    oddness_sd: float = 0.0,
    accuracy: float = 1 / 3,
    n_annotators: int = 23,
    n_tests: int = 10,
    n_entries: int = 30,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(hits, entry, annotator), one row a test: annotators see `n_tests` of `n_entries` holdout entries, whose oddness moves
    the logit of being found; the expected accuracy stays `accuracy`."""
    oddness = rng.normal(0, oddness_sd, n_entries)
    p = 1 / (1 + np.exp(-(math.log(accuracy / (1 - accuracy)) + oddness)))
    p *= accuracy / _mean_logistic(accuracy, oddness_sd)
    entries = np.concatenate([rng.choice(n_entries, n_tests, replace=False) for _ in range(n_annotators)])
    annotators = np.repeat(np.arange(n_annotators), n_tests)
    return (rng.random(len(entries)) < p[entries]).astype(float), entries, annotators


def _mean_logistic(p: float, sd: float) -> float:
    """E[logistic(logit p + N(0, sd))] by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    values = 1 / (1 + np.exp(-(math.log(p / (1 - p)) + sd * nodes)))
    return float(weights @ values / weights.sum())
