"""Gates: the evidence that is needed before paraphrases or a judge may enter an estimate.

A gate tests the lower bound, never the value itself, and says how much more evidence would open it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.agreement import Agreement, cohen_log_agreement
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, number_text, p_text, percent_text
from flipcore.stats.base.intervals import wilson
from flipcore.stats.base.paired import mcnemar
from flipcore.text.counts import count_of

# Wilson's lower bound over 50 pairs reaches .80 if 46 or more are accepted.
ACCEPTANCE, MIN_PAIRS = 0.80, 50
MANY_LOOKS = 500  # pairs, one look each
KAPPA, MIN_LABELS = 0.60, 100
# Texts that the position test needs, and prompts that the re-ask test needs: fewer show nothing.
MIN_TEST_CASES = 30
# Largest upper bound of the share of prompts that a judge reads differently when asked again. With
# kappa = 0.60 and even odds it differs from people on 0.20 of them, so from itself on no more.
MAX_CHANGED = 0.20
MAX_MORE_PAIRS = 100_000  # a gate that needs more further pairs never opens


@dataclass(frozen=True)
class ParaphraseGate:
    """Acceptance of the reviewed pairs of one dataset and generator.

    `n_more` is the number of further pairs that would open the gate if accepted at the same rate;
    None if that rate never opens it. `n_chosen` reviewed pairs were selected by somebody, not drawn
    at random, and do not count.
    """

    accepted: Estimate
    n_more: int | None
    threshold: float = ACCEPTANCE
    fewest: int = MIN_PAIRS
    n_chosen: int = 0

    @property
    def is_open(self) -> bool:
        return self.accepted.n >= self.fewest and self.accepted.low >= self.threshold

    @property
    def holds_at_any_look(self) -> bool:
        """True for an open gate whose evidence allows for reviewing until the gate opened."""
        n = self.accepted.n
        return self.is_open and holds_at_any_look(round(self.accepted.value * n), n, self.threshold)

    def looks_sentence(self) -> str:
        """Say whether repeated looks could have opened the gate; "" while it is closed."""
        if not self.is_open:
            return ""
        if self.holds_at_any_look:
            return "This holds however often the gate was looked at."
        share = percent_text(false_openings(_opens, self.threshold, MANY_LOOKS))
        return (
            "This holds if the number of pairs was fixed beforehand: reviewing until it opens "
            f"passes {share} of sources at exactly {percent_text(self.threshold)}, within "
            f"{MANY_LOOKS} pairs."
        )

    def sentence(self) -> str:
        """Say whether the gate is open, and if not, what would open it."""
        if not self.accepted.n:
            subject = "No pair drawn at random has" if self.n_chosen else "No pair has"
            return f"{subject} been reviewed yet; {self.fewest} are needed.{self.chosen_text}"
        if self.is_open:
            return (
                f"{self.acceptance_text}, and the lower bound reaches "
                f"{percent_text(self.threshold)}: these paraphrases may be used.{self.chosen_text}"
            )
        n = self.accepted.n
        if (
            self.n_more is None
            and n < self.fewest
            # A good generator may start with a few refused pairs: below MIN_N never discard it.
            and (n < MIN_N or self.accepted.high >= self.threshold)
        ):
            reviewed = f"{n:,} of {self.fewest} reviewed"
            return f"{self.missing} Too early to tell: {reviewed}.{self.chosen_text}"
        if self.n_more is None:
            return (
                f"{self.acceptance_text}: at that rate the lower bound never reaches "
                f"{percent_text(self.threshold)}. Discard this generator's "
                f"paraphrases.{self.chosen_text}"
            )
        return (
            f"{self.missing} Review {self.n_more:,} more to open the gate if they are accepted at "
            f"the same rate.{self.chosen_text}"
        )

    @property
    def chosen_text(self) -> str:
        """Say how many reviewed pairs do not count, after a leading space; "" for 0."""
        if not self.n_chosen:
            return ""
        subject = count_of(self.n_chosen, "reviewed pair was", "reviewed pairs were")
        return (
            f" {subject} chosen, not drawn at random, or came in by a file. Such pairs count once "
            "a reviewer's random order has reached them, or once all pairs are reviewed."
        )

    @property
    def acceptance_text(self) -> str:
        n = self.accepted.n
        interval = self.accepted.text_percent() if n >= MIN_N else "too few for an interval"
        return (
            f"{round(self.accepted.value * n):,} of {n:,} reviewed pairs were accepted, {interval}"
        )

    @property
    def missing(self) -> str:
        """Say what a closed gate lacks: pairs, a higher bound, or both."""
        lacking = []
        if self.accepted.n < self.fewest:
            lacking.append(f"at least {self.fewest} reviewed pairs")
        if self.accepted.low < self.threshold:
            lacking.append(f"a lower bound of {percent_text(self.threshold)}")
        return f"{self.acceptance_text}; the gate wants {' and '.join(lacking)}."


def paraphrase_gate(
    n_accepted: int,
    n_reviewed: int,
    threshold: float = ACCEPTANCE,
    fewest: int = MIN_PAIRS,
    *,
    n_chosen: int = 0,
) -> ParaphraseGate:
    """Return the gate, which is open if Wilson's lower bound of acceptance reaches `threshold`.

    At least `fewest` reviewed pairs are needed. `n_chosen` further pairs were selected by somebody
    and are not among `n_reviewed`.
    """
    low, high = wilson(n_accepted, n_reviewed)
    rate = n_accepted / n_reviewed if n_reviewed else math.nan
    estimate = Estimate(rate, low, high, level=0.95, method="wilson", n=n_reviewed, seed=None)
    return ParaphraseGate(
        estimate,
        n_more_pairs(n_accepted, n_reviewed, threshold, fewest),
        threshold,
        fewest,
        n_chosen,
    )


def _opens(n_accepted: int, n_reviewed: int) -> bool:
    """Return True if these counts open the gate at the default threshold."""
    return n_reviewed >= MIN_PAIRS and wilson(n_accepted, n_reviewed)[0] >= ACCEPTANCE


def n_more_pairs(
    n_accepted: int, n_reviewed: int, threshold: float = ACCEPTANCE, fewest: int = MIN_PAIRS
) -> int | None:
    """Return the fewest further pairs, accepted at the rate so far, that open the gate; 0 if it is
    open, None if none do. Without a review the rate is taken as 1, so the answer is `fewest`."""
    rate = n_accepted / n_reviewed if n_reviewed else 1.0

    def opens(n_more: int) -> bool:
        n = n_reviewed + n_more
        return n >= fewest and wilson(n_accepted + rate * n_more, n)[0] >= threshold

    if not opens(MAX_MORE_PAIRS):
        return None
    # The bound rises with n at a fixed rate, so bisection finds the first n that opens the gate.
    low, high = -1, MAX_MORE_PAIRS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if opens(middle) else (middle, high)
    return high


def few_pairs_sentence(n_pairs: int) -> str:
    """Say that `n_pairs` in all are too few to ever open the gate; "" if they are enough."""
    if n_pairs >= MIN_PAIRS:
        return ""
    return (
        f"With {count_of(n_pairs, 'pair')} nothing can be claimed, however they are judged; from"
        f" {MIN_PAIRS} on it can. Bring {MIN_PAIRS - n_pairs} more in."
    )


@dataclass(frozen=True)
class PositionBias:
    """Changes of a judge's answers when the options are listed backwards, and their exact `p`.
    `n_first` (`n_last`) changed answers choose the option listed earlier (later) both times.
    `flip_rate` is the share of changed answers, where unreadable counts as an answer."""

    n_first: int
    n_last: int
    p: float
    flip_rate: Estimate

    def sentence(self) -> str:
        if not self.flip_rate.n:
            return "The judge has not been asked with the options in both orders."
        changed = (
            f"Turning the options round changes {self.flip_rate.text_percent()} of the judge's "
            f"{self.flip_rate.n} readouts"
        )
        if self.p >= 0.05:
            return f"{changed}; no favour for a position is shown ({p_text(self.p)})."
        return (
            f"{changed}, and favours the {'first' if self.n_first > self.n_last else 'last'} "
            f"option ({p_text(self.p)})."
        )


def position_bias(forwards: Sequence[int | None], backwards: Sequence[int | None]) -> PositionBias:
    """Test a judge's readouts of the same texts under both option orders, by exact McNemar.

    Values are positions in the FORWARDS list, None if unreadable. In a pair (i, j) with i < j
    the judge chose the earlier-listed option both times, with i > j the later-listed. Raises
    BadInput for unequal lengths.
    """
    if len(forwards) != len(backwards):
        raise BadInput(
            f"Both orders must cover the same texts: got {len(forwards)} and {len(backwards)}."
        )
    read_pairs = [
        (i, j) for i, j in zip(forwards, backwards, strict=True) if i is not None and j is not None
    ]
    n_first, n_last = sum(i < j for i, j in read_pairs), sum(i > j for i, j in read_pairs)
    n = len(forwards)
    # An answer that becomes unreadable has changed too, but favours no position.
    n_changed = sum(i != j for i, j in zip(forwards, backwards, strict=True))
    low, high = wilson(n_changed, n)
    rate = Estimate(
        n_changed / n if n else math.nan, low, high, level=0.95, method="wilson", n=n, seed=None
    )
    return PositionBias(n_first, n_last, mcnemar(n_first, n_last)["exact"] if n else math.nan, rate)


@dataclass(frozen=True)
class JudgeGate:
    """Three tests of a judge, which must pass all of them.

    1. `agreement` with people beyond chance: the lower bound of kappa.
    2. The position test, exact McNemar on reversed options. `position` is None if it was not
       run; `has_options` is False if there are no options to reverse.
    3. Reruns: `rerun_changes` is the share of prompts read differently the second time, missing
       where no prompt was sent twice.

    `misread` names the models whose texts the judge reads with a kappa shown to be below the
    threshold.
    """

    agreement: Agreement
    position: PositionBias | None
    rerun_changes: Estimate
    has_options: bool = True
    threshold: float = KAPPA
    fewest: int = MIN_LABELS
    misread: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        return not self.reasons

    @property
    def n_more(self) -> int:
        """Number of labels that are still needed."""
        return max(0, self.fewest - self.agreement.n_items)

    @property
    def reasons(self) -> tuple[str, ...]:
        """One clause per failed test, saying what it lacks; empty for an open gate."""
        clauses = (
            self._labels_missing(),
            self._models_missing(),
            self._position_missing(),
            self._reruns_missing(),
        )
        return tuple(clause for clause in clauses if clause)

    def _labels_missing(self) -> str:
        if not self.agreement.n_items:
            return f"nobody has labelled what it read; {self.fewest} labels are needed"
        if self.n_more:
            return f"{self.n_more} more labels are needed"
        # Written so that a missing (NaN) bound keeps the gate closed.
        if self.agreement.estimate.low >= self.threshold:
            return ""
        return f"the lower bound must reach {number_text(self.threshold)}"

    def _models_missing(self) -> str:
        if not self.misread:
            return ""
        return f"it reads otherwise than people do the texts of {', '.join(self.misread)}"

    def _position_missing(self) -> str:
        if not self.has_options:
            return ""
        n = self.position.flip_rate.n if self.position else 0
        if n < MIN_TEST_CASES:
            return (
                f"the position test needs {MIN_TEST_CASES} texts judged with the options backwards "
                f"too and has {n}"
            )
        if not self.position or not self.position.p < 0.05:
            return ""
        return f"it favours a position ({p_text(self.position.p)})"

    def _reruns_missing(self) -> str:
        changes = self.rerun_changes
        if changes.n < MIN_TEST_CASES:
            return (
                f"the re-ask test needs {MIN_TEST_CASES} prompts sent to it twice and has "
                f"{changes.n}"
            )
        if changes.high <= MAX_CHANGED:
            return ""
        clause = (
            f"it reads {changes.text_percent()} of {changes.n} prompts differently when asked again"
        )
        return f"{clause}, where the upper bound must be {percent_text(MAX_CHANGED)} or less"

    def sentence(self) -> str:
        labels_text = f"{self.agreement.n_items:,} label{'s' if self.agreement.n_items > 1 else ''}"
        agreement_text = f"kappa {self.agreement.estimate.text()} on {labels_text}"
        if math.isnan(self.agreement.estimate.value):
            agreement_text = (
                f"people and judge give one and the same answer to all {labels_text}, which says "
                "nothing beyond chance"
            )
        if self.is_open:
            return f"The judge passes: {agreement_text}."
        reasons = "; ".join(self.reasons)
        if not self.agreement.n_items:
            return f"The judge has not passed yet: {reasons}."
        verdict = "has not passed yet" if self.n_more else "does not pass"
        return f"The judge {verdict}: {agreement_text}; {reasons}."


def judge_gate(
    human: Sequence,
    judge: Sequence,
    position: PositionBias | None = None,
    rerun_changes: Estimate | None = None,
    *,
    has_options: bool = True,
    misread: tuple[str, ...] = (),
) -> JudgeGate:
    """Return the gate on Cohen's kappa of `judge` against `human` labels of the same texts. None
    (unreadable) is a label too: leaving it out would hide a judge that cannot read."""
    human = ["unreadable" if label is None else label for label in human]
    judge = ["unreadable" if label is None else label for label in judge]
    agreement = cohen_log_agreement(human, judge)
    return JudgeGate(
        agreement,
        position,
        missing() if rerun_changes is None else rerun_changes,
        has_options,
        misread=misread,
    )


# Reviewing until a gate opens repeats its test after every pair. The functions below say how often
# such a gate opens falsely, and give evidence that holds at every look. That evidence is a mixture
# of likelihood ratios (Ville's inequality; Robbins 1970): under the null, its supremum over all
# looks reaches 1/e with a chance of at most e.


ANY_LOOK = 0.03  # the error of a single look at the gate, here kept over all looks


def evidence(n_accepted: int, n_reviewed: int, threshold: float) -> float:
    """Return the likelihood ratio of an acceptance above `threshold` against exactly `threshold`.
    Above means uniform on (threshold, 1). It is 1 without a pair."""
    from scipy.special import betainc, betaln

    k, n = n_accepted, n_reviewed
    above = 1.0 - float(betainc(k + 1, n - k + 1, threshold))
    if above <= 0:
        return 0.0
    # On the log scale, because the products of powers underflow from some hundred pairs on.
    mixture = float(betaln(k + 1, n - k + 1)) + math.log(above) - math.log(1 - threshold)
    return math.exp(mixture - k * math.log(threshold) - (n - k) * math.log(1 - threshold))


def holds_at_any_look(n_accepted: int, n_reviewed: int, threshold: float) -> bool:
    """Return True if the evidence holds however often it was looked at.

    At an acceptance of exactly `threshold`, the chance that the evidence gets so large at any look
    is at most `ANY_LOOK`.
    """
    return evidence(n_accepted, n_reviewed, threshold) >= 1 / ANY_LOOK


@cache
def false_openings(opens: Callable[[int, int], bool], rate: float, n_pairs: int) -> float:
    """Return the exact chance that a gate with the rule `opens`(accepted, reviewed) ever opens. The
    gate is looked at after each of `n_pairs` pairs, and each is accepted with the chance `rate`."""
    chance, total = np.ones(1), 0.0  # chance[k]: k pairs accepted so far and the gate still closed
    for n in range(1, n_pairs + 1):
        chance = np.append(chance * (1 - rate), 0.0) + np.append(0.0, chance * rate)
        is_open = np.array([opens(k, n) if chance[k] > 0 else False for k in range(n + 1)])
        total += float(chance[is_open].sum())
        # Reviewing ends when the gate opens, so these counts continue no further.
        chance[is_open] = 0.0
    return total
