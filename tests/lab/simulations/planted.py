"""Populations whose truth is known, to see what the estimators say of them.

``python -m tests.lab.simulations.coverage`` prints the simulated coverage and size of every interval and rule as Markdown.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

SHAPE = 0.6  # of every Beta: most items never deviate, some always do


@dataclass(frozen=True)
class PlantedTruth:
    """What the flip rates are in the population."""

    T: float
    G: float

    @property
    def A(self) -> float:  # noqa: N802 - the quantity's name everywhere
        return self.T - self.G

    @property
    def values(self) -> tuple[float, float, float, float]:
        """T, G, A, A - G."""
        return self.T, self.G, self.A, self.A - self.G


def flip_rate_of(deviation: float) -> float:
    """Flip rate 2 E[p (1 - p)] of items whose answers deviate with p ~ Beta(.6, .6/deviation - .6)."""
    return 2 * deviation * (1 - deviation) * SHAPE / (SHAPE + deviation)


def deviation_of(rate: float) -> float:
    """The mean deviation with that flip rate, by bisection. Raises ValueError above what two answers can reach."""
    low, high = 0.0, (SHAPE + SHAPE**2) ** 0.5 - SHAPE  # where flip_rate_of stops rising
    if not 0 <= rate <= flip_rate_of(high):
        raise ValueError(f"A flip rate of {rate} is out of reach of this population; ask for {flip_rate_of(high):.3f} or less.")
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if flip_rate_of(middle) < rate else (low, middle)
    return (low + high) / 2


def deviations(n: int, v: int, rate: float, rng: np.random.Generator) -> np.ndarray:
    """(n, v) of 0/1: does the answer deviate? Any two differ with probability `rate` on average over items."""
    mean = deviation_of(rate)
    if mean == 0:
        return np.zeros((n, v), dtype=int)
    p = rng.beta(SHAPE, SHAPE / mean - SHAPE, size=(n, 1))
    return (rng.random((n, v)) < p).astype(int)


def planted_pair(n: int, truth: PlantedTruth, rng: np.random.Generator, v: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """(n, v) answers 0/1 of the readout and of the reference. The readout adds its own deviations by XOR, so
    T = G + q - 2 G q for artifact deviations with flip rate q = A/(1 - 2 G)."""
    reference = deviations(n, v, truth.G, rng)
    own = deviations(n, v, truth.A / (1 - 2 * truth.G), rng)
    return reference ^ own, reference


def pair_rates(answers: np.ndarray) -> np.ndarray:
    """(n,) T_i of (n, v) answers 0/1: with k ones of v, k (v - k) of v (v - 1)/2 pairs differ."""
    v, ones = answers.shape[1], answers.sum(axis=1)
    return ones * (v - ones) / (v * (v - 1) / 2)


def planted_columns(n: int, truth: PlantedTruth, rng: np.random.Generator, v: int = 4) -> np.ndarray:
    """(n, 4) item values of T, G, A, A - G."""
    t, g = (pair_rates(answers) for answers in planted_pair(n, truth, rng, v))
    return np.column_stack([t, g, t - g, t - 2 * g])


def planted_samples(n: int, rng: np.random.Generator, *, floor: float, effect: float, v: int = 4, s: int = 2) -> np.ndarray:
    """(n, v, s) answers 0/1. Variants deviate with flip rate `effect`, each sample of them again with flip rate `floor`: in
    the population W = floor, B = floor + effect - 2 floor effect, excess = effect (1 - 2 floor)."""
    variant = deviations(n, v, effect, rng)[:, :, None]
    return variant ^ deviations(n, v * s, floor, rng).reshape(n, v, s)


def planted_readouts(
    n: int,
    truth: PlantedTruth,
    rng: np.random.Generator,
    v: int = 4,
    axis: str = "option_order",
    names: tuple[str, str] = ("first_token", "stated"),
) -> pd.DataFrame:
    """The same population as rows of the one table: readout names[0] against the reference names[1]."""
    pair = planted_pair(n, truth, rng, v)
    item, variant = (part.ravel() for part in np.indices((n, v)))
    columns = {
        "item_id": [f"planted/{i}" for i in item],
        "axis": axis,
        "variant": [f"rotate-{j}" if j else "base" for j in variant],
        "sample": 0,
        "status": "ok",
    }
    return pd.concat(
        [
            pd.DataFrame(columns | {"extractor": name, "answer": answers.ravel().astype(str)})
            for name, answers in zip(names, pair, strict=True)
        ],
        ignore_index=True,
    )
