"""The adaptive evaluation of source 002, C.1: rotate the options, vote, stop when one leads by three.

It answers with a model's favourite, not with a sample of it: an item right with p = .60 counts as right with .78 and a
difference of 5 pp reads as 12.5 pp. Single-sample accuracy stands beside it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Option = TypeVar("Option")


def normalise(out: str) -> str:
    """Strip, first line, strip."""
    return out.strip().split("\n", 1)[0].strip()


def rotate(options: Sequence[Option], r: int) -> list[Option]:
    """`options` shifted left by `r`: rotate([a, b, c], 1) is [b, c, a]."""
    shift = r % len(options) if options else 0
    return [*options[shift:], *options[:shift]]


def lead3_two_option(p: float, lead: int = 3) -> float:
    """P(the right one of two options first leads by `lead`) when each vote is right with `p`; no minimum (gambler's ruin)."""
    right, wrong = p**lead, (1 - p) ** lead
    return right / (right + wrong)


@dataclass
class Votes:
    """Votes so far of one item; `reached_at[o]` is the attempt at which option o got its latest vote."""

    counts: list[int]
    reached_at: list[int]

    def lead(self) -> int:
        """Top count less the runner-up's (0 for the runner-up of a single option)."""
        top, second = sorted([*self.counts, 0], reverse=True)[:2]
        return top - second

    def first_top(self) -> int | None:
        """The option with most votes; of equals the one that reached that count first. None without votes."""
        top = max(self.counts, default=0)
        leaders = [option for option, count in enumerate(self.counts) if count == top]
        return min(leaders, key=lambda option: self.reached_at[option]) if top else None


def c1_run(
    response_at: Callable[[int, int], int | None], n_options: int, min_n: int = 5, lead: int = 3, cap: int = 100
) -> dict[str, object]:
    """One item through C.1. `response_at(t, rotation)` is the option (in canonical order) voted for at attempt t = 1, 2, …
    or None when no answer could be read.

    Stops at the first t >= `min_n` with a lead of `lead`, else at `cap`. An unreadable attempt counts as an attempt and
    not as a vote. Returns {choice (None without a vote: unreadable), attempts, counts, stopped: "lead" or "cap"}.
    """
    votes = Votes([0] * n_options, [0] * n_options)
    for attempt in range(1, cap + 1):
        vote = response_at(attempt, (attempt - 1) % n_options)
        if vote is not None:
            votes.counts[vote] += 1
            votes.reached_at[vote] = attempt
        if attempt >= min_n and votes.lead() >= lead:
            return {"choice": votes.first_top(), "attempts": attempt, "counts": votes.counts, "stopped": "lead"}
    return {"choice": votes.first_top(), "attempts": cap, "counts": votes.counts, "stopped": "cap"}
