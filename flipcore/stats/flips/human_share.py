"""G as people see it: the shares of the reviewed flips that the model made, or the extractor alone.

A flip marked genuine is the model's, one marked artifact the extractor's, an ambiguous one could be
either. So G lies between T times the share marked genuine and T times the share not marked
artifact. The source does not define this; it stands beside the measured G and never replaces it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flipcore.stats.base.estimate import Estimate, number_text
from flipcore.stats.base.intervals import wilson

VERDICTS = ("genuine", "artifact", "ambiguous")
FEWEST = 10


@dataclass(frozen=True)
class HumanShare:
    """`n` flips by what most who marked them said. `low` and `high` bound the share of T that is
    genuine, as counted; `interval` holds both ends at `level`."""

    n_genuine: int
    n_artifact: int
    n_ambiguous: int
    level: float = 0.95

    @property
    def n(self) -> int:
        return self.n_genuine + self.n_artifact + self.n_ambiguous

    @property
    def interval(self) -> tuple[float, float]:
        """The interval from Wilson's lower end of the share marked genuine to its upper end of the
        share not marked artifact."""
        return (
            wilson(self.n_genuine, self.n, self.level)[0],
            wilson(self.n_genuine + self.n_ambiguous, self.n, self.level)[1],
        )

    def bounds(self, total: Estimate) -> tuple[float, float, float, float]:
        """Return (low, high) of G as counted and (low, high) with the uncertainty of both T and the
        share; NaN without marks.

        The outer pair multiplies the ends of two intervals, so it holds with at least 1 - 2(1 -
        level).
        """
        if not self.n:
            return (float("nan"),) * 4
        share_low = self.n_genuine / self.n
        share_high = (self.n_genuine + self.n_ambiguous) / self.n
        low, high = self.interval
        return total.value * share_low, total.value * share_high, total.low * low, total.high * high

    def sentence(self, total: Estimate, genuine_rate: Estimate) -> str:
        """Say how people judged the flips, beside the measured G."""
        if not self.n:
            return "Nobody has marked a flip under this extractor yet."
        counts_text = (
            f"Of {self.n} marked flips {self.n_genuine} are genuine, {self.n_artifact} artifact "
            f"and {self.n_ambiguous} unclear"
        )
        if self.n < FEWEST:
            return f"{counts_text}; {FEWEST} are needed before they bound anything."
        low, high, outer_low, outer_high = map(number_text, self.bounds(total))
        between = f"{low} and {high} [{outer_low}, {outer_high}]"
        return (
            f"{counts_text}: by that G lies between {between}; measured it is "
            f"{genuine_rate.text_percent()}."
        )


def human_share(marks: Sequence[Mapping[str, object]], level: float = 0.95) -> HumanShare:
    """Count `marks` {flip, reviewer, verdict}, oldest first; a reviewer's last word on a flip
    counts, then the majority of reviewers, and a tie is ambiguous."""
    votes_by_flip: dict[object, dict[object, str]] = {}
    for mark in marks:
        # Assigned in the order of time, so the last word of a reviewer stays.
        votes_by_flip.setdefault(mark["flip"], {})[mark["reviewer"]] = str(mark["verdict"])
    counts = dict.fromkeys(VERDICTS, 0)
    for votes in votes_by_flip.values():
        tally = [list(votes.values()).count(verdict) for verdict in VERDICTS]
        most = max(tally)
        counts[VERDICTS[tally.index(most)] if tally.count(most) == 1 else "ambiguous"] += 1
    return HumanShare(counts["genuine"], counts["artifact"], counts["ambiguous"], level)
