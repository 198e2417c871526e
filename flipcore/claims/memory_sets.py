"""What may be said of a set of items that a per-item detector has scored: a verdict on a set is a test of the set."""

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
from flipcore.stats.base.estimate import MIN_N, number_text, p_text, percent_text
from flipcore.stats.memory.exceedance import SetTest
from flipcore.stats.memory.gap_decision import OTHER, PAIRED, RANDOM
from flipcore.stats.memory.loss_analysis import CorrectedAccuracy
from flipcore.stats.memory.loss_test import FEWEST_CONTROLS
from flipcore.text.counts import count_of

BEYOND = "beyond the control"
_SIZES = ("clean", "clean, ties", "clean, heavy tail")

SET_BEYOND = Assertion(
    "a set beyond its controls",
    "more of the set lies beyond its controls than chance explains; memory where the control is a "
    "random split",
    0.05,
    1,
    FAMILY,
    (*_SIZES, "clean, templated items"),
)
AT_LEAST = Assertion(
    "at least X % beyond chance",
    "at least this share of the set is contaminated",
    0.05,
    1,
    "each claim",
    (*_SIZES, "a tenth contaminated"),
)
ITEMS_NAMED = Assertion(
    "items named",
    "each item named is beyond the controls; of those named at most 5% falsely "
    "(Benjamini–Hochberg)",
    0.05,
    1,
    "false discoveries of one detector",
    ("clean",),
)
ANY_CUTOFF = Assertion(
    "a set beyond its controls at some cut-off",
    "at some cut-off, chosen after looking, more of the set lies beyond its controls than chance "
    "explains",
    0.05,
    1,
    f"every cut-off of one detector, among {FAMILY}",
    ("clean", "clean, ties"),
)
AT_LEAST_ANYWHERE = Assertion(
    "at least X % beyond chance at any cut-off",
    "wherever the line is dragged, at least the share printed there is contaminated",
    0.05,
    1,
    "every cut-off of one detector",
    ("clean", "clean, ties", "a tenth contaminated"),
)
ASSERTIONS = (SET_BEYOND, AT_LEAST, ITEMS_NAMED, ANY_CUTOFF, AT_LEAST_ANYWHERE)
TEMPLATED = (
    "the items are made from shared templates, and benchmark and controls from different ones. A "
    "test of single items would "
    "claim too much."
)


def set_claim(
    test: SetTest,
    items: str = "items",
    control: str = OTHER,
    adjusted: float | None = None,
    n_family: int = 1,
    templated: bool = False,
) -> Claim:
    """The verdict of one per-item detector on a whole set; `items` names them ("problems"). `adjusted` as in `gap_claim`.
    `templated` items of different templates on both sides make no claim."""
    numbers = {"test": test, "p": test.p, "p_adjusted": test.p if adjusted is None else adjusted}
    blocked = _blocked(test, items, templated)
    if blocked:
        return Claim(
            SET_BEYOND, NO_CLAIM, "No verdict on the set.", False, "", "", numbers
        ).not_claimed(blocked)
    count_text = (
        f"{test.n_beyond:,} of {test.n:,} {items} beyond the controls' mark, chance "
        f"{_count(test.chance)}"
    )
    detail = _detail(test, control, adjusted, n_family)
    p = test.p if adjusted is None else adjusted
    if not p <= FAMILY_LEVEL:
        p_shown = p_text(p) if test.p > FAMILY_LEVEL or adjusted is None else holm_text(p, n_family)
        opening = "No memory shown" if control != OTHER else "No more than chance is shown"
        return Claim(
            SET_BEYOND,
            NONE_SHOWN,
            f"{opening}: {count_text} ({p_shown}).",
            False,
            detail,
            "",
            numbers,
        )
    if control == OTHER:
        sentence = (
            f"The set lies beyond its controls: {count_text} ({p_text(p)}). Unlike controls can "
            "do the same."
        )
        return Claim(SET_BEYOND, BEYOND, sentence, True, detail, "", numbers)
    start = "Memory, if the pairs are equally hard" if control == PAIRED else "Memory"
    return Claim(
        SET_BEYOND, MEMORY, f"{start}: {count_text} ({p_text(p)}).", True, detail, "", numbers
    )


def _blocked(test: SetTest, items: str, templated: bool) -> str:
    if test.n < MIN_N:
        return f"{test.n} {items} with a score; at least {MIN_N} are needed."
    if test.m < FEWEST_CONTROLS:
        return f"{test.m} controls with a score; at least {FEWEST_CONTROLS} are needed."
    return TEMPLATED if templated else ""


def _count(x: float) -> str:
    return number_text(x, 1 if x < 99.95 else 0)


def _detail(test: SetTest, control: str, adjusted: float | None, n_family: int) -> str:
    mark = "" if math.isnan(test.mark) else f", {number_text(test.mark, 3)},"
    detail = (
        f"The mark{mark} is the {_ordinal(test.k)} of {test.m:,} controls "
        f"({CONTROL_TITLES[control]}); chance alone would put "
        f"n·k/(m + 1) = {_count(test.chance)} beyond it."
    )
    if test.spread_p < 0.05:
        detail += (
            " The benchmark's scores spread otherwise than the controls', "
            f"{number_text(test.sd, 3)} against "
            f"{number_text(test.control_sd, 3)} (standard deviations), which memory or another "
            "making can do."
        )
    if adjusted is not None and n_family > 1:
        detail += f" p is corrected for all {n_family} tests (Holm)."
    return detail


def _ordinal(k: int) -> str:
    if k == 1:
        return "largest"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th") if k % 100 not in (11, 12, 13) else "th"
    return f"{k}{ending} largest"


def at_least_claim(test: SetTest, verdict: Claim, items: str = "items") -> Claim:
    """How many at the least, where the set's own verdict is claimed."""
    numbers = {"n_least": test.n_least, "share_least": test.share_least}
    if not verdict.is_made:
        return Claim(
            AT_LEAST,
            NONE_SHOWN,
            "No share beyond chance is claimed.",
            False,
            "",
            verdict.withheld,
            numbers,
        )
    if not test.n_least:
        return Claim(
            AT_LEAST, NONE_SHOWN, "No share beyond chance can be claimed.", False, "", "", numbers
        )
    share = (
        math.floor(1000 * test.share_least + 1e-9) / 1000
    )  # rounded down: a lower bound is never printed as more
    sentence = (
        f"At least {percent_text(share, 1)} of the {test.n:,} {items} are beyond chance "
        "(one-sided 95%)."
    )
    return Claim(AT_LEAST, "at least", sentence, True, "", "", numbers)


def named_claim(n_named: int, verdict: Claim, items: str = "items") -> Claim:
    """How many single items Benjamini and Hochberg's rule names: only where the set's own verdict is claimed."""
    if not verdict.is_made:
        sentence = (
            f"{n_named:,} {items} stand out by Benjamini–Hochberg; no single one is claimed "
            "without a verdict on the set."
        )
        return description(
            sentence if n_named else f"No single one of the {items} stands out.", n_named=n_named
        )
    if not n_named:
        return description(f"No single one of the {items} can be named.", n_named=0)
    sentence = (
        f"{n_named:,} {items} are named one by one (Benjamini–Hochberg); at most 5% of them "
        "falsely, on average."
    )
    return Claim(ITEMS_NAMED, "named", sentence, True, "", "", {"n_named": n_named})


def any_cutoff_claim(
    p: float, control: str = OTHER, withheld: str = "", n_family: int = 1
) -> Claim:
    """After a drag: the Monte Carlo p of the largest excess over every cut-off, corrected for the `n_family` tests that it stands among
    (`reports.memory.moved_p`). `withheld`: why nothing is claimed of the set."""
    over = f"all cut-offs and {n_family} tests at once" if n_family > 1 else "all cut-offs at once"
    if not p <= ANY_CUTOFF.error_rate:
        sentence = (
            "After a drag: no cut-off is shown beyond which more of the set lies than chance "
            f"explains ({p_text(p)}, {over})."
        )
        return Claim(ANY_CUTOFF, NONE_SHOWN, sentence, False, "", withheld, {"p": p})
    caution = "" if control == RANDOM else " Unlike controls can do the same."
    sentence = (
        f"After a drag: at some cut-off the set lies beyond its controls ({p_text(p)}, "
        f"{over}).{caution}"
    )
    return Claim(ANY_CUTOFF, BEYOND, sentence, True, "", withheld, {"p": p})


def dragged_bound(simultaneous: bool, withheld: str = "") -> str:
    """What stands beside the share beyond chance at a line that is dragged, {low|pct} for its lower bound; "" where nothing may be
    claimed of the set."""
    if withheld:
        return ""
    if simultaneous:
        return " (lower bound {low|pct} at any cut-off, 95% confidence)"
    return " (exploratory; lower bound {low|pct} if this cut-off was fixed before looking)"


def corrected_accuracy_claim(accuracy: CorrectedAccuracy, control: str = OTHER) -> Claim:
    """Accuracy without the flagged items beside its placebo. It asserts nothing, and is no accuracy of a clean set: flagging selects
    items that are right. A random control's own accuracy is; without one nothing is given once more than half are dropped."""
    if not accuracy.n_flagged:
        return description(
            "No item lies beyond the cut-off, so accuracy stays as it is.", raw=accuracy.raw
        )
    flagged = count_of(accuracy.n_flagged, "item")
    if control == RANDOM:
        return description(
            f"Accuracy is {accuracy.raw.text_percent()}. What it would be without memory is the "
            "random control's: "
            f"{accuracy.control_raw.text_percent()}. Dropping the {flagged} beyond the cut-off "
            "leaves "
            f"{_share_text(accuracy.corrected)}: flagging selects, it does not correct.",
            raw=accuracy.raw,
            control=accuracy.control_raw,
        )
    if 2 * accuracy.n_flagged > accuracy.raw.n:
        return description(
            f"Accuracy is {accuracy.raw.text_percent()}. None is given without the {flagged} "
            "beyond the cut-off: more than half would "
            "be dropped, and those that are left were selected.",
            raw=accuracy.raw,
        )
    change = accuracy.beyond_placebo
    beyond = (
        ""
        if change != change
        else f" Beyond the placebo: {number_text(-100 * change, 1, sign=True)} points, without an "
        "interval."
    )
    return description(
        f"Accuracy is {accuracy.raw.text_percent()}, or {_share_text(accuracy.corrected)} after "
        f"dropping the {flagged} beyond the cut-off, "
        "which selects and does not correct. "
        f"Placebo (same cut-off on the controls): {accuracy.control_raw.text_percent()}, or "
        f"{_share_text(accuracy.control_corrected)} after dropping "
        f"{accuracy.n_controls_flagged:,}.{beyond}",
        raw=accuracy.raw,
        corrected=accuracy.corrected,
    )


def _share_text(share) -> str:
    if not share.n:
        return "unknown (no item is left)"
    return (
        share.text_percent()
        if share.n >= MIN_N
        else f"{share.text_percent()} (only {share.n} items are left, so no interval)"
    )
