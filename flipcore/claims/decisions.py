"""Sentences of a decision: a lead, a first rank, a bar, a loss between two runs, or whose flips.

A decision is true if an estimate is above its margin. One class per kind has its sentences.
"""

import math
from dataclasses import dataclass

from flipcore.stats.base.estimate import number_text, percent_text
from flipcore.text.counts import with_capital, without_capital

EVERY_OTHER, ANOTHER = "every other model", "another model"


def _span(low: float, high: float, digits: int) -> str:
    low_text, high_text = number_text(100 * low, digits), number_text(100 * high, digits)
    return low_text if low_text == high_text else f"{low_text} to {high_text}"


@dataclass(frozen=True)
class Decision:
    """The model `first` scores higher than `second` by more than the margin.

    `second` may be `EVERY_OTHER`. If it is "", the decision is that `first` scores above a bar,
    and `margin` is that bar. `margin` is a share from 0 to 1. In all methods `low` and `high` are
    the lowest and highest estimate of all ways of counting, and `below` is True if all estimates
    are below the margin.
    """

    first: str
    second: str = ""
    margin: float = 0.0

    @property
    def is_bar(self) -> bool:
        return not self.second

    @property
    def subject(self) -> str:
        """The estimate as words in the middle of a sentence."""
        return "the score" if self.is_bar else "the lead"

    @property
    def sides(self) -> tuple[str, str]:
        """The names of who is ahead above the margin, and of who is ahead below it."""
        return self.first, ANOTHER if self.second == EVERY_OTHER else self.second

    @property
    def side_words(self) -> tuple[str, str]:
        """The words for both sides of a chart: "ahead" twice, or "above" and "below" for a bar."""
        return ("above", "below") if self.is_bar else ("ahead", "ahead")

    def numbers(self, low: float, high: float) -> str:
        """Return "by 0.4 to 1.1 points", or "43 to 48%"."""
        return f"{_span(low, high, 0)}%" if self.is_bar else f"by {_span(low, high, 1)} points"

    def holds(self, *, above: bool = True) -> str:
        """Return the decision, or its opposite if not `above`, as a sentence without full stop."""
        if self.is_bar:
            return f"{self.first} scores {'above' if above else 'below'} {self._bar_text}"
        if not above and not self.margin:
            return f"{self.first} scores lower than {self.sides[1]}"
        verb = "scores" if above else "does not score"
        return f"{self.first} {verb} {self._margin_words}higher than {self.second}"

    @property
    def clause(self) -> str:
        """The decision as a clause after "that"."""
        return self.holds()

    def survives(self, ways: str, low: float, high: float, *, below: bool) -> str:
        """Return the sentence of a decision that holds in each of several `ways` of counting."""
        if self.is_bar:
            return f"{self.holds(above=not below)} in each of {ways}: {self.numbers(low, high)}."
        chosen = f"{self.holds(above=not below)}, whichever of these {ways} is chosen"
        if below and self.margin:
            return f"{chosen}."
        return f"{chosen}: {self.numbers(*((-high, -low) if below else (low, high)))}."

    def in_all(self, all_ways: str, low: float, high: float, *, below: bool) -> str:
        """Return the direction that all ways share, as a sentence without full stop.

        `all_ways` is "all 4 ways of counting", or "the only (open) way of counting".
        """
        if self.is_bar:
            return f"{self.holds(above=not below)} in {all_ways}, {self.numbers(low, high)}"
        if below and self.margin:
            return f"{self.holds(above=False)} in {all_ways.replace('all ', 'any of ', 1)}"
        ends = (-high, -low) if below else (low, high)
        rivals = f" {EVERY_OTHER}" if self.second == EVERY_OTHER and not below else ""
        ahead, behind = self.sides
        leader = behind if below else ahead
        # The name of a model keeps its first letter.
        leader = with_capital(leader) if leader == ANOTHER else leader
        return f"{leader} leads{rivals} in {all_ways}, {self.numbers(*ends)}"

    def number_of_way(self, value: float, *, below: bool) -> str:
        """Return the estimate of one way as `in_all` prints it: "50.0 points"; "" for none."""
        if self.is_bar:
            return self.numbers(value, value)
        if below and self.margin:
            return ""
        shown = -value if below else value
        return self.numbers(shown, shown).removeprefix("by ")

    @property
    def doubt(self) -> str:
        """The sentence for ways of counting that point in both directions."""
        if self.is_bar:
            return f"{self.first} is not safely above {percent_text(self.margin)}."
        ahead = "far enough ahead of" if self.margin else "ahead of"
        return f"{self.first} is not safely {ahead} {self.second}."

    def leads(self, n: str) -> str:
        """Return "It leads in 32 of 48"."""
        if self.is_bar:
            return f"It scores above {self._bar_text} in {n}"
        by = f" by {self._margin_words.rstrip()}" if self.margin else ""
        return f"It leads{by} in {n}"

    def lags(self, n: str) -> str:
        """Return "It is behind in 16"."""
        if self.is_bar:
            return f"It scores below {self._bar_text} in {n}"
        verb = f"does not lead by {self._margin_words.rstrip()}" if self.margin else "is behind"
        return f"It {verb} in {n}"

    def turn(self, *, above: bool) -> str:
        """Return "It falls behind", to be followed by "only where"."""
        if self.is_bar:
            return "It rises above it" if above else "It falls below it"
        return "It leads" if above else "It falls behind"

    @property
    def tie_words(self) -> str:
        """The clause for an estimate that equals the margin."""
        if self.is_bar:
            return "it is just the bar"
        return "it is just the margin ahead" if self.margin else "they are level"

    @property
    def _margin_words(self) -> str:
        """Return "more than 1.0 points ", with a blank at the end; "" without a margin."""
        return f"more than {number_text(100 * self.margin, 1)} points " if self.margin else ""

    @property
    def _bar_text(self) -> str:
        digits = 0 if math.isclose(100 * self.margin, round(100 * self.margin)) else 1
        return percent_text(self.margin, digits)


class Loss(Decision):
    """The new run `first` loses less than the accepted loss against the old run `second`.

    `margin` is the negative of that loss.
    """

    @property
    def subject(self) -> str:
        return "the change"

    def numbers(self, low: float, high: float) -> str:
        low_text, high_text = (number_text(100 * end, 1, sign=True) for end in (low, high))
        span = low_text if low_text == high_text else f"{low_text} to {high_text}"
        return f"a change of {span} points"

    def holds(self, *, above: bool = True) -> str:
        if above:
            return f"{self.first} does not lose {self._loss} or more against {self.second}"
        return f"{self.first} loses more than {self._loss} against {self.second}"

    @property
    def clause(self) -> str:
        return without_capital(self.holds())

    def survives(self, ways: str, low: float, high: float, *, below: bool) -> str:
        start = f"{self.holds(above=not below)}, whichever of {ways} is chosen"
        return f"{start}: {self.numbers(low, high)}."

    def number_of_way(self, value: float, *, below: bool) -> str:
        return self.numbers(value, value)

    def in_all(self, all_ways: str, low: float, high: float, *, below: bool) -> str:
        side = "more" if below else "less"
        start = f"{self.first} loses {side} than {self._loss} in {all_ways}"
        return f"{start}, {self.numbers(low, high)}"

    @property
    def doubt(self) -> str:
        return f"{self.first} is not safely within {self._loss} of {self.second}."

    def leads(self, n: str) -> str:
        return f"It loses less than {self._loss} in {n}"

    def lags(self, n: str) -> str:
        return f"It loses more than that in {n}"

    def turn(self, *, above: bool) -> str:
        return "It loses less" if above else "It loses more"

    @property
    def tie_words(self) -> str:
        return "it loses just the margin"

    @property
    def _loss(self) -> str:
        points = number_text(-100 * self.margin, 1).removesuffix(".0")
        return f"{points} {'point' if points == '1' else 'points'}"


class Flips(Decision):
    """Flips by the change `first` are mostly those of the extractor `second`.

    More pairs flip under it alone than under both it and the reference, by more than the margin.
    """

    @property
    def subject(self) -> str:
        return "the difference"

    @property
    def sides(self) -> tuple[str, str]:
        return "The extractor", "The model"

    def holds(self, *, above: bool = True) -> str:
        by = f", by {self._margin_words.rstrip()}" if self.margin else ""
        is_mostly = "are mostly" if above else "are not mostly"
        return f"Flips by {self.first} {is_mostly} those of the extractor {self.second}{by}"

    @property
    def clause(self) -> str:
        return without_capital(self.holds())

    def survives(self, ways: str, low: float, high: float, *, below: bool) -> str:
        ends = (-high, -low) if below else (low, high)
        chosen = f"{self.holds(above=not below)}, whichever of these {ways} is chosen"
        return f"{chosen}: {self.numbers(*ends)}."

    def in_all(self, all_ways: str, low: float, high: float, *, below: bool) -> str:
        side = "fewer" if below else "more"
        ends = (-high, -low) if below else (low, high)
        start = (
            f"Flips by {self.first}: {side} pairs flip under {self.second} alone than under both"
        )
        return f"{start} extractors in {all_ways}, {self.numbers(*ends)}"

    @property
    def doubt(self) -> str:
        return f"Flips by {self.first} are not safely those of the extractor {self.second}."

    def leads(self, n: str) -> str:
        by = f", by {self._margin_words.rstrip()}," if self.margin else ""
        return f"More pairs flip under it alone than under both{by} in {n}"

    def lags(self, n: str) -> str:
        return f"{'Not so many' if self.margin else 'Fewer'} flip under it alone in {n}"

    def turn(self, *, above: bool) -> str:
        return "It is so" if above else "It is not"

    @property
    def tie_words(self) -> str:
        return "as many flip under it alone as under both"
