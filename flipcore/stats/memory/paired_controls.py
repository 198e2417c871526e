"""Stored pairs of benchmark and control items as a claim needs them: what they were matched by, and whether that was enough."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from flipcore.stats.base.estimate import number_text
from flipcore.stats.memory.matching import TITLES, WORST


@dataclass(frozen=True)
class Pairs:
    """`control_of` benchmark id -> control id, 1:1; `how_of` benchmark id -> what was stored of the matching
    (`Matching.how`)."""

    control_of: Mapping[str, str] = field(default_factory=dict)
    how_of: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def among(self, items: Collection[str]) -> Pairs:
        """The pairs that lie wholly in `items`."""
        control_of = {first: second for first, second in self.control_of.items() if first in items and second in items}
        return Pairs(control_of, {first: self.how_of.get(first, {}) for first in control_of})

    @property
    def _matchings(self) -> list[Mapping[str, Any]]:
        return list({repr(how): how for how in self.how_of.values()}.values())

    def note(self) -> str:
        """What the pairs were matched by; empty where nothing was stored of it."""
        names = list(dict.fromkeys(name for how in self._matchings for name in how.get("by", ())))
        if not names:
            return ""
        return f"Pairs were matched by {', '.join(TITLES.get(name, name) for name in names)}; they may differ in all else."

    def problem(self) -> str:
        """Why these pairs may not carry a claim: a trait in which they still differ; empty where there is none."""
        left = [
            (name, after)
            for how in self._matchings
            for name, (_, after) in how.get("balance", {}).items()
            if after is not None and abs(after) > WORST
        ]
        if not left:
            return ""
        name, after = max(left, key=lambda one: abs(one[1]))
        return (
            f"the pairs still differ in {TITLES.get(name, name)} by {number_text(abs(after))} SD; at most {WORST:g} is allowed. "
            "Match controls again with a smaller caliper, or from a larger set."
        )
