"""PEARL's cut-off: three ways to set alpha from texts that were certainly never trained on, and
the promise of each.

    source      the empirical (1 - fpr) quantile; its realised rate exceeds fpr more often than not
                (source 003)
    conformal   at most fpr on average over calibration draws; needs 19 non-members for 5%
    tolerance   at most fpr with 95% confidence over calibration draws; needs 59 for 5% (Wilks 1941)

An item is memorized iff its sensitivity EXCEEDS alpha. NaN sensitivities are left out and counted
by the caller.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from flipcore.core.errors import BadInput

RULES = ("source", "conformal", "tolerance")
SLACK = 1e-9  # ceil of .95 * 20 must be 19 whatever the last bit of .95 is


@dataclass(frozen=True)
class Setting:
    """All that alpha depends on; change one and alpha is void."""

    model: str
    task: str
    metric: str
    compressor: str
    levels_pct: tuple[float, ...]
    n_samples: int
    mode: str = "paper"


@dataclass(frozen=True)
class Calibration:
    """An alpha and its origin: `k` is its rank among `n` non-members, None if no rank will do."""

    setting: Setting
    rule: str
    fpr: float
    alpha: float
    k: int | None
    n: int
    n_excluded: int

    def check(self, setting: Setting) -> None:
        """Raise BadInput if `setting` is not the one that alpha was calibrated in."""
        changed = [
            field.name
            for field in fields(Setting)
            if getattr(setting, field.name) != getattr(self.setting, field.name)
        ]
        if changed:
            was = ", ".join(
                f"{name} was {getattr(self.setting, name)} and is {getattr(setting, name)}"
                for name in changed
            )
            raise BadInput(
                f"Alpha {self.alpha:.3g} is void because {was}: calibrate again on non-members in "
                "the new setting."
            )

    def sentence(self) -> str:
        """Say what alpha promises, or how many non-members it lacks."""
        if math.isinf(self.alpha):
            if self.rule == "tolerance":
                need = min_calibration(self.fpr)
            else:
                need = math.ceil((1 - self.fpr) / self.fpr - SLACK)
            return (
                f"No α keeps false positives at {100 * self.fpr:g}% with {self.n} non-members "
                f"under the {self.rule} rule, so α is not set: {need} are needed."
            )
        share = f"{100 * self.fpr:g}%"
        promise = {
            "source": (
                f"it is their own {100 - 100 * self.fpr:g}% quantile, which promises nothing "
                "about the next ones"
            ),
            "conformal": f"on average at most {share} of texts like them exceed it",
            "tolerance": f"with 95% confidence at most {share} of texts like them exceed it",
        }[self.rule]
        return f"α comes from {self.n} non-members: {promise}."


def _finite(neg: Iterable[float]) -> np.ndarray:
    values = np.asarray(list(neg), dtype=float)
    return np.sort(values[~np.isnan(values)])


def alpha_source(neg: Iterable[float], fpr: float) -> tuple[float, None]:
    """Return the source's alpha: the empirical (1 - fpr) quantile of non-members (numpy's linear
    rule). No value: (inf, None)."""
    values = _finite(neg)
    return (float(np.quantile(values, 1 - fpr)), None) if len(values) else (math.inf, None)


def alpha_conformal(neg: Iterable[float], fpr: float) -> tuple[float, int]:
    """Return (alpha, k): the k-th smallest, k = ceil((1 - fpr)(m + 1)); inf if k > m. P(next
    non-member exceeds it) <= fpr."""
    values = _finite(neg)
    k = math.ceil((1 - fpr) * (len(values) + 1) - SLACK)
    return (math.inf if k > len(values) else float(values[k - 1]), k)


def alpha_tolerance(
    neg: Iterable[float], fpr: float, conf: float = 0.95
) -> tuple[float, int | None]:
    """Return (alpha, k): the smallest k with P(Beta(m - k + 1, k) <= fpr) >= conf; (inf, None) if m
    is too small.

    With probability `conf` over the draw of non-members the false-positive rate of the cut-off is
    at most `fpr`.
    """
    from scipy.stats import beta

    values = _finite(neg)
    m = len(values)
    ranks = np.arange(1, m + 1)
    # The share of non-members above the k-th smallest of m is Beta(m - k + 1, k).
    enough = np.flatnonzero(beta.cdf(fpr, m - ranks + 1, ranks) >= conf)
    return (float(values[enough[0]]), int(ranks[enough[0]])) if len(enough) else (math.inf, None)


def min_calibration(fpr: float, conf: float = 0.95) -> int:
    """Return the smallest m with 1 - (1 - fpr)^m >= conf: enough non-members for an alpha."""
    if not (0 < fpr < 1 and 0 < conf < 1):
        raise BadInput(
            f"A tolerance bound needs shares between 0 and 1: came {fpr} false positives and "
            f"{conf} confidence."
        )
    return math.ceil(math.log(1 - conf) / math.log(1 - fpr) - SLACK)


def calibration(
    neg: Iterable[float], setting: Setting, fpr: float = 0.05, rule: str = "tolerance"
) -> Calibration:
    """Set alpha by `rule` from the sensitivities of non-members measured in `setting`."""
    if rule not in RULES:
        raise BadInput(f"The rule {rule!r} is not one of {', '.join(RULES)}.")
    values = np.asarray(list(neg), dtype=float)
    scores = values[~np.isnan(values)]
    compute_alpha = {
        "source": alpha_source,
        "conformal": alpha_conformal,
        "tolerance": alpha_tolerance,
    }[rule]
    alpha, k = compute_alpha(scores, fpr)
    return Calibration(setting, rule, fpr, alpha, k, len(scores), len(values) - len(scores))
