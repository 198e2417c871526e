"""Claims about a set of items whose single items a detector has scored.

The verdict on a set is one test of the whole set, not a count of single verdicts.
"""

import math

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.claims.memory_gap import (
    CONTROL_TITLES,
    FAMILY,
    FAMILY_LEVEL,
    MEMORY,
    NO_CLAIM,
    NONE_SHOWN,
    holm_text,
)
from flipcore.stats.base.estimate import MIN_N, Estimate, number_text, p_text, percent_text
from flipcore.stats.memory.exceedance import SetTest
from flipcore.stats.memory.gap_decision import OTHER, PAIRED, RANDOM
from flipcore.stats.memory.loss_analysis import CorrectedAccuracy
from flipcore.stats.memory.loss_test import MIN_CONTROLS
from flipcore.text.counts import count_of

BEYOND = "beyond the control"
_CLEAN_WORLDS = ("clean", "clean, ties", "clean, heavy tail")

# In one Holm family with the drop gaps and all other detectors.
SET_BEYOND = Assertion(
    "a set beyond its controls",
    (
        "more of the set lies beyond its controls than chance explains; memory where the control "
        "is a random split"
    ),
    error_rate=0.05,
    sides=1,
    family=FAMILY,
    worlds=(*_CLEAN_WORLDS, "clean, templated items"),
)
AT_LEAST = Assertion(
    "at least X % beyond chance",
    "at least this share of the set is contaminated",
    error_rate=0.05,
    sides=1,
    family="each claim",
    worlds=(*_CLEAN_WORLDS, "a tenth contaminated"),
)
ITEMS_NAMED = Assertion(
    "items named",
    (
        "each item named is beyond the controls; of those named at most 5% falsely "
        "(Benjamini–Hochberg)"
    ),
    error_rate=0.05,
    sides=1,
    family="false discoveries of one detector",
    worlds=("clean",),
)
ANY_CUTOFF = Assertion(
    "a set beyond its controls at some cut-off",
    (
        "at some cut-off, chosen after looking, more of the set lies beyond its controls than "
        "chance explains"
    ),
    error_rate=0.05,
    sides=1,
    family=f"every cut-off of one detector, among {FAMILY}",
    worlds=("clean", "clean, ties"),
)
AT_LEAST_ANYWHERE = Assertion(
    "at least X % beyond chance at any cut-off",
    "wherever the line is dragged, at least the share printed there is contaminated",
    error_rate=0.05,
    sides=1,
    family="every cut-off of one detector",
    worlds=("clean", "clean, ties", "a tenth contaminated"),
)
ASSERTIONS = (SET_BEYOND, AT_LEAST, ITEMS_NAMED, ANY_CUTOFF, AT_LEAST_ANYWHERE)
TEMPLATED = (
    "the items are made from shared templates, and benchmark and controls from different ones. A "
    "test of single items would claim too much."
)


def set_claim(
    test: SetTest,
    items: str = "items",
    control: str = OTHER,
    adjusted: float | None = None,
    n_family: int = 1,
    *,
    templated: bool = False,
) -> Claim:
    """Return the verdict of one per-item detector on a whole set.

    `items` is their name ("problems"). `adjusted` and `n_family` are as in `gap_claim`. With
    `templated`, both sides are made from templates, each from its own, and nothing is claimed.
    """
    numbers = {"test": test, "p": test.p, "p_adjusted": test.p if adjusted is None else adjusted}
    why_no_claim = _why_no_claim(test, items, templated=templated)
    if why_no_claim:
        claim = Claim(SET_BEYOND, NO_CLAIM, "No verdict on the set.", numbers=numbers)
        return claim.not_claimed(why_no_claim)
    count_text = (
        f"{test.n_beyond:,} of {test.n:,} {items} beyond the controls' mark, chance "
        f"{_count_text(test.chance)}"
    )
    detail = _detail(test, control, adjusted, n_family)
    p = test.p if adjusted is None else adjusted
    # Written with `not`, so that a NaN p counts as not shown.
    if not p <= FAMILY_LEVEL:
        # If only the correction made p too large, the sentence names it.
        p_shown = p_text(p) if test.p > FAMILY_LEVEL or adjusted is None else holm_text(p, n_family)
        opening = "No memory shown" if control != OTHER else "No more than chance is shown"
        sentence = f"{opening}: {count_text} ({p_shown})."
        return Claim(SET_BEYOND, NONE_SHOWN, sentence, detail=detail, numbers=numbers)
    if control == OTHER:
        sentence = (
            f"The set lies beyond its controls: {count_text} ({p_text(p)}). Controls of "
            "another kind can do the same."
        )
        return Claim(SET_BEYOND, BEYOND, sentence, asserted=True, detail=detail, numbers=numbers)
    start = "Memory, if the pairs are equally hard" if control == PAIRED else "Memory"
    sentence = f"{start}: {count_text} ({p_text(p)})."
    return Claim(SET_BEYOND, MEMORY, sentence, asserted=True, detail=detail, numbers=numbers)


def _why_no_claim(test: SetTest, items: str, *, templated: bool) -> str:
    """Return why nothing is claimed of the set; "" if a claim is possible."""
    if test.n < MIN_N:
        return f"{test.n} {items} with a score; at least {MIN_N} are needed."
    if test.m < MIN_CONTROLS:
        return f"{test.m} controls with a score; at least {MIN_CONTROLS} are needed."
    return TEMPLATED if templated else ""


def _count_text(expected: float) -> str:
    # One decimal below 100; 99.95 would already print as "100.0".
    return number_text(expected, 1 if expected < 99.95 else 0)


def _detail(test: SetTest, control: str, adjusted: float | None, n_family: int) -> str:
    """Return the small print: the mark, the spread of both sets, and the correction."""
    mark = "" if math.isnan(test.mark) else f", {number_text(test.mark, 3)},"
    detail = (
        f"The mark{mark} is the {_ordinal(test.k)} of {test.m:,} controls "
        f"({CONTROL_TITLES[control]}); chance alone would put n·k/(m + 1) = "
        f"{_count_text(test.chance)} beyond it."
    )
    if test.spread_p < 0.05:
        detail += (
            " The benchmark's scores vary differently from the controls': standard deviation "
            f"{number_text(test.sd, 3)} against {number_text(test.control_sd, 3)}. Memory can do "
            "this, and so can another origin of the items."
        )
    if adjusted is not None and n_family > 1:
        detail += f" p is corrected for all {n_family} tests (Holm)."
    return detail


def _ordinal(k: int) -> str:
    if k == 1:
        return "largest"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    if k % 100 in (11, 12, 13):
        ending = "th"
    return f"{k}{ending} largest"


def at_least_claim(test: SetTest, verdict: Claim, items: str = "items") -> Claim:
    """Give a lower bound of the share beyond chance, if the set's own verdict is claimed."""
    numbers = {"n_least": test.n_least, "share_least": test.share_least}
    if not verdict.is_made:
        return Claim(
            AT_LEAST,
            NONE_SHOWN,
            "No share beyond chance is claimed.",
            withheld=verdict.withheld,
            numbers=numbers,
        )
    if not test.n_least:
        return Claim(
            AT_LEAST, NONE_SHOWN, "No share beyond chance can be claimed.", numbers=numbers
        )
    # Rounded down, so that the printed bound is never higher than the true one.
    share = math.floor(1000 * test.share_least + 1e-9) / 1000
    sentence = (
        f"At least {percent_text(share, 1)} of the {test.n:,} {items} are beyond chance "
        "(one-sided 95%)."
    )
    return Claim(AT_LEAST, "at least", sentence, asserted=True, numbers=numbers)


def named_claim(n_named: int, verdict: Claim, items: str = "items") -> Claim:
    """Count the items that the Benjamini-Hochberg procedure names one by one."""
    # Single items are named only if the set as a whole is shown to lie beyond its controls.
    if not verdict.is_made:
        sentence = (
            f"{n_named:,} {items} stand out by Benjamini–Hochberg; no single one is claimed "
            "without a verdict on the set."
        )
        if not n_named:
            sentence = f"No single one of the {items} stands out."
        return description(sentence, n_named=n_named)
    if not n_named:
        return description(f"No single one of the {items} can be named.", n_named=0)
    sentence = (
        f"{n_named:,} {items} are named one by one (Benjamini–Hochberg); at most 5% of them "
        "falsely, on average."
    )
    return Claim(ITEMS_NAMED, "named", sentence, asserted=True, numbers={"n_named": n_named})


def any_cutoff_claim(
    p: float, control: str = OTHER, withheld: str = "", n_family: int = 1
) -> Claim:
    """Return the verdict on a set over all cut-offs, after a user has moved the cut-off.

    `p` is the Monte Carlo p of the largest excess over all cut-offs, corrected for `n_family` tests
    (`reports.memory.moved_p`). `withheld` is the reason why nothing is claimed of the set, "" for
    none.
    """
    over = f"all cut-offs and {n_family} tests at once" if n_family > 1 else "all cut-offs at once"
    if not p <= ANY_CUTOFF.error_rate:
        sentence = (
            "After a drag: at no cut-off is it shown that more of the set lies beyond it than "
            f"chance explains ({p_text(p)}, {over})."
        )
        return Claim(ANY_CUTOFF, NONE_SHOWN, sentence, withheld=withheld, numbers={"p": p})
    caution = "" if control == RANDOM else " Controls of another kind can do the same."
    sentence = (
        f"After a drag: at some cut-off the set lies beyond its controls ({p_text(p)}, "
        f"{over}).{caution}"
    )
    return Claim(ANY_CUTOFF, BEYOND, sentence, asserted=True, withheld=withheld, numbers={"p": p})


def dragged_bound(*, is_simultaneous: bool, withheld: str = "") -> str:
    """Return the words after the share beyond chance at a cut-off that a user drags.

    The placeholder {low|percent} takes the lower bound. Return "" if `withheld` has a reason.
    """
    if withheld:
        return ""
    if is_simultaneous:
        return " (lower bound {low|percent} at any cut-off, 95% confidence)"
    return " (exploratory; lower bound {low|percent} if this cut-off was fixed before looking)"


def corrected_accuracy_claim(accuracy: CorrectedAccuracy, control: str = OTHER) -> Claim:
    """Describe the accuracy without the flagged items, compared with a placebo.

    The placebo drops controls at the same cut-off. This is not the accuracy of a clean set.
    """
    if not accuracy.n_flagged:
        return description(
            "No item lies beyond the cut-off, so accuracy stays as it is.", raw=accuracy.raw
        )
    flagged = count_of(accuracy.n_flagged, "item")
    # Flagged items tend to be answered correctly, so dropping them biases the accuracy. A random
    # control's accuracy estimates that of a clean set.
    if control == RANDOM:
        return description(
            f"Accuracy is {accuracy.raw.text_percent()}. What it would be without memory is the "
            f"random control's: {accuracy.control_raw.text_percent()}. Dropping the {flagged} "
            f"beyond the cut-off leaves {_share_text(accuracy.corrected)}: flagging selects, it "
            "does not correct.",
            raw=accuracy.raw,
            control=accuracy.control_raw,
        )
    if 2 * accuracy.n_flagged > accuracy.raw.n:
        return description(
            f"Accuracy is {accuracy.raw.text_percent()}. None is given without the {flagged} "
            "beyond the cut-off: more than half would be dropped, and those that are left were "
            "selected.",
            raw=accuracy.raw,
        )
    drop, beyond = accuracy.beyond_placebo, ""
    if not math.isnan(drop):
        # A drop is printed with a minus sign.
        points = number_text(-100 * drop, 1, sign=True)
        beyond = f" Beyond the placebo: {points} points, without an interval."
    return description(
        f"Accuracy is {accuracy.raw.text_percent()}, or {_share_text(accuracy.corrected)} after "
        f"dropping the {flagged} beyond the cut-off, which selects and does not correct. Placebo "
        f"(same cut-off on the controls): {accuracy.control_raw.text_percent()}, or "
        f"{_share_text(accuracy.control_corrected)} after dropping "
        f"{accuracy.n_controls_flagged:,}.{beyond}",
        raw=accuracy.raw,
        corrected=accuracy.corrected,
    )


def _share_text(share: Estimate) -> str:
    if not share.n:
        return "unknown (no item is left)"
    if share.n < MIN_N:
        return f"{share.text_percent()} (only {share.n} items are left, so no interval)"
    return share.text_percent()
