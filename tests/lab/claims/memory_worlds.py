"""Worlds of the drop gap: how items of both sets are answered before and after rewriting, with a known truth."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flipcore.stats.memory.gap_decision import CALIBRATED, PAIRED, Sides
from flipcore.stats.memory.rewritten import Rewritten

Draw = Callable[
    [np.random.Generator, int], tuple[np.ndarray, np.ndarray]
]  # n items -> before (n,), after (n,) or (n, rewrites)
World = tuple[Draw, Draw, float]  # benchmark, control, 1/K


def changing(accuracy: float, breaks: float, fixes: float = 0.0) -> Draw:
    """Right with `accuracy`; right -> wrong with `breaks`, wrong -> right with `fixes`."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        before = rng.random(n) < accuracy
        return before * 1.0, (before ^ (rng.random(n) < np.where(before, breaks, fixes))) * 1.0

    return draw


def shifted(mean: float, sd: float, shift: float) -> Draw:
    """Right with logit N(mean, sd); rewriting takes `shift` from every item's logit; before and after are independent answers."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        ability = rng.normal(mean, sd, n)
        right = [rng.random(n) < 1 / (1 + np.exp(-x)) for x in (ability, ability - shift)]
        return right[0] * 1.0, right[1] * 1.0

    return draw


def additive(accuracy: float, loss: float) -> Draw:
    """Independent answers, right with `accuracy` before and `accuracy` - `loss` after."""
    return lambda rng, n: ((rng.random(n) < accuracy) * 1.0, (rng.random(n) < accuracy - loss) * 1.0)


def guessing(p_known: float, lost: float, k: int = 4) -> Draw:
    """Known with `p_known`, of which `lost` is lost by rewriting; what is not known is guessed among `k`."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        knows = rng.random(n) < p_known
        still = knows & (rng.random(n) >= lost)
        return (knows | (rng.random(n) < 1 / k)) * 1.0, (still | (rng.random(n) < 1 / k)) * 1.0

    return draw


def rewrites(lost: float, accuracy: float = 0.85, r: int = 3) -> Draw:
    """`r` rewrites an item, each lost with a probability of the item's own, beta distributed with mean `lost`."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        before = (rng.random(n) < accuracy) * 1.0
        p = rng.beta(0.6, 0.6 / lost - 0.6, n)[:, None]
        return before, before[:, None] * (rng.random((n, r)) >= p)

    return draw


def leaked(share: float, survives: float, accuracy: float) -> Draw:
    """Right with `accuracy`, which rewriting changes in one answer of twenty; a `share` of the items was read and is always right as
    published, and with `survives` in every other wording too. The score is inflated by share * (1 - accuracy)."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        before, after = changing(accuracy, 0.05, 0.05 * accuracy / (1 - accuracy))(rng, n)
        is_read, is_kept = rng.random(n) < share, rng.random(n) < survives
        return np.where(is_read, 1.0, before), np.where(is_read & is_kept, 1.0, after)

    return draw


def wrong_keys(draw: Draw, share: float) -> Draw:
    """A `share` of the items has a wrong key, so that what is right counts as wrong; rewriting gives it a right one."""

    def keyed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        before, after = draw(rng, n)
        is_wrong = rng.random(n) < share
        return np.where(is_wrong, 0.0, before), np.where(is_wrong, (rng.random(n) < 0.95) * 1.0, after)

    return keyed


def _same(draw: Draw, guess: float = 0.0) -> World:
    return draw, draw, guess


WORLDS: dict[str, World] = {
    "nothing changing": _same(changing(0.8, 0.0)),
    "rare events": _same(changing(0.9, 0.01, 0.01)),
    "brittle both": _same(changing(0.8, 0.20, 0.05)),
    "clean with noise": _same(changing(0.8, 0.05, 0.15)),
    "several rewrites": _same(rewrites(0.1)),
    "brittle, .9 v .5": (changing(0.9, 0.25), changing(0.5, 0.25), 0.0),
    "logit shift, easier benchmark": (shifted(2, 1, 1), shifted(0, 1, 1), 0.0),
    "logit shift, harder benchmark": (shifted(0, 1, 1), shifted(2, 1, 1), 0.0),
    "additive loss, .9 v .5": (additive(0.9, 0.1), additive(0.5, 0.1), 0.0),
    "chance floor 1/4": _same(guessing(0.3, 0.25), 0.25),
    "chance floor, .9 v .5": (guessing(0.9, 0.25), guessing(0.5, 0.25), 0.25),
    "one mean, spread 2.5 v .5": (shifted(1, 2.5, 1), shifted(1, 0.5, 1), 0.0),
    "one mean, spread .5 v 2.5": (shifted(1, 0.5, 1), shifted(1, 2.5, 1), 0.0),
    "gap at the margin": (changing(0.8, 0.10 / 0.8), changing(0.8, 0.05 / 0.8), 0.0),
    "margin, rare": (changing(0.9, 0.05 / 0.9), changing(0.9, 0.0), 0.0),
    "margin, rewrites": (rewrites(0.02 + 0.05 / 0.85), rewrites(0.02), 0.0),
    "memory that survives rewriting, 25 pp": (leaked(0.5, 1.0, 0.5), leaked(0.0, 1.0, 0.5), 0.0),
    "memory that survives rewriting, at the margin": (leaked(0.25, 1.0, 0.8), leaked(0.0, 1.0, 0.8), 0.0),
    "memory that rewriting breaks, at the margin": (leaked(0.25, 0.0, 0.8), leaked(0.0, 1.0, 0.8), 0.0),
    "half survives, at the margin": (leaked(0.25, 0.5, 0.8), leaked(0.0, 1.0, 0.8), 0.0),
    "wrong keys in the control, 8 %": (changing(0.8, 0.1, 0.02), wrong_keys(changing(0.8, 0.1, 0.02), 0.08), 0.0),
    "wrong keys hide memory that rewriting breaks": (wrong_keys(leaked(0.4, 0.0, 0.75), 0.08), leaked(0.0, 1.0, 0.75), 0.0),
    "both read, 25 pp": _same(leaked(0.5, 1.0, 0.5)),
    "nothing read": _same(leaked(0.0, 1.0, 0.8)),
    "gap .15": (changing(0.85, 0.19 / 0.85), changing(0.8, 0.05), 0.0),
    "gap .26": (changing(0.9, 0.30 / 0.9), changing(0.8, 0.05), 0.0),
}


@dataclass(frozen=True, eq=False)
class Studies:
    """Several simulated studies of one world: (before, after) of each set, (studies, items) each, `after` with a last axis for
    rewrites where there are several; `guess` is 1/K."""

    benchmark: tuple[np.ndarray, np.ndarray]
    control: tuple[np.ndarray, np.ndarray]
    guess: float = 0.0

    @property
    def drops(self) -> tuple[np.ndarray, np.ndarray]:
        """(studies, items) drop of every item of either set."""
        first, second = (b - (a if a.ndim == 2 else a.mean(axis=2)) for b, a in (self.benchmark, self.control))
        return first, second

    def sides(self, study: int, control: str) -> Sides:
        """One study as the product has it; items are paired in order where the control is declared as paired."""
        both = (self.benchmark, self.control)
        sets = [
            Rewritten.make([f"{name}{i}" for i in range(before.shape[1])], before[study], after[study])
            for name, (before, after) in zip("bc", both, strict=True)
        ]
        n = min(before.shape[1] for before, _ in both)
        pairs = {f"b{i}": f"c{i}" for i in range(n)} if control in (PAIRED, CALIBRATED) else None
        return Sides(sets[0], sets[1], (self.guess, self.guess), pairs=pairs)


def studies(world: World, n: int, m: int, rng: np.random.Generator, size: int = 1) -> Studies:
    """`size` studies of `n` benchmark and `m` control items, drawn together."""
    draw, other, guess = world
    sets = []
    for one, k in ((draw, n), (other, m)):
        before, after = one(rng, k * size)
        sets.append((before.reshape(size, k), after.reshape(size, k, *after.shape[1:])))
    return Studies(sets[0], sets[1], guess)


def templated(n: int, m: int, rng: np.random.Generator, size: int = 4, shared: int = 0) -> Sides:
    """`n` and `m` templates of `size` items; a template breaks with a probability of its own, the same law in both sets. The first item
    of `shared` templates of either set has the wording of one that both know."""
    sets: list[Rewritten] = []
    family: dict[str, str] = {}
    for name, k in (("b", n), ("c", m)):
        p = np.repeat(rng.beta(0.5, 1.5, k), size)
        before = rng.random(k * size) < 0.85
        ids = [f"{name}{i}" for i in range(k * size)]
        family |= {item: f"{name}{i // size}" for i, item in enumerate(ids)}
        family |= {ids[i * size]: f"shared{i}" for i in range(shared)}
        sets.append(Rewritten.make(ids, before, before & (rng.random(k * size) >= p)))
    return Sides(sets[0], sets[1], family=family)


def logistic_pairs(n: int, rng: np.random.Generator, size: int = 1, spreads: tuple[float, float] = (1.5, 1.5)) -> Studies:
    """Pairs whose rewriting takes the same from the logit of both. Of one spread a pair's members are equally hard; of two
    spreads they have one mean difficulty and differ in how far they lie from it."""
    z = rng.standard_normal((size, n))
    sets = []
    for spread in spreads:
        ability = 1 + spread * z
        right = [rng.random(ability.shape) < 1 / (1 + np.exp(-x)) for x in (ability, ability - 1)]
        sets.append((right[0] * 1.0, right[1] * 1.0))
    return Studies(sets[0], sets[1])
