"""Claims about flips: which part of them is larger, of each cell, of a study, and of all cells together.

A cell is axis × extractor of one model. Of all its pairs of variants some flip under the compared extractor alone (A+), some
under the reference extractor alone (A-), some under both: G is no part of T, and no sentence says so. What is above the noise
floor comes first wherever both floors were measured.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.core.finish import MOST_CUT
from flipcore.extractors import title_of
from flipcore.stats.base.estimate import MIN_N, Estimate, number_text, p_text, percent_text
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.flips.contrast import Contrast, contrast, detectable_difference, fewest_items
from flipcore.stats.flips.decomposition import Decomposition

WORLDS = (
    "A = G",
    "nothing changes",
    "rare events",
    "ties",
    "concentrated artifact",
    "concentrated genuine",
    "templated items",
    "noise only",
    "cut answers",
    "unequal variants",
)
LARGER = Assertion(
    "larger part of flips",
    "more of what flips is artifact than genuine, or more genuine than artifact",
    0.05,
    2,
    "all cells of a model that are claimed together, Holm",
    WORLDS,
)
LARGER_ANYWHERE = Assertion(
    "larger part of flips, all cells",
    "some cell of a model holds more artifact than genuine, or less: headline and tally",
    0.05,
    2,
    "all cells of a model that are claimed together, Holm",
    ("A = G", "rare events", "noise only", "nothing changes"),
)
ASSERTIONS: tuple[Assertion, ...] = (LARGER, LARGER_ANYWHERE)
MORE, LESS, OPEN, FEW = "more", "less", "undecided", "few"
REFERENCE, UNDEFINED = "reference", "undefined"
BAND = "simultaneous band"  # the method of limits that hold for all cells and settings at once
WITHOUT_SPREAD = "hoeffding"  # the interval of equal values: far wider than any test of them, so no verdict waits for it
SIGNS = {MORE: "✓ A > G", LESS: "✗ A < G", OPEN: "–"}
_VERDICTS = {
    MORE: "more artifact than genuine",
    LESS: "more genuine than artifact",
    OPEN: "undecided whether more is artifact or genuine",
}


def place(one: Decomposition) -> str:
    """ "Option order, first token"."""
    axis = one.axis.replace("_", " ")
    return f"{axis[:1].upper()}{axis[1:]}, {title_of(one.extractor).lower()}"


@dataclass(frozen=True)
class Verdict:
    """What decides a cell, before a level is chosen: the guarded contrast and its p, Holm over the cells claimed together.

    `sentences[outcome]` and `headlines[outcome]` have the place {lead} for the leading number with its interval, which alone
    changes with the level; `lead` names its quantity."""

    cell: Decomposition
    contrast: Contrast
    p: float
    lead: str
    sentences: Mapping[str, str]
    headlines: Mapping[str, str]

    def outcome(self, level: float, low: float, high: float, apart: int | None = None, band: bool = False) -> str:
        """At this level, with the limits of A - G shown there: what is claimed contradicts no interval beside it. `apart` is
        1 or -1 where the rule of separate intervals is met, 0 where it is not, None under the paired rule. Infinite limits
        (`limits_to_agree_with`) leave it open. Limits of a `band` must lie on the claimed side themselves, above a floor too: p
        does not hold for whatever reference and policy is chosen after looking."""
        if np.isnan(self.p):
            return FEW
        if np.isinf(low):
            return OPEN
        if band:
            agrees = low > 0 if self.contrast.direction > 0 else high < 0
        else:
            agrees = self.contrast.above_floor or not (low <= 0 <= high)
        if not agrees or (apart is not None and apart != self.contrast.direction) or not self.p <= 1 - level + 1e-12:
            return OPEN
        return MORE if self.contrast.direction > 0 else LESS


def verdicts(
    cells: Sequence[Decomposition], closed_gates: Mapping[str, str] | None = None, temperature: float | None = None
) -> dict[tuple[str, str], Verdict]:
    """Place (axis, extractor) -> Verdict of each cell that has one. Cells behind a closed gate are no part of the family."""
    contested = [one for one in cells if _is_contested(one)]
    contrasts = {id(one): contrast(one.item_values, _worst(one), one.families) for one in contested}
    family = [one for one in contested if not _why(one, closed_gates or {})]
    adjusted = dict(zip(map(id, family), holm([contrasts[id(one)].p for one in family]), strict=True)) if family else {}
    return {
        (one.axis, one.extractor): _verdict(one, contrasts[id(one)], adjusted.get(id(one), contrasts[id(one)].p), temperature)
        for one in contested
    }


def cell_claims(
    cells: Sequence[Decomposition], closed_gates: Mapping[str, str] | None = None, temperature: float | None = None
) -> list[Claim]:
    """One claim a cell, in order. `closed_gates`: axis or extractor -> why it is not claimed; `temperature`: None where unknown."""
    by_place = verdicts(cells, closed_gates, temperature)
    n_family = sum(not _why(one, closed_gates or {}) for one in cells if _is_contested(one))
    return [_claim(one, by_place.get((one.axis, one.extractor)), closed_gates or {}, n_family, temperature) for one in cells]


def _claim(one: Decomposition, verdict: Verdict | None, closed_gates: Mapping[str, str], n_family: int, temperature) -> Claim:
    if verdict is None:
        return _undecidable(one).not_claimed(_why(one, closed_gates))
    outcome = outcome_of(verdict)
    sentence = filled(verdict.sentences[outcome], one, verdict.lead)
    claim = Claim(
        LARGER,
        outcome,
        sentence,
        outcome in (MORE, LESS),
        _detail(one, verdict, n_family, temperature),
        "",
        {"p": verdict.p, "A_plus": one.A_plus, "A_minus": one.A_minus, "both": one.both},
    )
    return claim.not_claimed(_why(one, closed_gates))


def outcome_of(verdict: Verdict) -> str:
    """At the level, interval and rule that the cell's estimates stand at."""
    one = verdict.cell
    apart = int(one.A.low > one.G.high) - int(one.A.high < one.G.low) if one.rule == "source_nonoverlap" else None
    band = one.A_minus_G.method == BAND
    return verdict.outcome(one.T.level, *limits_to_agree_with(one.A_minus_G), apart, band)


def limits_to_agree_with(contrast_estimate: Estimate) -> tuple[float, float]:
    """The limits of A − G as a verdict takes them: NaN where it need not agree with them, infinite where none may stand beside
    an interval that short."""
    if contrast_estimate.method == WITHOUT_SPREAD:
        return math.nan, math.nan
    return (-math.inf, math.inf) if contrast_estimate.is_too_short else (contrast_estimate.low, contrast_estimate.high)


def filled(sentence: str, one: Decomposition, lead: str) -> str:
    """A verdict's sentence with its leading number at the cell's own level. What its kind of interval covers is said by the menu
    that chooses it and by the table of every estimate."""
    return sentence.replace("{lead}", replace(getattr(one, lead), coverage=None).text())


def _undecidable(one: Decomposition) -> Claim:
    if np.isnan(one.T.value):
        both = f"both {title_of(one.extractor).lower()} and the reference extractor"
        if one.is_reference:
            both = "the reference extractor"
        return description(f"{place(one)}: no item is read twice by {both}, so nothing is claimed.", UNDEFINED)
    return description(f"{place(one)} is the reference extractor: {one.T.text()} of pairs flip.", REFERENCE)


def _is_contested(one: Decomposition) -> bool:
    return not one.is_reference and not np.isnan(one.T.value)


def _worst(one: Decomposition) -> tuple[np.ndarray, np.ndarray] | None:
    return (one.cut.lowest, one.cut.highest) if one.cut is not None and one.cut.share > MOST_CUT else None


def _why(one: Decomposition, closed_gates: Mapping[str, str]) -> str:
    return " ".join(
        dict.fromkeys(closed_gates[name] for name in (one.axis, one.extractor, one.reference) if name in closed_gates)
    )


def _verdict(one: Decomposition, difference: Contrast, p: float, temperature: float | None) -> Verdict:
    beyond = difference.above_floor and not (one.W.value == 0 and one.W_ref.value == 0)
    start, rates_text = place(one), three_parts(one)
    lead = "excess" if beyond else "A_plus"
    if beyond:
        floor, reference = number_text(one.W.value), number_text(one.G_excess.value)
        rates_text = f"{{lead}} of pairs flip beyond the floor {floor}, the reference {reference} beyond its own"
    few = f"too few {'items' if one.n_items == one.T.n else 'families of items'} for a claim ({one.T.n})"
    ends = {key: f"{word.split()[0] if key == OPEN else word}, {p_text(p)}" for key, word in _VERDICTS.items()}
    sentences = {key: f"{start}: {end}. {rates_text}." for key, end in (ends | {FEW: few}).items()}
    tail = "beyond the noise floor" if beyond else "under it alone"
    short = {key: f"{word}, {p_text(p)}" for key, word in _VERDICTS.items()} | {FEW: few}
    headlines = {key: f"{start}: {end}. {{lead}} of pairs flip {tail}." for key, end in short.items()}
    return Verdict(one, difference, p, lead, sentences, headlines)


def three_parts(one: Decomposition) -> str:
    """ "{lead} of pairs flip under it alone, 0.03 under the reference alone, 0.08 under both"."""
    return f"{{lead}} of pairs {_parts(one)}"


def _parts(one: Decomposition) -> str:
    alone, both = number_text(one.A_minus.value), number_text(one.both.value)
    return f"flip under it alone, {alone} under the reference alone, {both} under both"


def _parts_sentence(one: Decomposition) -> str:
    """ "Of all pairs, 0.40 [0.20, 0.60] flip under it alone, 0.03 under the reference alone, 0.08 under both."."""
    return filled(f"Of all pairs, {{lead}} {_parts(one)}.", one, "A_plus")


def floor_words(one: Decomposition, temperature: float | None = None) -> str:
    """What is known of decoding noise in a cell."""
    if np.isnan(one.W.value):
        return "Noise floor: not measured, so flips include decoding noise."
    if one.W.value == 0 and temperature == 0:
        return "Noise floor: deterministic, no floor to measure."
    under = "" if one.is_reference or np.isnan(one.W_ref.value) else f", under the reference {one.W_ref.text()}"
    return f"Noise floor: {one.W.text()}{under} ({one.floor_source})."


def cut_words(one: Decomposition) -> str:
    """How many answers were cut off and what T and G could be; empty where none was."""
    if one.cut is None or not one.cut.n:
        return ""
    t, g = (f"{number_text(low)} to {number_text(high)}" for low, high in (one.cut.T, one.cut.G))
    return f"Cut off: {one.cut.n:,} answers, {percent_text(one.cut.share, 1)} at most; whatever they were, T is {t}, G {g}."


def _detail(one: Decomposition, verdict: Verdict, n_family: int, temperature: float | None) -> str:
    parts = _parts_sentence(one) if verdict.lead == "excess" else ""
    size = f"{one.n_items:,} items" + (f" in {one.T.n:,} families" if one.T.n != one.n_items else "")
    family = f"; p over {n_family} cells (Holm)" if n_family > 1 else ""
    return " ".join(filter(None, (parts, floor_words(one, temperature), cut_words(one), f"{size}{family}.")))


def headline(
    cells: Sequence[Decomposition], closed_gates: Mapping[str, str] | None = None, temperature: float | None = None
) -> Claim:
    """The answer of a page: the largest artifact among the cells that hold more of it, or else among all cells."""
    by_place = verdicts(cells, closed_gates, temperature)
    contested = [one for one in by_place.values() if not _why(one.cell, closed_gates or {})]
    if not contested and by_place:
        why = " ".join(dict.fromkeys(_why(one.cell, closed_gates or {}) for one in by_place.values()))
        return Claim(LARGER_ANYWHERE, OPEN, "").not_claimed(why)
    if not contested:
        return description("No extractor besides the reference has a flip rate yet.", UNDEFINED)
    lead = leading([(one, outcome_of(one)) for one in contested])
    outcome = outcome_of(lead)
    sentence = filled(lead.headlines[outcome], lead.cell, lead.lead)
    detail = _detail(lead.cell, lead, len(contested), temperature)
    return Claim(LARGER_ANYWHERE, outcome, sentence, outcome in (MORE, LESS), detail, "", {"p": lead.p})


def headline_of(
    cells: Sequence[Decomposition],
    extractor: str,
    closed_gates: Mapping[str, str] | None = None,
    temperature: float | None = None,
) -> Claim:
    """The answer about one extractor, from cells over all axes (`stats.flips.pooled`) of every extractor."""
    one = next(one for one in cells if one.extractor == extractor)
    by_place = verdicts(cells, closed_gates, temperature)
    verdict = by_place.get((one.axis, extractor))
    if np.isnan(one.T.value):
        return _undecidable(one)
    if verdict is None:
        text = f"{one.T.text()} of variant pairs flip under {title_of(extractor).lower()}, which is the reference extractor."
        return description(text, REFERENCE, f"{one.n_items:,} items.")
    outcome = outcome_of(verdict)
    sentence = filled(verdict.headlines[outcome], one, verdict.lead)
    detail = _detail(one, verdict, len(by_place), temperature)
    if verdict.lead != "excess":
        detail = f"{_parts_sentence(one)} {detail}"
    claim = Claim(LARGER, outcome, sentence, outcome in (MORE, LESS), detail, "", {"p": verdict.p})
    return claim.not_claimed(_why(one, closed_gates or {}))


def leading_extractor(cells: Sequence[Decomposition], temperature: float | None = None) -> str | None:
    """Of cells over all axes (`stats.flips.pooled`) the extractor whose verdict leads; None where only the reference was read.
    Holm over all of them holds for the one that is picked."""
    by_place = verdicts(cells, None, temperature)
    return leading([(one, outcome_of(one)) for one in by_place.values()]).cell.extractor if by_place else None


def leading(decided: Sequence[tuple[Verdict, str]]) -> Verdict:
    """The one of these verdicts, each with its outcome, that a headline names."""
    larger = [one for one, outcome in decided if outcome == MORE]
    return max(larger or [one for one, _ in decided], key=lambda one: (one.cell.A.value, one.cell.T.value))


def tally(cells: Sequence[Decomposition], closed_gates: Mapping[str, str] | None = None) -> Claim:
    """How many cells hold more artifact, how many more genuine flips, how many are undecided."""
    by_place = verdicts(cells, closed_gates)
    return tally_of([outcome_of(one) for one in by_place.values() if not _why(one.cell, closed_gates or {})])


def tally_of(outcomes: Sequence[str]) -> Claim:
    """The same from the outcomes of the cells."""
    n = {key: list(outcomes).count(key) for key in (MORE, LESS, OPEN, FEW)}
    few = f", too few items in {n[FEW]}" if n[FEW] else ""
    sentence = (
        f"Of {len(outcomes)} pairings of axis and extractor: more artifact than genuine in {n[MORE]}, more genuine in "
        f"{n[LESS]}, undecided in {n[OPEN]}{few}."
    )
    if len(outcomes) < 2:
        return description("", OPEN)
    return Claim(LARGER_ANYWHERE, "tally", sentence, bool(n[MORE] + n[LESS]), numbers=n)


def lacking_reference(reference: str, extractors: Sequence[str]) -> Claim:
    """Of a model that was not read by the reference extractor that was asked for: nothing is claimed, and why."""
    there = ", ".join(map(title_of, extractors)).lower()
    why = f"the reference extractor {title_of(reference).lower()} has no readouts here; there are {there}."
    return Claim(LARGER, UNDEFINED, "").not_claimed(why)


def plan_sentence(n: int, n_cells: int) -> str:
    """What a design of `n` items read in two ways finds, by the simulated power of the rule that decides."""
    if n < MIN_N:
        return f"Below {MIN_N} items read in two ways nothing is claimed of artifact and genuine: take more items."
    cells = f" and {n_cells} pairings of axis and extractor" if n_cells > 1 else ""
    difference = detectable_difference(n, max(n_cells, 1))
    if np.isnan(difference):
        fewest, what = fewest_items(max(n_cells, 1)), "no single pairing" if n_cells > 1 else "nothing"
        pooled = " Over all changes together fewer may do." if n_cells > 1 else ""
        return (
            f"With {n:,} items{cells}, {what} would be found four times in five, however large the difference between artifact and "
            f"genuine: {fewest:,} items find one of {detectable_difference(fewest, max(n_cells, 1)):.2f} (simulated).{pooled}"
        )
    return (
        f"With {n:,} items{cells}, a difference of {difference:.2f} between artifact and genuine is found four times in five "
        "(simulated)."
    )
