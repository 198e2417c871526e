"""PEARL's cut-off alpha: three rules that set it from non-members, texts that were certainly never
trained on. `fpr` is the rate of false positives that a rule aims at.

    source      the empirical (1 - fpr) quantile (source 003); the actual rate of false positives
                exceeds fpr more often than not
    conformal   at most fpr on average over draws of non-members; needs 19 of them for 5%
    tolerance   at most fpr with 95% confidence over draws of non-members; needs 59 for 5%
                (Wilks 1941)

An item is flagged iff its sensitivity EXCEEDS alpha. In all functions `neg` are the sensitivities
of non-members; NaN is left out.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields

import numpy as np

from flipcore.core.errors import BadInput

SLACK = 1e-9  # ceil(.95 * 20) must be 19 in spite of rounding


@dataclass(frozen=True)
class Setting:
    """All that alpha depends on. An alpha must not be used in another setting."""

    model: str
    task: str
    metric: str
    compressor: str
    levels_pct: tuple[float, ...]
    n_samples: int
    mode: str = "paper"


@dataclass(frozen=True)
class Calibration:
    """An alpha and how it was set.

    alpha : the cut-off; infinite if there are too few non-members for the rule.
    k : rank of alpha among the `n` non-members; None if the rule uses no rank or found none.
    n_excluded : number of non-members without a sensitivity.
    """

    setting: Setting
    rule: str
    fpr: float
    alpha: float
    k: int | None
    n: int
    n_excluded: int

    def check(self, setting: Setting) -> None:
        """Raise BadInput if `setting` is not the one that alpha was calibrated in."""
        changes = []
        for field in fields(Setting):
            old, new = getattr(self.setting, field.name), getattr(setting, field.name)
            if new != old:
                changes.append(f"{field.name} was {old} and is {new}")
        if changes:
            raise BadInput(
                f"Alpha {self.alpha:.3g} is void because {', '.join(changes)}: calibrate again on "
                "non-members in the new setting."
            )

    def sentence(self) -> str:
        """Say what alpha promises, or how many non-members are needed to set it."""
        if math.isinf(self.alpha):
            if self.rule == "tolerance":
                n_needed = min_calibration(self.fpr)
            else:
                n_needed = math.ceil((1 - self.fpr) / self.fpr - SLACK)
            return (
                f"No α keeps false positives at {100 * self.fpr:g}% with {self.n} non-members "
                f"under the {self.rule} rule, so α is not set: {n_needed} are needed."
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


def sorted_values(values: Iterable[float]) -> np.ndarray:
    """Return the values in ascending order, without NaN."""
    array = np.asarray(list(values), dtype=float)
    return np.sort(array[~np.isnan(array)])


def alpha_source(neg: Iterable[float], fpr: float) -> tuple[float, None]:
    """Return (alpha, None), where alpha is the empirical (1 - fpr) quantile of non-members (numpy's
    linear rule), the source's rule. Alpha is infinite without a value."""
    values = sorted_values(neg)
    return (float(np.quantile(values, 1 - fpr)) if len(values) else math.inf), None


def alpha_conformal(neg: Iterable[float], fpr: float) -> tuple[float, int]:
    """Return (alpha, k), where alpha is the k-th smallest of m non-members with k = ceil((1 -
    fpr)(m + 1)). The next non-member exceeds it with probability at most fpr. Alpha is infinite if
    k > m."""
    values = sorted_values(neg)
    k = math.ceil((1 - fpr) * (len(values) + 1) - SLACK)
    return (math.inf if k > len(values) else float(values[k - 1])), k


def alpha_tolerance(
    neg: Iterable[float], fpr: float, conf: float = 0.95
) -> tuple[float, int | None]:
    """Return (alpha, k), where alpha is the k-th smallest of m non-members, with the smallest k
    that bounds the rate of false positives; (inf, None) if m is too small.

    With confidence `conf` over draws of non-members this rate is at most `fpr`.
    """
    from scipy.stats import beta

    values = sorted_values(neg)
    m = len(values)
    ranks = np.arange(1, m + 1)
    # The rate of false positives above the k-th smallest of m is Beta(m - k + 1, k).
    is_enough = beta.cdf(fpr, m - ranks + 1, ranks) >= conf
    if not is_enough.any():
        return math.inf, None
    k = int(ranks[is_enough][0])
    return float(values[k - 1]), k


# (sensitivities of non-members, rate of false positives) -> (alpha, rank)
Rule = Callable[[Iterable[float], float], tuple[float, int | None]]
RULES: dict[str, Rule] = {
    "conformal": alpha_conformal,
    "tolerance": alpha_tolerance,
    "source": alpha_source,
}


def min_calibration(fpr: float, conf: float = 0.95) -> int:
    """Return the least number of non-members for the tolerance rule: the smallest m with 1 - (1 -
    fpr)^m >= conf. Raises BadInput unless both shares are between 0 and 1."""
    if not (0 < fpr < 1 and 0 < conf < 1):
        raise BadInput(
            f"A tolerance bound needs shares between 0 and 1: got {fpr} false positives and "
            f"{conf} confidence."
        )
    return math.ceil(math.log(1 - conf) / math.log(1 - fpr) - SLACK)


def calibration(
    neg: Iterable[float], setting: Setting, fpr: float = 0.05, rule: str = "tolerance"
) -> Calibration:
    """Set alpha by `rule` from the sensitivities `neg` of non-members, measured in `setting`.

    Raises BadInput for an unknown rule.
    """
    if rule not in RULES:
        raise BadInput(f"The rule {rule!r} is not one of {', '.join(RULES)}.")
    values = np.asarray(list(neg), dtype=float)
    scores = values[~np.isnan(values)]
    alpha, k = RULES[rule](scores, fpr)
    return Calibration(
        setting,
        rule,
        fpr=fpr,
        alpha=alpha,
        k=k,
        n=len(scores),
        n_excluded=len(values) - len(scores),
    )
