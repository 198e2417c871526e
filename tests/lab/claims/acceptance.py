"""When a claim's simulated false-claim rate is accepted."""

from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.stats.base.multiplicity import holm
from flipcore.stats.base.proportions import clopper_pearson
from tests.lab.claims.traces import Trace

ALPHA, MOST = 0.05, 1.2
SLACK_SE = 2.0  # of a sample with fewer runs than the table's, in Monte Carlo standard errors


@dataclass(frozen=True)
class Row:
    """One finished cell.

    `nominal` is the assertion's error rate, `commit` what it was run on, `trace` what its first
    runs decided (None where that was not recorded).
    """

    name: str
    claim: str
    world: str
    n: str
    truth: str
    n_asserted: int
    n_runs: int
    nominal: float
    commit: str
    trace: Trace | None = None

    @property
    def rate(self) -> float:
        return self.n_asserted / self.n_runs

    @property
    def limits(self) -> tuple[float, float]:
        """Clopper-Pearson, 95%."""
        low, high = clopper_pearson(self.n_asserted, self.n_runs)
        return low, high

    @property
    def p(self) -> float:
        """One-sided exact p of the rate being no more than nominal; below .05 where the lower 95% bound exceeds it."""
        from scipy.special import bdtrc

        return float(bdtrc(self.n_asserted - 1, self.n_runs, self.nominal)) if self.n_asserted else 1.0


def failures(rows: Sequence[Row], *, slack: bool = False) -> dict[str, str]:
    """Name of a null row -> why it fails: its lower 95% bound exceeds nominal, or its point 1.2 × nominal.

    With `slack`, for a sample with few runs, the bound is Holm's over all null rows and the point
    may exceed its limit by two Monte Carlo standard errors: true claims would fail otherwise.
    """
    null = [row for row in rows if row.truth == "null"]
    adjusted = holm([row.p for row in null]) if null else []
    out = {}
    for row, p in zip(null, adjusted, strict=True):
        most = MOST * row.nominal
        allowed = most + SLACK_SE * (most * (1 - most) / row.n_runs) ** 0.5 if slack else most
        if p < ALPHA if slack else row.limits[0] > row.nominal:
            out[row.name] = f"its lower bound exceeds {row.nominal:g}"
        elif row.rate > allowed + 1e-12:
            out[row.name] = f"{row.rate:.4f} is above {allowed:.4f}"
    return out
