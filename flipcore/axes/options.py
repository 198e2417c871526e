"""Axes on options: their order, their labels, and options before the question.

Some options refer to other options, so that moving them may change their meaning:
- An option that names others by their label ("A and B", "only A") is wrong in any other order and
  under other labels. Such an item is neither reordered nor relabelled.
- An option about all or some of the others ("none of these") keeps its place at the end while the
  others move. Where it is not at the end, the item is not reordered.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from flipcore.axes.variants import base, collapsed, variant
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, Prompt, Variant
from flipcore.text.prompts import LABEL_SETS, labels_of

_LABEL = r"[\"'(\[]*(?:{labels})[\"')\].]*"
_JOIN = r"\s*(?:,\s*(?:and|or|nor)\b|,|&|\band\b|\bor\b|\bnor\b|\bbut not\b|/)\s*"
_HEAD = (
    r"(?:(?:both|either|neither|only|all of|options?|answers?|choices?|statements? "
    r"in|responses?)\s+)*"
)
_TAIL = (
    r"(?:\s+(?:only|alone|both|above|together|but not [a-z]|are (?:both "
    r")?(?:correct|true|right)|is (?:correct|true)))*\s*[.!]?"
)
_OTHERS = re.compile(
    r"\W*(?:(?:all|both|none|neither|either|any|some|each|one|two|three|more than one|only one|"
    r"most|not any)\b(?:\s+(?:two|three|four|one))?\s*(?:of\s+)?(?:the\s+|these\s+|"
    r"those\s+)?(?:other\s+)?(?:above|below|these|those|them|others?|options?|choices?|answers?|"
    r"alternatives?|listed|foregoing|previous|preceding|given|mentioned)\b.{0,40}|(?:all|none|"
    r"both|neither)\W*|the\s+(?:above|foregoing)\b.{0,30}|above|.{0,40}\b(?:of the above|"
    r"of these options|of these answers|of the (?:other )?(?:options|choices|answers))\b.{0,40})",
    re.IGNORECASE | re.DOTALL,
)
_EXCEPT = re.compile(
    r"\b(?:of|the)\b.*\b(?:above|these|options|choices|answers)\b.*\b(?:except"
    r"|but)\s+[\"'(]*[A-Z]\b"
)
BY_LABEL = (
    "One of its options names others by their label, so another order or other labels would "
    "change what it says."
)
NOT_LAST = (
    "One of its options means the others and does not stand at the end, so another order would "
    "change what it says."
)


@dataclass(frozen=True)
class Referring:
    """The options of one item that refer to other options, by their own index.
    Those in `by_label` name others by label; those in `about_others` mean all or some others."""

    n_options: int
    by_label: tuple[int, ...]
    about_others: tuple[int, ...]

    @property
    def movable(self) -> tuple[int, ...]:
        """Own indices of the options that may change places."""
        return tuple(i for i in range(self.n_options) if i not in self.about_others)

    @property
    def why_not_reordered(self) -> str:
        """A sentence that says why not, or "" if the options may be reordered."""
        if self.by_label:
            return BY_LABEL
        last_options = range(self.n_options - len(self.about_others), self.n_options)
        return "" if self.about_others == tuple(last_options) else NOT_LAST

    @property
    def why_not_relabelled(self) -> str:
        return BY_LABEL if self.by_label else ""


def referring(options: Sequence[str]) -> Referring:
    """Find the options of an item that refer to other options."""
    pattern = _labels_pattern(len(options))
    by_label: list[int] = []
    about_others: list[int] = []
    for i, option in enumerate(options):
        words = " ".join(option.split())
        if pattern.fullmatch(words) or _EXCEPT.search(words):
            by_label.append(i)
        elif _OTHERS.fullmatch(option.strip()):
            about_others.append(i)
    # Where all options are such words ("all", "both", "none"), none refers to another.
    are_common = {option.strip(" .").casefold() for option in options} <= _COMMON_ANSWERS
    if are_common or len(about_others) == len(options):
        about_others = []
    return Referring(len(options), tuple(by_label), about_others=tuple(about_others))


_COMMON_ANSWERS = frozenset(
    {"all", "both", "none", "neither", "some", "either", "yes", "no", "one", "two", "three"}
)


def _labels_pattern(n_options: int) -> re.Pattern:
    """Return a pattern for options that name labels: several, or one after "only" or "option"."""
    letters = "".join(LABEL_SETS["upper"][:n_options] + LABEL_SETS["lower"][:n_options])
    # "I only" and "I and II" name statements of the question.
    letters = letters.replace("I", "").replace("i", "")
    label = _LABEL.format(labels=f"[{letters}]")
    labels = rf"{_HEAD}{label}(?:{_JOIN}{_HEAD}{label})+{_TAIL}"
    single = rf"(?:only|options?|answers?|choices?)\s+{label}{_TAIL}|{label}\s+(?:only|alone)\s*\.?"
    return re.compile(rf"(?:{labels}|{single})", re.IGNORECASE)


@dataclass(frozen=True)
class OptionOrder(Axis):
    """The options in other orders: `n` variants, the base included.

    There are fewer where the item has fewer rotations or permutations. Rotations put each option
    into every position; random orders mix more.
    """

    kind: str = param("cyclic", "orders", choices=("cyclic", "random"))
    n: int = param(4, "how many")
    name: ClassVar[str] = "option_order"
    title: ClassVar[str] = "Option order"
    about: ClassVar[str] = (
        "The same options in another order; answers are compared as options, not as letters."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})

    def __post_init__(self) -> None:
        if self.kind not in ("cyclic", "random") or not 2 <= self.n <= 1000:
            raise BadInput(
                f"Option order has kind {self.kind!r} and n = {self.n}; it takes cyclic or random, "
                "and n from 2 to 1000."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        # An option about the others keeps its place at the end, so only the rest change theirs.
        refers = referring(item.options)
        if refers.why_not_reordered:
            refusal = {"refusal": "refers", "why": refers.why_not_reordered}
            return [base(item, self.name, layout=layout, params=refusal)]
        size = len(refers.movable)
        if self.kind == "cyclic":
            shifts = _shifts(size, self.n)
            orders = [(*range(shift, size), *range(shift)) for shift in shifts]
            keys = [f"rotate-{shift}" for shift in shifts]
        else:
            orders = _shuffled(size, self.n, rng=rng)
            keys = [f"shuffle-{i + 1}" for i in range(len(orders))]
        params: dict[str, Any] = {}
        if refers.about_others:
            params["kept_last"] = [item.options[i] for i in refers.about_others]
        changed = [
            variant(
                item,
                self.name,
                key=key,
                layout=layout,
                order=(*order, *refers.about_others),
                params=params,
            )
            for key, order in zip(keys, orders, strict=True)
        ]
        return collapsed([base(item, self.name, layout=layout), *changed])


def _shifts(size: int, n: int) -> list[int]:
    """Return up to n - 1 distinct shifts, evenly spread over 1 … size - 1."""
    n_shifts = min(n - 1, size - 1)
    return [1 + (i * (size - 1)) // n_shifts for i in range(n_shifts)] if n_shifts > 0 else []


def _shuffled(size: int, n: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return up to n - 1 distinct permutations in the order drawn, without the item's own."""
    n_orders = min(n, math.factorial(size))
    # A dictionary keeps each order once, as drawn. The item's own comes first and is left out.
    orders = {tuple(range(size)): None}
    while len(orders) < n_orders:
        orders[tuple(int(i) for i in rng.permutation(size))] = None
    return list(orders)[1:]


@dataclass(frozen=True)
class LabelSet(Axis):
    sets: tuple[str, ...] = param(("lower", "digits"), "label sets", choices=tuple(LABEL_SETS))
    name: ClassVar[str] = "label_set"
    title: ClassVar[str] = "Label set"
    about: ClassVar[str] = "The same options in the same order under other labels."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})

    def __post_init__(self) -> None:
        for label_set in self.sets:
            labels_of(label_set, 0)

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        size, reason = len(item.options), referring(item.options).why_not_relabelled
        if reason:
            return [
                base(item, self.name, layout=layout, params={"refusal": "refers", "why": reason})
            ]
        changed = [
            variant(
                item, self.name, key=label_set, layout=layout, labels=labels_of(label_set, size)
            )
            for label_set in self.sets
        ]
        return collapsed([base(item, self.name, layout=layout), *changed])


POINTING_WORDS = re.compile(
    r"\b(?:below|above|following|preceding|previous|next|last|first)\b", re.IGNORECASE
)
WHY_NOT = (
    "The question points to the options by their place, or its sentence goes on in them, so it is "
    "not moved."
)


@dataclass(frozen=True)
class QuestionPosition(Axis):
    name: ClassVar[str] = "question_position"
    title: ClassVar[str] = "Position of the question"
    about: ClassVar[str] = "The question stands behind the options, not before them."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        # Without a question mark it may be the beginning of a sentence that the options finish.
        if POINTING_WORDS.search(item.question) or not item.question.rstrip().endswith("?"):
            return [
                base(item, self.name, layout=layout, params={"refusal": "points", "why": WHY_NOT})
            ]
        unchanged = base(item, self.name, layout=layout)
        parts = dict(unchanged.prompt.parts)
        moved_parts = (
            ("options", f"{parts['options']}\n"),
            ("stem", parts["stem"].rstrip("\n")),
            ("cue", parts["cue"]),
        )
        changed = replace(
            unchanged, key="behind", prompt=Prompt(moved_parts, unchanged.prompt.system)
        )
        return collapsed([unchanged, changed])


AXES = (OptionOrder(), LabelSet(), QuestionPosition())
