"""The scale of grades: as a log declares it, or the usual one that holds the grades in its rows."""

import re
from collections.abc import Mapping
from typing import Any

USUAL_ENDS = (2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 10.0)  # of scales that begin with 1
MIN_PERCENT = 50.0  # the least highest score from which on scores count as percentages


# of a score's name: "(/20)", and "1-5" or "1bis5" in brackets or at the end
_OUT_OF = re.compile(r"/\s?(\d{1,3})\)?$")
_FROM_TO = re.compile(r"(?<!\d)(\d)\s?(?:-|–|to|bis|à|a)\s?(\d{1,3})[)\]]?$")


def named_scale(name: str) -> tuple[float, float] | None:
    """Return the ends of the scale that a score's name gives, as Note (/20) does; None for none."""
    if matched := _OUT_OF.search(name.strip()):
        return 0.0, float(matched[1])
    matched = _FROM_TO.search(name.strip())
    low, high = (float(matched[1]), float(matched[2])) if matched else (0.0, 0.0)
    return (low, high) if low < high else None


def usual_scale(low: float, high: float) -> tuple[float, float]:
    """Return the ends of the scale that grades from `low` to `high` were probably given on.

    Grades from 4 to 5 are few of those from 1 to 5, and 54 to 83.7 of those from 0 to 100. An end
    that no grade reached counts all the same: an item that nobody saw may lie there.
    """
    if low > 1 and MIN_PERCENT < high <= 100:
        return 0.0, 100.0
    if low > 1 and USUAL_ENDS[3] < high <= USUAL_ENDS[-1] and not _are_halves(low, high):
        return 0.0, 10.0  # 5.6 to 9.4: grades with decimals are mostly out of ten
    if not _are_halves(low, high) or low < 1 or not 1 < high <= USUAL_ENDS[-1]:
        return low, high
    return 1.0, next(end for end in USUAL_ENDS if high <= end)


def _are_halves(*grades: float) -> bool:
    return all((2 * grade).is_integer() for grade in grades)


def scale_of(scorer: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends of the scale of a scorer in a study's declaration; 0 and 1 without any.

    A study holds the range of the rows, which is part of its id.
    """
    low, high = float(scorer.get("low", 0.0)), float(scorer.get("high", 1.0))
    is_seen = "low" in scorer and not scorer.get("is_declared")
    named = named_scale(str(scorer.get("scorer", ""))) if is_seen else None
    if named and named[0] <= low and high <= named[1]:
        return named
    return usual_scale(low, high) if is_seen else (low, high)
