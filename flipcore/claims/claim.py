"""A claim: a sentence that asserts something beyond the rows, with how often it may be false.

A sentence that only describes ("0.20 of pairs flip") is no claim and carries no error rate. A
claim that its gate, its lock or its control does not allow is not made: `withheld` says why, and
`text` says that instead of the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Assertion:
    """A kind of claim, one constant each, listed in `flipcore.claims.catalogue`.

    `asserts` is what is said, `error_rate` the largest share of studies in which it may be said
    although it is false. `sides` is 1 or 2, `family` the claims that share the rate ("each claim",
    "all detectors of a page, Holm"). `worlds` are the null and boundary worlds under which
    `python -m tests.lab.claims` simulates it through the function that makes the sentence.
    """

    name: str
    asserts: str
    error_rate: float
    sides: int
    family: str
    worlds: tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    """One sentence about one study.

    The first three fields are positional, as in `Claim(SET_BEYOND, MEMORY, sentence)`. `assertion`
    is None for a description. `outcome` is the verdict as a word that code may compare ("memory",
    "equivalent", "undecided", ...).
    `asserted` is True if the sentence asserts what `assertion` names; an undecided or descriptive
    one does not. `detail` qualifies it in small type. `withheld` is the reason why it is not
    claimed, "" if it is. `numbers` are Estimates, counts and p-values by name.
    """

    assertion: Assertion | None
    outcome: str
    sentence: str
    # By keyword, so that a reader of a call sees what a True or an empty text stands for.
    _: KW_ONLY
    asserted: bool = False
    detail: str = ""
    withheld: str = ""
    # A dictionary has no hash, and the sentence already tells two claims apart.
    numbers: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def text(self) -> str:
        """Return the words of a verdict, the same on a screen, in a file and on a terminal."""
        # Screens, files and terminals print only this, so none of them shows a withheld sentence.
        return f"Not claimed: {self.withheld}" if self.withheld else self.sentence

    @property
    def word(self) -> str:
        """Return the verdict for a cell of a table, "not claimed" if it is withheld."""
        return "not claimed" if self.withheld else self.outcome

    @property
    def is_made(self) -> bool:
        """True if this asserts something and is not withheld."""
        return self.asserted and not self.withheld

    def not_claimed(self, reason: str) -> Claim:
        """Return the same claim, withheld for a reason; the first reason stays."""
        return self if self.withheld or not reason else replace(self, withheld=reason)


def is_shown(p: float, level: float) -> bool:
    """Return whether a p is small enough at a level; a NaN is not."""
    # A p of exactly .05 counts, whatever 1 - 0.95 rounds to.
    return bool(p <= 1 - level + 1e-12)


def description(
    sentence: str, outcome: str = "described", *, detail: str = "", **numbers: Any
) -> Claim:
    """Return a sentence that reports what was counted or measured and asserts nothing beyond it."""
    return Claim(None, outcome, sentence, detail=detail, numbers=numbers)
