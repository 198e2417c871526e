"""Options that name places or other options: "A and B", "both of the above", "none of these".

Moving them changes what they say, so the change would not be harmless. Two kinds:
- an option that names others by their label ("A and B", "b and c", "only A") goes wrong under any other order and any other
  labels: such an item is neither reordered nor relabelled;
- one that means all or some of the others ("none of these") stays in its place at the end while the others move; where such
  an option does not stand at the end, the item is not reordered.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.text.prompts import LABEL_SETS

_LABEL = r"[\"'(\[]*(?:{labels})[\"')\].]*"
_JOIN = r"\s*(?:,\s*(?:and|or|nor)\b|,|&|\band\b|\bor\b|\bnor\b|\bbut not\b|/)\s*"
_HEAD = r"(?:(?:both|either|neither|only|all of|options?|answers?|choices?|statements? in|responses?)\s+)*"
_TAIL = (
    r"(?:\s+(?:only|alone|both|above|together|but not [a-z]|are (?:both )?(?:correct|true|right)|is (?:correct|true)))*\s*[.!]?"
)
_OTHERS = re.compile(
    r"\W*(?:(?:all|both|none|neither|either|any|some|each|one|two|three|more than one|only one|most|not any)\b(?:\s+(?:two|three|"
    r"four|one))?\s*(?:of\s+)?(?:the\s+|these\s+|those\s+)?(?:other\s+)?"
    r"(?:above|below|these|those|them|others?|options?|choices?|answers?|alternatives?|listed|foregoing|previous|preceding|"
    r"given|mentioned)\b.{0,40}|(?:all|none|both|neither)\W*|the\s+(?:above|foregoing)\b.{0,30}|above"
    r"|.{0,40}\b(?:of the above|of these options|of these answers|of the (?:other )?(?:options|choices|answers))\b.{0,40})",
    re.IGNORECASE | re.DOTALL,
)
_EXCEPT = re.compile(r"\b(?:of|the)\b.*\b(?:above|these|options|choices|answers)\b.*\b(?:except|but)\s+[\"'(]*[A-Z]\b")
BY_LABEL = "One of its options names others by their label, so another order or other labels would change what it says."
NOT_LAST = "One of its options means the others and does not stand at the end, so another order would change what it says."


@dataclass(frozen=True)
class Referring:
    """Of one item: `by_label` options name others by label, `others` mean all or some of the others (both: own indices)."""

    n_options: int
    by_label: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def movable(self) -> tuple[int, ...]:
        """Own indices of the options that may change places."""
        return tuple(i for i in range(self.n_options) if i not in self.others)

    @property
    def why_not_reordered(self) -> str:
        """A sentence, or "" where the options may be reordered."""
        if self.by_label:
            return BY_LABEL
        at_the_end = self.others == tuple(range(self.n_options - len(self.others), self.n_options))
        return "" if at_the_end else NOT_LAST

    @property
    def why_not_relabelled(self) -> str:
        return BY_LABEL if self.by_label else ""


def referring(options: Sequence[str]) -> Referring:
    """Which options of an item refer to places or to other options."""
    pattern = _by_label(len(options))
    plain = [" ".join(option.split()) for option in options]
    by_label = tuple(i for i, option in enumerate(plain) if pattern.fullmatch(option) or _EXCEPT.search(option))
    others = tuple(i for i, option in enumerate(options) if i not in by_label and _OTHERS.fullmatch(option.strip()))
    if len(others) == len(options) or {option.strip(" .").casefold() for option in options} <= _PLAIN:
        others = ()  # "all", "both", "none" as answers in their own right
    return Referring(len(options), by_label, others)


_PLAIN = frozenset({"all", "both", "none", "neither", "some", "either", "yes", "no", "one", "two", "three"})


def _by_label(n_options: int) -> re.Pattern:
    """Two or more labels joined, or one after "only" or "option"."""
    letters = "".join(LABEL_SETS["upper"][:n_options] + LABEL_SETS["lower"][:n_options])
    letters = letters.replace("I", "").replace("i", "")  # "I only" and "I and II" name statements of the question
    one = _LABEL.format(labels=f"[{letters}]")
    several = rf"{_HEAD}{one}(?:{_JOIN}{_HEAD}{one})+{_TAIL}"
    single = rf"(?:only|options?|answers?|choices?)\s+{one}{_TAIL}|{one}\s+(?:only|alone)\s*\.?"
    return re.compile(rf"(?:{several}|{single})", re.IGNORECASE)
