"""Claims about flips: what they are artifacts of, or that they are genuine; of each cell, of a study, and of all cells together.

A cell is axis × extractor of one model. Of all its pairs of variants some flip under the compared extractor alone (A+), some
under the reference extractor alone (A-), some under both: G is no part of T, and no sentence says so. What is above the noise
floor comes first wherever a floor was measured, and without one nothing is said to be genuine.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.extractors import title_of
from flipcore.stats.base.estimate import MIN_N, number_text, p_text, percent_text
from flipcore.stats.base.guarded import CLUSTERS_LIKE_SEEN
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.flips.contrast import PartsTest, parts_test
from flipcore.stats.flips.decomposition import PARTS, THREE, Decomposition, stated_parts
from flipcore.stats.flips.pooled import ALL_AXES
from flipcore.stats.flips.power import BOTH, detectable_difference, elsewhere, fewest_items
from flipcore.stats.flips.unread import RATES
from flipcore.text.counts import count_of

WORLDS = (
    "only the compared extractor misreads",
    "only the reference misreads",
    "half of what flips is genuine",
    "one part as large as both",
    "nothing changes",
    "rare events",
    "ties",
    "concentrated artifact",
    "concentrated genuine",
    "templated items",
    "noise only",
    "noise without reruns",
    "cut where the reference flips",
    "one option always, one wording of four read",
    "failed calls",
    "unequal variants",
)
WHOSE = Assertion(
    "artifact or genuine",
    "more pairs flip under one extractor alone than under both, or more under both than under "
    "either alone",
    0.05,
    1,
    "three contrasts of all cells of a model that are claimed together, Holm",
    WORLDS,
)
ANYWHERE = Assertion(
    "artifact or genuine, all cells",
    "the same of some cell of a model: headline and tally",
    0.05,
    1,
    "three contrasts of all cells of a model that are claimed together, Holm",
    ("one part as large as both", "rare events", "noise only", "nothing changes"),
)
PLAN = Assertion(
    "plan of flips",
    "artifact of the size that the plan names is found four times in five (false: it is missed)",
    0.20,
    1,
    "each plan",
    ("the assumed world",),
)
ASSERTIONS: tuple[Assertion, ...] = (WHOSE, ANYWHERE, PLAN)
ARTIFACT, OF_REFERENCE, OF_BOTH, GENUINE = (
    "artifact",
    "artifact of the reference",
    "artifact of both",
    "genuine",
)
CLAIMED = (ARTIFACT, OF_REFERENCE, OF_BOTH, GENUINE)
OPEN, FEW, REFERENCE, UNDEFINED = "undecided", "few", "reference", "undefined"
ABOVE, BELOW = "A above G", "A below G"  # by a rule of the source: a description
BAND = "simultaneous band"  # the method of limits that hold for all cells and settings at once
_WORDS = {
    ARTIFACT: "mostly the extractor, not the model",
    OF_REFERENCE: "mostly the reference extractor, not the model",
    OF_BOTH: "mostly the extractors, not the model",
    GENUINE: "mostly the model, not the extractor",
    OPEN: "undecided",
    ABOVE: "A is above G by the source's rule",
    BELOW: "A is below G by the source's rule",
}
# over all changes the sentence is a page's headline: in words that need no glossary, with what decides it behind it
_ANSWERS = {
    ARTIFACT: "{lead} of answers change only because of how they are read ({reader}){noise}",
    OF_REFERENCE: "{lead} of answers change only because of how the reference extractor reads them{noise}",
    OF_BOTH: "{lead} of answers change only because of how they are read ({reader}), others by the "
    "reference extractor{noise}",
    GENUINE: "{lead} of answers change because the model changed its answer, not because of how it is "
    "read{noise}",
    OPEN: "Undecided whether the model or the extractor changes answers: {lead} change only with "
    "{reader}{noise}",
}
_PLACES = {
    "A_plus": "only under this extractor",
    "A_minus": "only under the reference extractor",
    "both": "under both",
}
_LEADS = {OF_REFERENCE: "A_minus", GENUINE: "both"}  # what a sentence leads with; else A+


def place(one: Decomposition) -> str:
    """ "Option order, first token"."""
    axis = one.axis.replace("_", " ")
    return f"{axis[:1].upper()}{axis[1:]}, {title_of(one.extractor).lower()}"


@dataclass(frozen=True)
class Verdict:
    """What decides a cell, before a level is chosen: p of artifact of the compared extractor, of the reference, and of genuine flips,
    Holm over the cells claimed together; NaN where that is not asked. An interval of a contrast at the same level agrees with it.

    `sentences[outcome]` has the place {lead} for the leading number with its interval, which alone changes with the level;
    `leads[outcome]` names its quantity. `decided_by[outcome]` is p, or that unread answers leave it open, where the sentence has
    no place for it."""

    cell: Decomposition
    test: PartsTest
    p: np.ndarray
    sentences: Mapping[str, str]
    leads: Mapping[str, str]
    decided_by: Mapping[str, str]

    def outcome(self, level: float) -> str:
        if np.isnan(self.p).all():
            return FEW
        own, reference, genuine = (one <= 1 - level + 1e-12 for one in self.p)
        if own and reference:
            return OF_BOTH
        return ARTIFACT if own else OF_REFERENCE if reference else GENUINE if genuine else OPEN


def source_outcome(
    rule: str, a: tuple[float, float], g: tuple[float, float], a_minus_g: tuple[float, float]
) -> str:
    """What a rule of the source gives with these limits: lo(A - G) > 0, or lo(A) > hi(G), and the reverse."""
    low, high = a_minus_g if rule == "paired" else (a[0] - g[1], a[1] - g[0])
    return ABOVE if low > 0 else BELOW if high < 0 else OPEN


def verdicts(
    cells: Sequence[Decomposition],
    closed_gates: Mapping[str, str] | None = None,
    temperature: float | None = None,
    family: Sequence[Decomposition] | None = None,
) -> dict[tuple[str, str], Verdict]:
    """Place (axis, extractor) -> Verdict of each cell that has one. `family` are the cells claimed together, these ones where None;
    cells behind a closed gate are no part of it. The same two extractors the other way round are the same cell."""
    contested = [one for one in cells if _is_contested(one)]
    together = contested if family is None else [one for one in family if _is_contested(one)]
    by_pair = {_pair(one): one for one in together if not _why(one, closed_gates or {})}
    tests = [parts_test(one, temperature) for one in by_pair.values()]
    p, p_read = (
        dict(
            zip(
                by_pair,
                _adjusted(
                    [_turned(one, x) for one, x in zip(by_pair.values(), every, strict=True)]
                ),
                strict=True,
            )
        )
        for every in ([test.p for test in tests], [test.p_read for test in tests])
    )
    out = {}
    for one in contested:
        test, pair = parts_test(one, temperature), _pair(one)
        own, own_read = (
            (_turned(one, p[pair]), _turned(one, p_read[pair]))
            if pair in p
            else (test.p, test.p_read)
        )
        out[one.axis, one.extractor] = _verdict(one, test, own, own_read)
    return out


UNCHECKED = (
    "No output was checked by people, so a misreading that both extractors share counts as the "
    "model's change. "
    "Label outputs under Review, Outputs."
)


def unchecked_words(claims: Iterable[Claim], n_labelled: int) -> str:
    """Return the warning beside a claim that the model changed its answer, where nobody labelled an output; else "".

    With a constant model and two extractors that misread it alike the claim is true by definition
    and false in the world.
    """
    is_claimed = any(claim.is_made and claim.outcome == GENUINE for claim in claims)
    return UNCHECKED if is_claimed and not n_labelled else ""


def p_of(p: np.ndarray, outcome: str) -> float:
    """The p that a sentence of this outcome gives: of artifact of either the larger one, of an open one the smallest."""
    of_outcome = {ARTIFACT: p[0], OF_REFERENCE: p[1], OF_BOTH: np.fmax(*p[:2]), GENUINE: p[2]}
    return float(of_outcome[outcome] if outcome in of_outcome else np.fmin.reduce(p))


def _pair(one: Decomposition) -> tuple[str, ...]:
    """The same for the same two extractors, whichever is the reference."""
    return one.axis, *sorted((one.extractor, one.reference))


def _turned(one: Decomposition, p: np.ndarray) -> np.ndarray:
    """The p of the contrasts in the order of the extractors' names, or back in the cell's own."""
    return p if one.extractor < one.reference else p[[1, 0, 2]]


def _adjusted(p: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Holm over all, and never below twice a p: what is claimed at a level then agrees with the two-sided interval of that level."""
    flat = np.concatenate(p) if p else np.empty(0)
    return (
        np.split(np.minimum(np.fmax(np.array(holm(flat.tolist())), 2 * flat), 1.0), len(p))
        if p
        else []
    )


def cell_claims(
    cells: Sequence[Decomposition],
    closed_gates: Mapping[str, str] | None = None,
    temperature: float | None = None,
    family: Sequence[Decomposition] | None = None,
) -> list[Claim]:
    """One claim a cell, in order. `closed_gates`: axis or extractor -> why it is not claimed; `temperature`: None where unknown;
    `family` as in `verdicts`."""
    by_place = verdicts(cells, closed_gates, temperature, family)
    n_family = len(
        {
            _pair(one)
            for one in family or cells
            if _is_contested(one) and not _why(one, closed_gates or {})
        }
    )
    return [
        _claim(
            one, by_place.get((one.axis, one.extractor)), closed_gates or {}, n_family, temperature
        )
        for one in cells
    ]


def _claim(
    one: Decomposition,
    verdict: Verdict | None,
    closed_gates: Mapping[str, str],
    n_family: int,
    temperature,
) -> Claim:
    claim = (
        _undecidable(one) if verdict is None else _claim_of(verdict, WHOSE, n_family, temperature)
    )
    return claim.not_claimed(_why(one, closed_gates))


def _claim_of(verdict: Verdict, assertion: Assertion, n_family: int, temperature) -> Claim:
    """At the level and rule that the cell's estimates stand at. What a rule of the source gives is a description."""
    one, outcome = verdict.cell, outcome_of(verdict)
    sentence = filled(verdict.sentences[outcome], one, verdict.leads[outcome])
    numbers = {
        "p": p_of(verdict.p, outcome),
        "A_plus": one.A_plus,
        "A_minus": one.A_minus,
        "both": one.both,
    }
    detail = _detail(one, n_family, temperature)
    if one.axis == ALL_AXES:
        detail = f"{verdict.decided_by.get(outcome, '')}{detail}"
    return Claim(
        assertion if one.rule == PARTS else None,
        outcome,
        sentence,
        outcome in CLAIMED,
        detail,
        "",
        numbers,
    )


def outcome_of(verdict: Verdict) -> str:
    """At the level and by the rule that the cell's estimates stand at."""
    one = verdict.cell
    if one.rule == PARTS:
        return verdict.outcome(one.T.level)
    limits = ((estimate.low, estimate.high) for estimate in (one.A, one.G, one.A_minus_G))
    return source_outcome(one.rule, *limits)


def filled(sentence: str, one: Decomposition, lead: str) -> str:
    """A verdict's sentence with its leading number at the cell's own level. What its kind of interval covers is said by the menu
    that chooses it and by the table of every estimate."""
    return sentence.replace("{lead}", replace(getattr(one, lead), coverage=None).text_percent())


def _undecidable(one: Decomposition) -> Claim:
    if np.isnan(one.T.value):
        both = f"both {title_of(one.extractor).lower()} and the reference extractor"
        if one.is_reference:
            both = "the reference extractor"
        return description(
            f"{place(one)}: no item is read twice by {both}, so nothing is claimed.",
            UNDEFINED,
            unread_words(one),
        )
    sentence = (
        f"{place(one)} is the reference extractor: {one.T.text_percent()} of pairs "
        f"flip{_whatever(one, 'T')}."
    )
    return description(sentence, REFERENCE, unread_words(one))


def _is_contested(one: Decomposition) -> bool:
    return not one.is_reference and not np.isnan(one.T.value)


def _why(one: Decomposition, closed_gates: Mapping[str, str]) -> str:
    return " ".join(
        dict.fromkeys(
            closed_gates[name]
            for name in (one.axis, one.extractor, one.reference)
            if name in closed_gates
        )
    )


def _verdict(one: Decomposition, test: PartsTest, p: np.ndarray, p_read: np.ndarray) -> Verdict:
    beyond = stated_parts(one.item_values) != THREE
    noise = " beyond reruns alone" if beyond else "" if test.above_floor else ", noise included"
    few = (
        f"too few {'items' if one.n_items == test.n else 'clusters of items'} for a claim "
        f"({test.n})"
    )
    ends = {key: f"{_WORDS[key]}, {p_text(p_of(p, key))}" for key in (*CLAIMED, OPEN)}
    decided_by = {key: f"{p_text(p_of(p, key))}. " for key in (*CLAIMED, OPEN)}
    if one.unread.n and (np.nan_to_num(p_read, nan=1.0) <= 1 - one.T.level).any():
        ends[OPEN], decided_by[OPEN] = (
            f"{_WORDS[OPEN]}: unread answers could turn it",
            "Unread answers could turn it. ",
        )
    ends |= {FEW: few, ABOVE: _WORDS[ABOVE], BELOW: _WORDS[BELOW]}
    leads = {key: _LEADS.get(key, "A_plus") for key in ends}
    rates = {
        key: f"{{lead}} of pairs flip {_PLACES[lead]}{noise}{_whatever(one, lead, beyond)}"
        for key, lead in leads.items()
    }
    sentences = {key: f"{place(one)}: {end}. {rates[key]}." for key, end in ends.items()}
    if one.axis == ALL_AXES:
        reader = title_of(one.extractor).lower().partition(" (")[0]
        names = {"reader": reader, "noise": noise.replace(" beyond", ", beyond"), "lead": "{lead}"}
        sentences |= {
            key: f"{answer.format(**names)}{_beyond_interval(one, leads[key], beyond)}."
            for key, answer in _ANSWERS.items()
        }
    their_leads = {key: f"{lead}_excess" if beyond else lead for key, lead in leads.items()}
    return Verdict(one, test, p, sentences, their_leads, decided_by)


def _parts_sentence(one: Decomposition) -> str:
    """Return "Of all pairs, these flip: 40% [20, 60] only under this extractor, 3% [0, 10] only under the reference …"."""
    parts = (
        f"{replace(getattr(one, name), coverage=None).text_percent()} {words}"
        for name, words in _PLACES.items()
    )
    return f"Of all pairs, these flip: {', '.join(parts)}."


def _whatever(one: Decomposition, name: str, beyond: bool = False) -> str:
    """ "; 0.46 to 0.58 with 4.0% unread": what the leading number can be; empty where what was not read cannot be seen in it."""
    if not one.unread.n:
        return ""
    low, high = unread_limits(one, name, beyond)
    if f"{low}%" == high:
        return ""
    return f"; {low} to {high} with {percent_text(max(one.unread.shares), 1)} unread"


def _beyond_interval(one: Decomposition, name: str, beyond: bool) -> str:
    """The same in a headline, where the unread answers reach further than its interval; small type says it always."""
    lead, (low, high) = (
        getattr(one, f"{name}_excess" if beyond else name),
        _unread_range(one, name, beyond),
    )
    return "" if lead.low <= low and high <= lead.high else _whatever(one, name, beyond)


def _unread_range(one: Decomposition, name: str, beyond: bool) -> tuple[float, float]:
    """What the mean of a rate over all items can be, whatever the unread answers were."""
    bounds, at = one.unread.beyond if beyond else one.unread.raw, list(RATES).index(name)
    low, high = (side[:, at][~np.isnan(side[:, at])] for side in (bounds.low, bounds.high))
    return (float(low.mean()), float(high.mean())) if len(low) else (np.nan, np.nan)


def unread_limits(one: Decomposition, name: str, beyond: bool = False) -> tuple[str, str]:
    """The same as text."""
    low, high = _unread_range(one, name, beyond)
    return number_text(100 * low, 0), percent_text(high)


def unread_words(one: Decomposition) -> str:
    """How many answers nobody read and what the three parts could be; empty where every answer was read."""
    if not one.unread.n:
        return ""
    own, reference = (percent_text(share, 1) for share in one.unread.shares)
    shares = own if one.is_reference else f"{own} under it, {reference} under the reference"
    start = f"Unreadable, cut off or failed: {one.unread.n:,} of all answers ({shares})"
    if one.is_reference or np.isnan(one.T.value):
        return f"{start}."
    parts = [
        f"{_range_words(*unread_limits(one, name))} {words}" for name, words in _PLACES.items()
    ]
    return f"{start}; whatever they were, of all pairs {', '.join(parts)}."


def _range_words(low: str, high: str) -> str:
    """Return "20 to 30%", or "20%" where both limits read alike."""
    return high if f"{low}%" == high else f"{low} to {high}"


def floor_words(one: Decomposition, temperature: float | None = None) -> str:
    """What is known of decoding noise in a cell."""
    if np.isnan(one.W.value):
        return "Noise floor: not measured, so flips include decoding noise."
    if one.W.value == 0 and temperature == 0:
        return "Noise floor: deterministic, no floor to measure."
    under = (
        ""
        if one.is_reference or np.isnan(one.W_ref.value)
        else f", under the reference {one.W_ref.text_percent()}"
    )
    return f"Noise floor: {one.W.text_percent()}{under} ({one.floor_source})."


def _detail(one: Decomposition, n_family: int, temperature: float | None) -> str:
    size = f"{one.n_items:,} items" + (
        f" in {one.T.n:,} clusters" if one.T.n != one.n_items else ""
    )
    assumed = CLUSTERS_LIKE_SEEN if one.T.n != one.n_items else ""
    family = f"; p corrected for {n_family} comparisons (Holm)" if n_family > 1 else ""
    return " ".join(
        filter(
            None,
            (
                _parts_sentence(one),
                floor_words(one, temperature),
                unread_words(one),
                f"{size}{family}.",
                assumed,
            ),
        )
    )


def headline(
    cells: Sequence[Decomposition],
    closed_gates: Mapping[str, str] | None = None,
    temperature: float | None = None,
) -> Claim:
    """The answer of a page: the largest artifact among the cells that hold one, or else among all cells."""
    by_place = verdicts(cells, closed_gates, temperature)
    contested = [one for one in by_place.values() if not _why(one.cell, closed_gates or {})]
    if not contested and by_place:
        why = " ".join(
            dict.fromkeys(_why(one.cell, closed_gates or {}) for one in by_place.values())
        )
        return Claim(ANYWHERE, OPEN, "").not_claimed(why)
    if not contested:
        return description("No extractor besides the reference has a flip rate.", UNDEFINED)
    lead = leading([(one, outcome_of(one)) for one in contested])
    return _claim_of(lead, ANYWHERE, len(contested), temperature)


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
        name = title_of(extractor).lower()
        text = (
            f"{one.T.text_percent()} of pairs of variants get different answers, read by {name} "
            f"and nothing else{_whatever(one, 'T')}."
        )
        return description(text, REFERENCE, f"{one.n_items:,} items.")
    return _claim_of(verdict, WHOSE, len(by_place), temperature).not_claimed(
        _why(one, closed_gates or {})
    )


def leading_extractor(
    cells: Sequence[Decomposition], temperature: float | None = None
) -> str | None:
    """Of cells over all axes (`stats.flips.pooled`) the extractor whose verdict leads; None where only the reference was read.
    Holm over all of them holds for the one that is picked."""
    by_place = verdicts(cells, None, temperature)
    return (
        leading([(one, outcome_of(one)) for one in by_place.values()]).cell.extractor
        if by_place
        else None
    )


def leading(decided: Sequence[tuple[Verdict, str]]) -> Verdict:
    """The one of these verdicts, each with its outcome, that a headline names."""
    for outcomes in ((ARTIFACT, OF_BOTH, ABOVE), CLAIMED):
        if claimed := [one for one, outcome in decided if outcome in outcomes]:
            break
    return max(
        claimed or [one for one, _ in decided], key=lambda one: (one.cell.A.value, one.cell.T.value)
    )


def tally(cells: Sequence[Decomposition], closed_gates: Mapping[str, str] | None = None) -> Claim:
    """How many cells hold artifact of which extractor, how many genuine flips, how many are undecided."""
    by_place = verdicts(cells, closed_gates)
    return tally_of(
        [outcome_of(one) for one in by_place.values() if not _why(one.cell, closed_gates or {})]
    )


_TALLY = {
    ARTIFACT: "mostly the extractor in {}",
    OF_REFERENCE: "mostly the reference extractor in {}",
    OF_BOTH: "mostly the extractors in {}",
    GENUINE: "mostly the model in {}",
    ABOVE: "A above G by the source's rule in {}",
    BELOW: "A below G by the source's rule in {}",
    OPEN: "undecided in {}",
    FEW: "too few items in {}",
}


def tally_of(outcomes: Sequence[str]) -> Claim:
    """The same from the outcomes of the cells."""
    if len(outcomes) < 2:
        return description("", OPEN)
    n = {key: list(outcomes).count(key) for key in _TALLY}
    sentence = (
        f"Of {len(outcomes)} combinations of axis and extractor: "
        f"{', '.join(_TALLY[key].format(n[key]) for key in n if n[key])}."
    )
    return Claim(ANYWHERE, "tally", sentence, any(n[key] for key in CLAIMED), numbers=n)


def lacking_reference(reference: str, extractors: Sequence[str]) -> Claim:
    """Of a model that was not read by the reference extractor that was asked for: nothing is claimed, and why."""
    there = ", ".join(map(title_of, extractors)).lower()
    why = (
        f"the reference extractor {title_of(reference).lower()} has no readouts here; there "
        f"are {there}."
    )
    return Claim(WHOSE, UNDEFINED, "").not_claimed(why)


def plan_sentence(n: int, n_cells: int) -> str:
    """What a design of `n` items read in two ways finds, by the simulated power of the rule that decides."""
    if n < MIN_N:
        return (
            f"{count_of(n, 'item')} read in two ways; a claim of artifact or genuine takes two "
            f"extractors and {MIN_N} items."
        )
    n_cells = max(n_cells, 1)
    cells = f" and {n_cells} combinations of axis and extractor" if n_cells > 1 else ""
    difference = detectable_difference(n, n_cells)
    if np.isnan(difference):
        fewest = fewest_items(n_cells)
        pooled = " For all changes together fewer may do." if n_cells > 1 else ""
        size = number_text(100 * detectable_difference(fewest, n_cells), 0)
        return (
            f"{n:,} items{cells} are too few. From {fewest:,} items on a large effect ({size} "
            "points more changes by the extractor than by "
            f"the model) is found four times in five (simulated).{pooled}"
        )
    low, high = (percent_text(x) for x in elsewhere(n, difference, n_cells))
    return (
        f"{n:,} items{cells} find {_size_word(difference)} effect "
        f"({number_text(100 * difference, 0)} points more changes by the "
        f"extractor than by the model) four times in five, if {percent_text(BOTH)} of pairs flip "
        "under both extractors and 4% by noise; "
        f"{low if low == high else f'{low} to {high}'} of studies with more under both or twice "
        "the noise (simulated)."
    )


def _size_word(difference: float) -> str:
    """Return "a large", "a medium" or "a small" for a difference of two shares."""
    return "a large" if difference >= 0.3 else "a medium" if difference >= 0.15 else "a small"
