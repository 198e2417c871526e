"""Inputs that many pinned results share."""

from itertools import product

import numpy as np
import pandas as pd

from flipcore.core.randomness import generator
from flipcore.core.records import ABSENT, BASE, CUT, FIRST_TOKEN, IDENTITY, OK, UNREADABLE, WRITTEN_ANSWER

NAN = float("nan")


def shares(n: int, seed: int = 0, rate: float = 0.6) -> np.ndarray:
    """Return (n,) values 0 and 1."""
    return (generator(seed, "shares", n).random(n) < rate).astype(float)


def fractions(n: int, seed: int = 0) -> np.ndarray:
    """Return (n,) values 0, 1/4, …, 1."""
    return generator(seed, "fractions", n).integers(0, 5, n) / 4


def changes(n: int, seed: int = 0, lost: float = 0.1, won: float = 0.3) -> np.ndarray:
    """Return (n,) values −1, 0 and 1."""
    draws = generator(seed, "changes", n).random(n)
    return np.where(draws < lost, -1.0, np.where(draws > 1 - won, 1.0, 0.0))


def families(n: int, n_families: int, seed: int = 0) -> np.ndarray:
    """Return (n,) numbers of families of unequal size, in no order."""
    numbers = np.minimum(generator(seed, "families", n).geometric(min(1.5 / n_families, 1.0), n) - 1, n_families - 1)
    numbers[:n_families] = np.arange(min(n, n_families))[::-1]
    return numbers


def with_holes(values: np.ndarray, *rows: int) -> np.ndarray:
    """Return the values with NaN in these rows."""
    holed = np.array(values, dtype=float)
    holed[list(rows)] = NAN
    return holed


SHARES = {
    "no item": np.zeros(0),
    "one item": np.ones(1),
    "9 items": shares(9),
    "10 items": shares(10),
    "11 fractions": fractions(11),
    "29 items": shares(29),
    "30 items": shares(30),
    "31 fractions": fractions(31),
    "holes": with_holes(shares(24), 0, 7, 23),
    "all right": np.ones(15),
    "all wrong": np.zeros(35),
    "all half": np.full(12, 0.5),
    "rare": np.repeat([1.0, 0.0], [2, 38]),
    "frequent": np.repeat([0.0, 1.0], [3, 37]),
    "a tenth": np.repeat([1.0, 0.0], [3, 27]),
    "almost all": np.repeat([0.0, 1.0], [1, 11]),
}


LETTERS = np.array(list("ABCD"))
VARIANTS = (BASE, "v1", "v2", "v3")


def readouts(
    n: int = 12,
    seed: int = 0,
    *,
    models: tuple[str, ...] = ("m1",),
    axes: tuple[str, ...] = ("paraphrase", "option_order"),
    extractors: tuple[str, ...] = (WRITTEN_ANSWER, FIRST_TOKEN),
    n_variants: int = 3,
    n_samples: int = 1,
    n_reruns: int = 0,
    lost: float = 0.1,
    flips: float = 0.25,
    n_families: int = 0,
) -> pd.DataFrame:
    """Return readouts of a made-up study; items, models and variants are not in the order of their names.

    The second extractor misreads some of the outputs, and a share `lost` is unread, cut off or absent.
    `n_reruns` samples of the base prompt make the axis of the noise floor.
    """
    rng = generator(seed, "readouts", n)
    group = families(n, n_families or n)
    samples_of_axis = dict.fromkeys(axes, (VARIANTS[:n_variants], n_samples))
    if n_reruns:
        samples_of_axis[IDENTITY] = (VARIANTS[:1], n_reruns)
    rows = []
    for model, item, (axis, (variants, n_asked)) in product(models, reversed(range(n)), samples_of_axis.items()):
        for (position, variant), sample in product(enumerate(variants), range(n_asked)):
            answer = LETTERS[item % 4] if rng.random() > flips else rng.choice(LETTERS)
            for number, extractor in enumerate(extractors):
                read = rng.choice(LETTERS) if number and rng.random() < 0.15 else answer
                status = str(rng.choice((UNREADABLE, CUT, ABSENT))) if rng.random() < lost else OK
                rows.append(
                    {
                        "model": model,
                        "item_id": f"t/i{item}",
                        "axis": axis,
                        "variant": variant,
                        "variant_id": f"i{item}-{variant}" if variant == BASE else f"i{item}-{axis}-{variant}",
                        "position": position,
                        "sample": sample,
                        "extractor": extractor,
                        "status": status,
                        "answer": str(read) if status == OK else None,
                        "is_correct": None if status == ABSENT else bool(status == OK and read == LETTERS[item % 4]),
                        "family": f"f{group[item]}",
                        "label_mass": round(float(rng.random() ** 6), 3) if number else NAN,
                    }
                )
    return pd.DataFrame(rows)
