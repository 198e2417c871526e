"""One decision under every combination of choices: estimates, limits, states, and what moves it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import numpy as np

from flipcore.stats.base.estimate import Estimate
from flipcore.stats.choices.choice import Choice, Setting, setting_of


class State(StrEnum):
    """The verdict of one specification on the decision."""

    SHOWN = "shown"
    AGAINST = "against"
    UNDECIDED = "undecided"
    CLOSED = "closed"


class SideTest(Protocol):
    """A test against one side, as `stats.base.guarded.GuardedSide` is one."""

    def limit(self, alpha: float) -> np.ndarray:
        """Return one-sided limits."""

    def p(self, null: float) -> np.ndarray:
        """Return one-sided p."""


class EveryTest(Protocol):
    """Tests of every specification."""

    def limits(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return one-sided lower and upper limits."""

    def p(self, null: float, *, below: bool = False) -> np.ndarray:
        """Return one-sided p."""


@dataclass(frozen=True, eq=False)
class Tests:
    """Tests of every specification: its limits at a one-sided alpha, and its p.

    `parts` are tests of some of them each, in the order of `order`.
    """

    parts: Sequence[tuple["SideTest", "SideTest"]]
    order: np.ndarray

    def limits(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits (n_specifications,), NaN where nothing may be claimed."""
        low = np.concatenate([above.limit(alpha) for above, _ in self.parts])
        high = np.concatenate([below.limit(alpha) for _, below in self.parts])
        return low[self.order], high[self.order]

    def p(self, null: float, *, below: bool = False) -> np.ndarray:
        """Return the one-sided p of a mean of `null` or less, or with `below` of `null` or more
        (n_specifications,)."""
        return np.concatenate([sides[below].p(null) for sides in self.parts])[self.order]


@dataclass(frozen=True)
class Effect:
    """The effect of one option on the estimate, against the declared option of its choice.

    `change` is the mean over all settings of the other choices, in the estimate's unit, with its
    interval over `n_units`; `p` is two-sided, `adjusted_p` Holm's over all options.
    """

    choice: Choice
    option: int
    change: Estimate
    p: float
    adjusted_p: float

    @property
    def name(self) -> str:
        return f"{self.choice.name}={self.choice.options[self.option].name}"

    def is_beyond_chance(self, level: float) -> bool:
        return self.adjusted_p <= 1 - level + 1e-12


@dataclass(frozen=True, eq=False)
class Ways:
    """Specifications with equal estimates and intervals, counted as one way each.

    `first` (n_ways,) is the specification of a way that is nearest to the declared one,
    `number` (n_specifications,) the way of each, `n_merged` (n_ways,) how many it has. The
    declared way is number 0.
    """

    first: np.ndarray
    number: np.ndarray
    n_merged: np.ndarray


@dataclass(frozen=True)
class Distance:
    """The least number of choices changed from the declared specification, and the settings there.

    `n_changed` is NaN where no specification is so. `all_turned` are those farther away, too.
    """

    n_changed: float
    specifications: tuple[int, ...]
    all_turned: tuple[int, ...] = ()


@dataclass(frozen=True)
class Shares:
    """Open ways by what they say. `n_ahead` have an estimate above the margin or bar."""

    n_open: int
    n_closed: int
    n_ahead: int
    n_behind: int
    n_shown: int
    n_against: int

    @property
    def n_undecided(self) -> int:
        return self.n_open - self.n_shown - self.n_against


@dataclass(frozen=True, eq=False)
class Curve:
    """A decision counted in every way that `choices` allow.

    Arrays have one place per specification: `options` (n_specifications, n_choices), all 0 in the
    declared one, which is number 0; `estimate`, `se`, `df` and `n_units` of the mean, `n_items`
    that count, `closed` why it may not be claimed, "" where it may. `tests` have the declared
    units, as Ranking and Score have them; `coarse_tests` the coarsest ones that an option leaves
    out, `n_coarse` of them. `note` says what was left out of the choices.
    """

    choices: tuple[Choice, ...]
    options: np.ndarray
    estimate: np.ndarray
    se: np.ndarray
    df: np.ndarray
    n_units: np.ndarray
    n_items: np.ndarray
    closed: tuple[str, ...]
    tests: EveryTest
    coarse_tests: EveryTest
    n_coarse: int
    effects: tuple[Effect, ...]
    bounds: tuple[float, float]
    note: str = ""

    def __len__(self) -> int:
        return len(self.options)

    @cached_property
    def is_open(self) -> np.ndarray:
        return np.array([not reason for reason in self.closed], dtype=bool)

    @cached_property
    def n_changed(self) -> np.ndarray:
        """(n_specifications,) choices changed from the declared specification."""
        return (self.options > 0).sum(axis=1)

    def setting(self, specification: int) -> dict[str, str]:
        """Return choice -> option, by name."""
        return setting_of(self.choices, self.options[specification])

    def find(self, setting: Setting) -> int:
        """Return the specification with this setting; choices that it does not name as declared."""
        row = []
        for choice in self.choices:
            names = [option.name for option in choice.options]
            row.append(names.index(setting.get(choice.name, names[0])))
        return int(np.flatnonzero((self.options == row).all(axis=1))[0])

    def limits(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return guarded lower and upper limits (n_specifications,) at a two-sided level."""
        return self.tests.limits(round((1 - level) / 2, 12))

    def states(self, level: float, margin: float = 0.0) -> np.ndarray:
        """Return the `State` of each specification (n_specifications,).

        `margin` is the lead, or the bar, that must be passed; an interval beyond it shows it.
        """
        low, high = self.limits(level)
        # Undefined limits compare as False: nothing is shown.
        states = np.full(len(self), State.UNDECIDED, dtype=object)
        states[low > margin] = State.SHOWN
        states[high < margin] = State.AGAINST
        states[~self.is_open] = State.CLOSED
        return states

    @cached_property
    def ways(self) -> Ways:
        """Specifications with equal estimate and interval, merged; closed ones among themselves."""
        low, high = self.tests.limits(0.025)
        rows = np.column_stack([self.estimate, low, high, ~self.is_open]).round(12)
        # NaN equals itself here, so that closed ones without an estimate are one way.
        rows = np.nan_to_num(rows, nan=9.0)
        nearest = np.lexsort((np.arange(len(self)), self.n_changed))
        _, first, groups = np.unique(rows[nearest], axis=0, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))
        by_specification = np.empty(len(self), dtype=int)
        by_specification[nearest] = rank[groups.ravel()]
        return Ways(nearest[np.sort(first)], by_specification, np.bincount(by_specification))

    def shares(self, level: float, margin: float = 0.0) -> Shares:
        """Count the ways by state. A share depends on which choices there are: no evidence."""
        first = self.ways.first
        states, is_open = self.states(level, margin)[first], self.is_open[first]
        gaps = np.where(is_open, (self.estimate[first] - margin).round(12), 0.0)
        return Shares(
            n_open=int(is_open.sum()),
            n_closed=int((~is_open).sum()),
            n_ahead=int((gaps > 0).sum()),
            n_behind=int((gaps < 0).sum()),
            n_shown=int((states == State.SHOWN).sum()),
            n_against=int((states == State.AGAINST).sum()),
        )

    def ahead_in(self, margin: float = 0.0) -> dict[tuple[str, str], tuple[int, int]]:
        """Return (choice, option) -> (ways ahead, open ways) of those that have this option."""
        gaps = (self.estimate - margin).round(12)
        counts = {}
        for column, choice in enumerate(self.choices):
            for number, option in enumerate(choice.options):
                has_option = (self.options[:, column] == number) & self.is_open
                n_ahead = len(set(self.ways.number[has_option & (gaps > 0)].tolist()))
                n_open = len(set(self.ways.number[has_option].tolist()))
                counts[choice.name, option.name] = (n_ahead, n_open)
        return counts

    def turns(self, margin: float = 0.0) -> Distance:
        """Return how many choices must change until the direction is the other one, or, where no
        way has the other one, until there is none. NaN where the declared way has no direction."""
        signs = np.sign((self.estimate - margin).round(12))
        if signs[0] == 0:
            return Distance(math.nan, ())
        turned = self._nearest(signs == -signs[0])
        return turned if turned.specifications else self._nearest(signs == 0)

    def loses(self, level: float, margin: float = 0.0) -> Distance:
        """Return how many choices must change until what the declared specification shows is not
        shown; NaN where it shows nothing."""
        states = self.states(level, margin)
        if states[0] not in (State.SHOWN, State.AGAINST):
            return Distance(math.nan, ())
        return self._nearest(states != states[0])

    def _nearest(self, is_met: np.ndarray) -> Distance:
        is_met = is_met & self.is_open
        if not is_met.any():
            return Distance(math.nan, ())
        least = int(self.n_changed[is_met].min())
        nearest = np.flatnonzero(is_met & (self.n_changed == least))
        turned = np.flatnonzero(is_met)
        return Distance(least, tuple(nearest.tolist()), tuple(turned.tolist()))

    def p_survives(self, margin: float = 0.0, *, below: bool = False) -> float:
        """Return the largest one-sided p of all open specifications, over the coarsest units.

        All must be above the margin (with `below`, below it) for "survives every choice" to be
        true, so the largest p is exact whatever their dependence (intersection-union). NaN where
        one has no test.
        """
        p = self.coarse_tests.p(margin, below=below)[self.is_open]
        return float(p.max()) if p.size and not np.isnan(p).any() else math.nan
