"""Bounds of G (the flip rate of the model itself) from flips that people marked.

People mark a flip as genuine (the model's), artifact (the extractor's) or ambiguous (could be
either). So G lies between T times the share marked genuine and T times the share not marked
artifact. The source does not define this; it is shown with the measured G and never replaces it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flipcore.stats.base.estimate import Estimate, number_text
from flipcore.stats.base.intervals import wilson

VERDICTS = ("genuine", "artifact", "ambiguous")
MIN_MARKED = 10


@dataclass(frozen=True)
class HumanShare:
    """Numbers of flips by the verdict of the majority of their reviewers. `level` is the confidence
    level of `interval`."""

    n_genuine: int
    n_artifact: int
    n_ambiguous: int
    level: float = 0.95

    @property
    def n(self) -> int:
        return self.n_genuine + self.n_artifact + self.n_ambiguous

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of the genuine share of T: from Wilson's lower limit of the share marked genuine
        to Wilson's upper limit of the share not marked artifact."""
        low, _ = wilson(self.n_genuine, self.n, self.level)
        _, high = wilson(self.n_genuine + self.n_ambiguous, self.n, self.level)
        return low, high

    def bounds(self, total: Estimate) -> tuple[float, float, float, float]:
        """Return (low, high, outer_low, outer_high) of G; NaN without marks.

        `low` and `high` are the counted shares times T. The outer bounds include the uncertainty of
        T and of the shares. They multiply the limits of two intervals, so their confidence is at
        least 1 - 2 (1 - level).
        """
        if not self.n:
            return (float("nan"),) * 4
        share_low = self.n_genuine / self.n
        share_high = (self.n_genuine + self.n_ambiguous) / self.n
        low, high = self.interval
        return total.value * share_low, total.value * share_high, total.low * low, total.high * high

    def sentence(self, total: Estimate, genuine_rate: Estimate) -> str:
        """Say how people judged the flips, with the measured G for comparison."""
        if not self.n:
            return "Nobody has marked a flip under this extractor yet."
        counts_text = (
            f"Of {self.n} marked flips {self.n_genuine} are genuine, {self.n_artifact} artifact "
            f"and {self.n_ambiguous} unclear"
        )
        if self.n < MIN_MARKED:
            return f"{counts_text}; {MIN_MARKED} are needed before they bound anything."
        low, high, outer_low, outer_high = map(number_text, self.bounds(total))
        return (
            f"{counts_text}: by that G lies between {low} and {high} [{outer_low}, {outer_high}]; "
            f"measured it is {genuine_rate.text_percent()}."
        )


def human_share(marks: Sequence[Mapping[str, object]], level: float = 0.95) -> HumanShare:
    """Count flips by their verdict. `marks` are {flip, reviewer, verdict}, oldest first.

    The last mark of a reviewer on a flip counts. The verdict on a flip is that of most reviewers,
    "ambiguous" in a tie.
    """
    verdicts_by_flip: dict[object, dict[object, str]] = {}
    for mark in marks:
        # Marks are in order of time, so a later mark of a reviewer replaces the earlier one.
        verdicts_by_flip.setdefault(mark["flip"], {})[mark["reviewer"]] = str(mark["verdict"])
    counts = dict.fromkeys(VERDICTS, 0)
    for verdict_of_reviewer in verdicts_by_flip.values():
        votes = Counter(verdict_of_reviewer.values())
        n_most = max(votes[verdict] for verdict in VERDICTS)
        winners = [verdict for verdict in VERDICTS if votes[verdict] == n_most]
        counts[winners[0] if len(winners) == 1 else "ambiguous"] += 1
    return HumanShare(counts["genuine"], counts["artifact"], counts["ambiguous"], level)
