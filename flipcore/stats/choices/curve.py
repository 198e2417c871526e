"""One decision under all combinations of choices: estimates, limits, states, and the effects of
single options."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import numpy as np

from flipcore.stats.base.estimate import Estimate
from flipcore.stats.choices.choice import (
    Choice,
    Setting,
    are_apart,
    asks_another_question,
    setting_of,
)

ENDS = ("lowest", "highest")  # fields of a curve: estimates with all unread answers at one end


class State(StrEnum):
    """The verdict of one specification on the decision."""

    SHOWN = "shown"
    AGAINST = "against"
    UNDECIDED = "undecided"
    CLOSED = "closed"


class SideTest(Protocol):
    """One-sided tests of k specifications, for example `stats.base.guarded.GuardedSide`."""

    def limit(self, alpha: float) -> np.ndarray:
        """Return (k,) limits at a one-sided `alpha`."""

    def p(self, null: float) -> np.ndarray:
        """Return (k,) one-sided p against a mean of `null`."""


class SpecificationTests(Protocol):
    """Tests of all specifications in both directions."""

    def limits(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits, (specifications,) each, at a one-sided `alpha`."""

    def p(self, null: float, *, below: bool = False) -> np.ndarray:
        """Return (specifications,) one-sided p of a mean above `null`, or `below` it."""


@dataclass(frozen=True, eq=False)
class Tests:
    """Tests of all specifications, put together from parts.

    `parts` are (lower side, upper side) tests of some specifications each. Indexed by `order`,
    their concatenated results are in the order of the specifications.
    """

    parts: Sequence[tuple["SideTest", "SideTest"]]
    order: np.ndarray

    def limits(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits, (specifications,) each; NaN where too few items count."""
        low = np.concatenate([lower.limit(alpha) for lower, _ in self.parts])
        high = np.concatenate([upper.limit(alpha) for _, upper in self.parts])
        return low[self.order], high[self.order]

    def p(self, null: float, *, below: bool = False) -> np.ndarray:
        """Return (specifications,) one-sided p of a mean above `null`, or `below` it."""
        p = [upper.p(null) if below else lower.p(null) for lower, upper in self.parts]
        return np.concatenate(p)[self.order]


@dataclass(frozen=True)
class _Selected:
    """Tests of some of the specifications; `is_selected` is (specifications,) of all of them."""

    tests: SpecificationTests
    is_selected: np.ndarray

    def limits(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.tests.limits(alpha)
        return low[self.is_selected], high[self.is_selected]

    def p(self, null: float, *, below: bool = False) -> np.ndarray:
        return self.tests.p(null, below=below)[self.is_selected]


@dataclass(frozen=True)
class Effect:
    """Effect of one option on the estimate, compared with the declared option of its choice.

    `change` is the mean over all equally defensible settings of the other choices, in the unit of
    the estimate, with its interval. `p` is two-sided; `adjusted_p` is Holm's over all options.
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
    """Ways: specifications with equal estimates and intervals are one way. The way of the declared
    specification is number 0.

    first : (ways,) the specification of each way that is nearest to the declared one.
    number : (specifications,) the way of each specification.
    n_merged : (ways,) number of specifications of each way.
    """

    first: np.ndarray
    number: np.ndarray
    n_merged: np.ndarray


@dataclass(frozen=True)
class Distance:
    """The least number of choices to change, from the declared ones, until a condition is met.

    n_changed : least number of changed choices; NaN if no specification meets the condition.
    specifications : those with `n_changed` changes that meet it.
    all_turned : all that meet it, with any number of changes.
    """

    n_changed: float
    specifications: tuple[int, ...]
    all_turned: tuple[int, ...] = ()


@dataclass(frozen=True)
class Shares:
    """Numbers of ways. `n_ahead` and `n_behind` are open ways with an estimate above and below the
    margin, `n_shown` and `n_against` those with an interval above and below it."""

    n_open: int
    n_closed: int
    n_ahead: int
    n_behind: int
    n_shown: int
    n_against: int


@dataclass(frozen=True, eq=False)
class Curve:
    """A decision under all combinations of `choices`. Arrays have one entry per specification.

    options : (specifications, choices) option numbers. Specification 0 is the declared one and has
        only zeros.
    estimate, se, df, n_units : of the mean; `df` is NaN if too few items count.
    n_items : number of items that count.
    closed : why nothing may be claimed; "" if something may.
    tests : over the declared units, which Ranking and Score use too.
    coarse_tests, n_coarse : tests over the coarsest units that an equally defensible option leaves
        out, and the number of these units.
    effects : effects of single options.
    bounds : least and largest value of an item.
    note : which options were left out, because there were too many specifications.
    lowest, highest : the estimate with all unread answers against the decision, and with all of
        them for it. Equal to the estimate if nothing is unread.
    ends : the curves of these estimates, without the choices of how unread answers count; None if
        nothing is unread.
    """

    choices: tuple[Choice, ...]
    options: np.ndarray
    estimate: np.ndarray
    se: np.ndarray
    df: np.ndarray
    n_units: np.ndarray
    n_items: np.ndarray
    closed: tuple[str, ...]
    tests: SpecificationTests
    coarse_tests: SpecificationTests
    n_coarse: int
    effects: tuple[Effect, ...]
    bounds: tuple[float, float]
    lowest: np.ndarray
    highest: np.ndarray
    ends: "tuple[Curve, Curve] | None" = None
    note: str = ""

    def __len__(self) -> int:
        return len(self.options)

    @cached_property
    def is_open(self) -> np.ndarray:
        return np.array([not reason for reason in self.closed], dtype=bool)

    @cached_property
    def is_apart(self) -> np.ndarray:
        """(specifications,) True where an option asks another question, so that the specification
        is counted apart from the equally defensible ones."""
        return are_apart(self.choices, self.options)

    @cached_property
    def equally_defensible(self) -> "Curve":
        """The curve of the specifications that ask the same question."""
        return self._selected(~self.is_apart) if self.is_apart.any() else self

    @cached_property
    def apart(self) -> "Curve | None":
        """The curve of the ways that no equally defensible specification leads to; None if there
        are none."""
        defensible_ways = self.ways.number[~self.is_apart]
        is_apart = ~np.isin(self.ways.number, defensible_ways)
        return self._selected(is_apart) if is_apart.any() else None

    def _selected(self, is_selected: np.ndarray) -> "Curve":
        numbers = {}
        for name in ("options", "estimate", "se", "df", "n_units", "n_items", *ENDS):
            numbers[name] = getattr(self, name)[is_selected]
        closed = tuple(np.array(self.closed, dtype=object)[is_selected])
        tests = _Selected(self.tests, is_selected)
        coarse_tests = _Selected(self.coarse_tests, is_selected)
        return replace(self, **numbers, closed=closed, tests=tests, coarse_tests=coarse_tests)

    @cached_property
    def n_changed(self) -> np.ndarray:
        """(specifications,) number of choices that differ from the declared specification."""
        return (self.options > 0).sum(axis=1)

    def setting(self, specification: int) -> dict[str, str]:
        """Return the setting of a specification, choice name -> option name."""
        return setting_of(self.choices, self.options[specification])

    def find(self, setting: Setting) -> int:
        """Return the number of the specification with this setting; choices that are left out have
        their declared option."""
        row = []
        for choice in self.choices:
            names = [option.name for option in choice.options]
            row.append(names.index(setting.get(choice.name, names[0])))
        return int(np.flatnonzero((self.options == row).all(axis=1))[0])

    def limits(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits, (specifications,) each, at a two-sided level."""
        # Rounded, because (1 - 0.95) / 2 is 0.025000000000000022.
        return self.tests.limits(round((1 - level) / 2, 12))

    def states(self, level: float, margin: float = 0.0) -> np.ndarray:
        """Return the `State` of each specification (specifications,). A lead above `margin` is
        shown if the whole interval is above it; for a single score, `margin` is the bar."""
        low, high = self.limits(level)
        # Comparisons with NaN limits are False, so that nothing is shown.
        states = np.full(len(self), State.UNDECIDED, dtype=object)
        states[low > margin] = State.SHOWN
        states[high < margin] = State.AGAINST
        states[~self.is_open] = State.CLOSED
        return states

    @cached_property
    def ways(self) -> Ways:
        """Ways, from merging specifications with equal estimates and intervals. Open and closed
        ones are not merged with each other."""
        low, high = self.tests.limits(0.025)
        rows = np.column_stack([self.estimate, low, high, ~self.is_open]).round(12)
        # NaN never equals NaN, but specifications without an estimate are one way. No value is 9.
        rows = np.nan_to_num(rows, nan=9.0)
        # By distance from the declared specification, so that the first of a way is its nearest.
        nearest = np.lexsort((np.arange(len(self)), self.n_changed))
        _, first, groups = np.unique(rows[nearest], axis=0, return_index=True, return_inverse=True)
        # `np.unique` sorts groups by value; ways are numbered by their first specification.
        way_of_group = np.argsort(np.argsort(first))
        number = np.empty(len(self), dtype=int)
        number[nearest] = way_of_group[groups.ravel()]
        return Ways(nearest[np.sort(first)], number, np.bincount(number))

    @cached_property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """(ways,) each: the least `lowest` and the largest `highest` of each way."""
        n_ways = len(self.ways.first)
        low, high = np.full(n_ways, np.inf), np.full(n_ways, -np.inf)
        np.minimum.at(low, self.ways.number, self.lowest)
        np.maximum.at(high, self.ways.number, self.highest)
        return low, high

    def shares(self, level: float, margin: float = 0.0) -> Shares:
        """Count the ways by state. Their shares are no evidence, because they depend on which
        choices are offered."""
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
        """Return (choice, option) -> (number of ways ahead, number of open ways) among the ways
        with this option. Ways that ask another question count only for the options that ask it."""
        gaps = (self.estimate - margin).round(12)
        counts = {}
        for column, choice in enumerate(self.choices):
            for number, option in enumerate(choice.options):
                has_option = (self.options[:, column] == number) & self.is_open
                if not asks_another_question(choice, option):
                    has_option &= ~self.is_apart
                n_ahead = len(set(self.ways.number[has_option & (gaps > 0)].tolist()))
                n_open = len(set(self.ways.number[has_option].tolist()))
                counts[choice.name, option.name] = (n_ahead, n_open)
        return counts

    def turns(self, margin: float = 0.0) -> Distance:
        """Return how many choices must change until the estimate is on the other side of the
        margin, or exactly on it if no way is on the other side. NaN if the declared way is exactly
        on the margin."""
        signs = np.sign((self.estimate - margin).round(12))
        if signs[0] == 0:
            return Distance(math.nan, ())
        turned = self._nearest(signs == -signs[0])
        return turned if turned.specifications else self._nearest(signs == 0)

    def loses(self, level: float, margin: float = 0.0) -> Distance:
        """Return how many choices must change until what the declared specification shows is no
        longer shown; NaN if it shows nothing."""
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
        return Distance(least, tuple(nearest.tolist()), tuple(np.flatnonzero(is_met).tolist()))

    def p_survives(self, margin: float = 0.0, *, below: bool = False) -> float:
        """Return the p of "survives every choice": the largest one-sided p of all open
        specifications, over the coarsest units.

        The claim is true only if all means are above the margin (or all `below` it). So the largest
        p is exact, whatever their dependence (intersection-union). NaN if any has no test.
        """
        p = self.coarse_tests.p(margin, below=below)[self.is_open]
        return float(p.max()) if p.size and not np.isnan(p).any() else math.nan
