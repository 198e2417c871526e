"""Cells of the claims about gates and locks: see `tests.lab.claims.cell` for how to add one."""

import datetime as dt
from collections.abc import Callable
from functools import cache

import numpy as np

from flipcore.claims.gates import JUDGE_PASSES, PARAPHRASES_HOLD, PARAPHRASES_PASS, judge_claim, looks_claim, paraphrases_claim
from flipcore.claims.locks import LOCKED, locked_claim
from flipcore.core.locks import STATE, lock_id
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.gate_rules import MIN_LABELS, MIN_PAIRS, judge_gate, paraphrase_gate, position_bias
from flipcore.stats.base.intervals import wilson
from tests.lab.claims.cell import Cell, Simulation, each

KAPPA = 0.60
FEWER = 2_000  # a lock hashes up to 200 items, and kappa counts its labels one by one


@cache
def _opens(n_accepted: int, n: int) -> bool:
    return paraphrases_claim(paraphrase_gate(n_accepted, n)).is_made


def _accepted(rate: float, n: int, spread: float = 0.0) -> Simulation:
    """`n` reviewed pairs accepted with `rate`; with `spread` > 0 each pair has a chance of its own (beta)."""

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        chances = rng.beta(rate / spread, (1 - rate) / spread, size=(runs, n)) if spread else np.full((runs, 1), rate)
        counts = (rng.random((runs, n)) < chances).sum(axis=1)
        return sum(_opens(int(k), n) for k in counts), runs

    return simulate


@cache
def _holds(n_accepted: int, n: int) -> bool:
    return looks_claim(paraphrase_gate(n_accepted, n)).is_made


def _looked_at(says: Callable[[int, int], bool], rate: float, most: int) -> Simulation:
    """Pairs reviewed one by one, with a look after each: does the gate say so at any of them?"""

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        counts = (rng.random((runs, most)) < rate).cumsum(axis=1)
        return sum(any(says(int(k), n) for n, k in enumerate(row, 1)) for row in counts), runs

    return simulate


_UNBIASED = position_bias([0, 1] * 60, [0, 1] * 60)
_LOW, _HIGH = wilson(0, 60)
_STEADY = Estimate(0.0, _LOW, _HIGH, 0.95, "wilson", 60, None)


def _labels(shares: tuple[float, ...], kappa: float, n: int) -> Simulation:
    """People and judge with the same `shares` of answers and this kappa; the other two tests of the judge are passed, so that
    kappa alone decides."""
    p = np.array(shares)
    table = np.outer(p, p) * (1 - kappa) + np.diag(kappa * p)

    def one(rng: np.random.Generator):
        cells = rng.choice(table.size, size=n, p=table.ravel() / table.sum())
        human, judge = np.divmod(cells, len(p))
        return judge_claim(judge_gate(human.tolist(), judge.tolist(), _UNBIASED, _STEADY))

    return each(one)


def _lock(kind: str) -> Simulation:
    """A lock of a random number of items, false in one way; sealed as it was stored unless its settings were changed."""

    def one(rng: np.random.Generator):
        n = int(rng.integers(1, 200))
        some = int(rng.integers(1, n + 1))
        shows = [
            ["a study without answers", n, 0]
        ]  # that show the questions and no answer: said beside it, and no reason against it
        state = {
            "items": [[f"item {i}", ""] for i in range(n)],
            "verdicts": {},
            "readouts": [4 * n, "1"],
            "seen": shows,
            "n_older": 0,
        }
        if kind == "answers shown in another study, under whatever id":
            shows.append(["another study", n, some])
        elif kind == "answers older than the study":
            state["n_older"] = some
        elif kind == "no readouts stored":
            del state["readouts"]
        settings = {"page": "decomposition", "level": float(rng.random()), STATE: state}
        if kind == "no state stored":
            del settings[STATE]
        start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
        lock = {"lock_id": lock_id(settings), "settings": settings, "created_at": start + dt.timedelta(days=1)}
        if kind == "settings changed after the lock":
            settings["level"] = float(rng.random())
        earlier = {"lock_id": "a", "settings": {"page": "memorization"}, "created_at": start}
        return locked_claim(lock, [earlier, lock] if kind == "opened by an earlier lock" else [lock], int(rng.integers(0, 50)))

    return each(one)


EVEN, ONE_PREVAILS, FOUR = (0.5, 0.5), (0.9, 0.1), (0.4, 0.3, 0.2, 0.1)
CELLS: tuple[Cell, ...] = (
    *(
        Cell(PARAPHRASES_PASS, "acceptance exactly 0.80", f"{n:,}", _accepted(0.80, n))
        for n in (MIN_PAIRS, 54, 93, 128, 500, 5_000)
    ),
    *(Cell(PARAPHRASES_PASS, "acceptance 0.80, differing by item", f"{n:,}", _accepted(0.80, n, 0.3)) for n in (50, 500)),
    Cell(PARAPHRASES_PASS, "nothing accepted beyond a coin", "50", _accepted(0.50, 50)),
    *(Cell(PARAPHRASES_PASS, "acceptance 0.90", f"{n:,}", _accepted(0.90, n), truth="planted") for n in (50, 128, 500)),
    Cell(PARAPHRASES_HOLD, "acceptance exactly 0.80, looked at after every pair", "up to 500", _looked_at(_holds, 0.80, 500)),
    *(
        Cell(
            PARAPHRASES_HOLD,
            "acceptance 0.90, looked at after every pair",
            f"up to {n}",
            _looked_at(_holds, 0.90, n),
            "planted",
        )
        for n in (128, 500)
    ),
    Cell(PARAPHRASES_PASS, "reviewed until it opens", "up to 500", _looked_at(_opens, 0.80, 500), "outside"),
    *(
        Cell(JUDGE_PASSES, "kappa exactly 0.60, answers even", f"{n:,}", _labels(EVEN, KAPPA, n), n_runs=FEWER)
        for n in (MIN_LABELS, 400)
    ),
    *(
        Cell(
            JUDGE_PASSES,
            "kappa exactly 0.60, one answer in nine of ten",
            f"{n:,}",
            _labels(ONE_PREVAILS, KAPPA, n),
            n_runs=FEWER,
        )
        for n in (MIN_LABELS, 200, 400)
    ),
    *(
        Cell(JUDGE_PASSES, "kappa exactly 0.60, four answers", f"{n:,}", _labels(FOUR, KAPPA, n), n_runs=FEWER)
        for n in (MIN_LABELS, 400)
    ),
    *(
        Cell(JUDGE_PASSES, "kappa 0.80, answers even", f"{n:,}", _labels(EVEN, 0.80, n), truth="planted", n_runs=FEWER)
        for n in (100, 200)
    ),
    *(Cell(LOCKED, world, "1 to 200", _lock(world), n_runs=FEWER) for world in LOCKED.worlds),
    Cell(LOCKED, "stored before anybody could read", "1 to 200", _lock("as it was stored"), truth="planted", n_runs=FEWER),
)
