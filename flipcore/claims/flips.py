"""Claims about flips, artifact or genuine: per cell, over all cells, and per study.

A cell is one axis and one extractor of one model. Some of its pairs of variants flip under the
compared extractor alone (A+), some under the reference extractor alone (A-), some under both.
T, the compared extractor's flips, is A+ and both; G, the reference's, is A- and both. So no
sentence calls G a part of T. If a noise floor was measured and reruns flip, sentences lead with
the rate above it. If no floor is known, no flip is called genuine.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flipcore.claims.claim import Assertion, Claim, description, is_shown
from flipcore.claims.gates import reason
from flipcore.extractors import title_of
from flipcore.stats.base.estimate import MIN_N, number_text, p_text, percent_text
from flipcore.stats.base.guarded import CLUSTERS_LIKE_SEEN
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.flips.contrast import (
    SHARE_BOTH,
    SHARE_NOISE,
    PartsTest,
    detectable_difference,
    fewest_items,
    parts_test,
    power_in_worse_worlds,
)
from flipcore.stats.flips.decomposition import PARTS, THREE, Decomposition, stated_parts
from flipcore.stats.flips.pooled import ALL_AXES
from flipcore.stats.flips.predictor import FlipPrediction
from flipcore.stats.flips.unread import RATES
from flipcore.text.counts import count_of, with_capital

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
    (
        "more pairs flip under one extractor alone than under both, or more under both than under "
        "either alone"
    ),
    error_rate=0.05,
    sides=1,
    family="three contrasts of all cells of a model that are claimed together, Holm",
    worlds=WORLDS,
)
ANYWHERE = Assertion(
    "artifact or genuine, all cells",
    "the same of some cell of a model: headline and tally",
    error_rate=0.05,
    sides=1,
    family="three contrasts of all cells of a model that are claimed together, Holm",
    worlds=("one part as large as both", "rare events", "noise only", "nothing changes"),
)
PLAN = Assertion(
    "plan of flips",
    "artifact of the size that the plan names is found four times in five (false: it is missed)",
    error_rate=0.20,
    sides=1,
    family="each plan",
    worlds=("the assumed world",),
)
ASSERTIONS: tuple[Assertion, ...] = (WHOSE, ANYWHERE, PLAN)
ARTIFACT = "artifact"
OF_REFERENCE = "artifact of the reference"
OF_BOTH = "artifact of both"
GENUINE = "genuine"
CLAIMED = (ARTIFACT, OF_REFERENCE, OF_BOTH, GENUINE)
OPEN, FEW, REFERENCE, UNDEFINED = "undecided", "few", "reference", "undefined"
ABOVE, BELOW = "A above G", "A below G"  # by the source's rule, so descriptions
BAND = "simultaneous band"  # the method of limits that hold for all cells and settings together
_WORDS = {
    ARTIFACT: "mostly the extractor, not the model",
    OF_REFERENCE: "mostly the reference extractor, not the model",
    OF_BOTH: "mostly the extractors, not the model",
    GENUINE: "mostly the model, not the extractor",
    OPEN: "undecided",
    ABOVE: "A is above G by the source's rule",
    BELOW: "A is below G by the source's rule",
}
# Over all axes the sentence is a page's headline: it needs no glossary, and its p is in the detail.
_HEADLINES = {
    ARTIFACT: "{lead|likely} of answers change only because of how they are read ({extractor})",
    OF_REFERENCE: "{lead|likely} of answers change only because of how the reference extractor "
    "reads them",
    OF_BOTH: "{lead|likely} of answers change only because of how they are read ({extractor}), "
    "others by the reference extractor",
    GENUINE: "{lead|likely} of answers change because the model changed its answer, not because of "
    "how it is read",
    OPEN: "Undecided whether the model or the extractor changes answers: {lead|likely} change only "
    "when {extractor} reads them",
}
_PART_WORDS = {
    "A_plus": "only under this extractor",
    "A_minus": "only under the reference extractor",
    "both": "under both",
}
# Outcome -> the part that its sentence gives first; A_plus for all others.
_LEADS = {OF_REFERENCE: "A_minus", GENUINE: "both"}


def place(cell: Decomposition) -> str:
    """Return the cell's name: "Option order, first token"."""
    axis = cell.axis.replace("_", " ")
    return f"{with_capital(axis)}, {title_of(cell.extractor).lower()}"


@dataclass(frozen=True)
class Verdict:
    """The decision about a cell, before a level is chosen.

    `p` (3,) are the p of artifact of the compared extractor, of artifact of the reference, and of
    genuine flips, corrected by Holm over the cells claimed together; NaN if not tested. Each agrees
    with the interval of its contrast.

    `sentences` maps each outcome to its sentence. Its placeholder {lead}, or {lead|likely} in a
    headline, takes the leading rate with its interval, the only part that depends on the level.
    `leads` maps each outcome to that rate's name. `detail_starts` maps it to the sentences that a
    headline leaves to its detail: p or unread answers, and how reruns count.
    """

    cell: Decomposition
    test: PartsTest
    p: np.ndarray
    sentences: Mapping[str, str]
    leads: Mapping[str, str]
    detail_starts: Mapping[str, str]

    def outcome(self, level: float) -> str:
        """Return the outcome at this level; FEW if no contrast was tested."""
        if np.isnan(self.p).all():
            return FEW
        is_artifact, is_of_reference, is_genuine = (is_shown(p, level) for p in self.p)
        if is_artifact and is_of_reference:
            return OF_BOTH
        if is_artifact:
            return ARTIFACT
        if is_of_reference:
            return OF_REFERENCE
        return GENUINE if is_genuine else OPEN


def source_outcome(
    rule: str, a: tuple[float, float], g: tuple[float, float], a_minus_g: tuple[float, float]
) -> str:
    """Return ABOVE, BELOW or OPEN by the source's rule, given limits (low, high) of each estimate.

    The rule "paired" compares the limits of A - G with 0, any other those of A with those of G.
    """
    low, high = a_minus_g
    if rule != "paired":
        (a_low, a_high), (g_low, g_high) = a, g
        low, high = a_low - g_high, a_high - g_low
    if low > 0:
        return ABOVE
    return BELOW if high < 0 else OPEN


def verdicts(
    cells: Sequence[Decomposition],
    closed_gates: Mapping[str, str] | None = None,
    temperature: float | None = None,
    family: Sequence[Decomposition] | None = None,
) -> dict[tuple[str, str], Verdict]:
    """Return (axis, extractor) -> Verdict for each cell that compares two extractors.

    `family` are the cells claimed together, `cells` if None. Cells behind a closed gate are not
    part of it. Two cells that only swap extractor and reference count as one.
    """
    gates = closed_gates or {}
    contested = [cell for cell in cells if _is_contested(cell)]
    family = contested if family is None else [cell for cell in family if _is_contested(cell)]
    cell_by_pair = {_pair(cell): cell for cell in family if not _gate_reason(cell, gates)}
    tests = {pair: parts_test(cell, temperature) for pair, cell in cell_by_pair.items()}
    # `p` is valid whatever the unread answers were, `p_read` only among the answers that were read.
    p_by_pair = _adjusted_by_pair(cell_by_pair, {pair: test.p for pair, test in tests.items()})
    p_read_by_pair = _adjusted_by_pair(
        cell_by_pair, {pair: test.p_read for pair, test in tests.items()}
    )
    verdict_by_cell = {}
    for cell in contested:
        test, pair = parts_test(cell, temperature), _pair(cell)
        # A cell behind a closed gate keeps its own p, because it is never claimed.
        p, p_read = test.p, test.p_read
        if pair in p_by_pair:
            p = _in_name_order(cell, p_by_pair[pair])
            p_read = _in_name_order(cell, p_read_by_pair[pair])
        verdict_by_cell[cell.axis, cell.extractor] = _verdict(cell, test, p, p_read)
    return verdict_by_cell


UNCHECKED = (
    "No output was checked by people, so a misreading that both extractors share counts as the "
    "model's change. Label outputs under Review, Outputs."
)


def unchecked_words(claims: Iterable[Claim], n_labelled: int) -> str:
    """Return a warning for claims of genuine flips if nobody labelled an output, else "".

    If a model never changes its answer and both extractors misread it in the same way, the claim
    is true by definition and false in the world.
    """
    is_claimed = any(claim.is_made and claim.outcome == GENUINE for claim in claims)
    return UNCHECKED if is_claimed and not n_labelled else ""


def p_of(p: np.ndarray, outcome: str) -> float:
    """Return the p that the sentence of this outcome gives; `p` (3,) as in `Verdict`."""
    p_artifact, p_of_reference, p_genuine = p
    p_by_outcome = {
        ARTIFACT: p_artifact,
        OF_REFERENCE: p_of_reference,
        # Both artifacts are claimed, so the sentence gives the larger p.
        OF_BOTH: np.fmax(p_artifact, p_of_reference),
        GENUINE: p_genuine,
    }
    # An undecided sentence gives the smallest p, that of the clearest contrast.
    return float(p_by_outcome[outcome] if outcome in p_by_outcome else np.fmin.reduce(p))


def _pair(cell: Decomposition) -> tuple[str, ...]:
    """Return a key that is the same for the same two extractors, whichever is the reference."""
    return cell.axis, *sorted((cell.extractor, cell.reference))


def _in_name_order(cell: Decomposition, p: np.ndarray) -> np.ndarray:
    """Return `p` (3,) in the order of the extractors' names, or back in the cell's own order."""
    p_artifact, p_of_reference, p_genuine = p
    if cell.extractor < cell.reference:
        return p
    # Swapping the two extractors swaps whose artifact is that of the reference.
    return np.array([p_of_reference, p_artifact, p_genuine])


def _adjusted_by_pair(
    cell_by_pair: Mapping[tuple[str, ...], Decomposition],
    p_by_pair: Mapping[tuple[str, ...], np.ndarray],
) -> dict[tuple[str, ...], np.ndarray]:
    """Correct the p of all pairs of extractors together; each result is in name order."""
    p_values = [_in_name_order(cell, p_by_pair[pair]) for pair, cell in cell_by_pair.items()]
    return dict(zip(cell_by_pair, _adjusted(p_values), strict=True))


def _adjusted(p: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Correct all p by Holm, but at least double each."""
    if not p:
        return []
    raw = np.concatenate(p)
    by_holm = np.array(holm(raw.tolist()))
    # Doubled, a one-sided p agrees with the two-sided interval of the same level.
    corrected = np.minimum(np.fmax(by_holm, 2 * raw), 1.0)
    return np.split(corrected, len(p))


def cell_claims(
    cells: Sequence[Decomposition],
    closed_gates: Mapping[str, str] | None = None,
    temperature: float | None = None,
    family: Sequence[Decomposition] | None = None,
) -> list[Claim]:
    """Return one claim per cell, in the same order.

    `closed_gates` maps an axis or extractor to the reason why it is not claimed. `temperature` is
    None if unknown. `family` is as in `verdicts`.
    """
    verdict_by_cell, gates = verdicts(cells, closed_gates, temperature, family), closed_gates or {}
    open_cells = (cell for cell in family or cells if not _gate_reason(cell, gates))
    n_family = len({_pair(cell) for cell in open_cells if _is_contested(cell)})
    claims = []
    for cell in cells:
        verdict = verdict_by_cell.get((cell.axis, cell.extractor))
        if verdict is None:
            claim = _uncontested_claim(cell)
        else:
            claim = _claim_of(verdict, WHOSE, n_family, temperature)
        claims.append(claim.not_claimed(_gate_reason(cell, gates)))
    return claims


def _claim_of(
    verdict: Verdict, assertion: Assertion, n_family: int, temperature: float | None
) -> Claim:
    """Return the claim of a verdict; level and rule are those of the cell's estimates."""
    cell, outcome = verdict.cell, outcome_of(verdict)
    sentence = with_leading_rate(verdict.sentences[outcome], cell, verdict.leads[outcome])
    numbers = {
        "p": p_of(verdict.p, outcome),
        "A_plus": cell.A_plus,
        "A_minus": cell.A_minus,
        "both": cell.both,
    }
    detail = _detail(cell, n_family, temperature)
    # The sentence over all axes is a headline, which gives no p.
    if cell.axis == ALL_AXES:
        detail = f"{verdict.detail_starts.get(outcome, '')}{detail}"
    return Claim(
        # The error rate of the source's rule was not simulated, so it only describes.
        assertion if cell.rule == PARTS else None,
        outcome,
        sentence,
        asserted=outcome in CLAIMED,
        detail=detail,
        numbers=numbers,
    )


def outcome_of(verdict: Verdict) -> str:
    """Return the outcome of a verdict; level and rule are those of the cell's estimates."""
    cell = verdict.cell
    if cell.rule == PARTS:
        return verdict.outcome(cell.T.level)
    limits = ((estimate.low, estimate.high) for estimate in (cell.A, cell.G, cell.A_minus_G))
    return source_outcome(cell.rule, *limits)


def with_leading_rate(sentence: str, cell: Decomposition, lead: str) -> str:
    """Return a verdict's sentence with its leading rate at the cell's own level."""
    # The interval menu and the table of estimates give the coverage already.
    leading = replace(getattr(cell, lead), coverage=None)
    sentence = sentence.replace("{lead|likely}", leading.likely_percent())
    return sentence.replace("{lead}", leading.text_percent())


def _uncontested_claim(cell: Decomposition) -> Claim:
    """Describe a cell without a flip rate, or one of the reference extractor itself."""
    if np.isnan(cell.T.value):
        extractors = f"both {title_of(cell.extractor).lower()} and the reference extractor"
        if cell.is_reference:
            extractors = "the reference extractor"
        return description(
            f"{place(cell)}: no item is read twice by {extractors}, so nothing is claimed.",
            UNDEFINED,
            detail=unread_words(cell),
        )
    sentence = (
        f"{place(cell)} is the reference extractor: {cell.T.text_percent()} of pairs "
        f"flip{_unread_suffix(cell, 'T')}."
    )
    return description(sentence, REFERENCE, detail=unread_words(cell))


def _is_contested(cell: Decomposition) -> bool:
    """Return whether the cell compares an extractor with the reference and has a flip rate."""
    return not cell.is_reference and not np.isnan(cell.T.value)


def _gate_reason(cell: Decomposition, closed_gates: Mapping[str, str]) -> str:
    return reason(closed_gates, cell.axis, cell.extractor, cell.reference)


@dataclass(frozen=True)
class _Reruns:
    """Words after a rate, and a sentence for the detail, on how reruns enter the rates."""

    suffix: str = ""
    sentence: str = ""


_NO_RERUN_FLIPS = _Reruns()
_RERUNS_INCLUDED = _Reruns(", noise included", "Changes that a rerun alone makes count, too. ")
_RERUNS_SUBTRACTED = _Reruns(
    ", reruns subtracted", "Changes that a rerun alone makes are subtracted. "
)


def _verdict(cell: Decomposition, test: PartsTest, p: np.ndarray, p_read: np.ndarray) -> Verdict:
    """Return the verdict with its sentences; `p_read` (3,) are the p among the answers read."""
    is_beyond_noise = stated_parts(cell.item_values) != THREE
    reruns = _NO_RERUN_FLIPS if test.is_floor_known else _RERUNS_INCLUDED
    if is_beyond_noise:
        reruns = _RERUNS_SUBTRACTED
    # The answers that were read show something. If p, which takes the unread ones at their worst,
    # does not, then the unread answers can turn the verdict.
    can_turn = bool(cell.unread.n) and _any_shown(p_read, cell.T.level)
    # A sentence for each outcome that any level could give, because a page changes the level
    # without calling this again.
    endings = _endings(cell, test, p, can_turn=can_turn)
    parts = {outcome: _LEADS.get(outcome, "A_plus") for outcome in endings}
    leads = {
        outcome: f"{part}_excess" if is_beyond_noise else part for outcome, part in parts.items()
    }
    sentences = {}
    for outcome, part in parts.items():
        unread = _unread_suffix(cell, part, is_beyond_noise=is_beyond_noise)
        rate = f"{{lead}} of pairs flip {_PART_WORDS[part]}{reruns.suffix}{unread}"
        sentences[outcome] = f"{place(cell)}: {endings[outcome]}. {rate}."
    if cell.axis == ALL_AXES:
        sentences |= _headlines(cell, parts, is_beyond_noise=is_beyond_noise)
    detail_starts = {}
    for outcome in (*CLAIMED, OPEN):
        decided = f"{p_text(p_of(p, outcome))}. "
        if outcome == OPEN and can_turn:
            decided = "Unread answers could turn it. "
        detail_starts[outcome] = f"{decided}{reruns.sentence}"
    return Verdict(cell, test, p=p, sentences=sentences, leads=leads, detail_starts=detail_starts)


def _any_shown(p: np.ndarray, level: float) -> bool:
    """Tell whether any of the p (3,) shows something at this level; NaN shows nothing."""
    return any(is_shown(value, level) for value in p)


def _endings(
    cell: Decomposition, test: PartsTest, p: np.ndarray, *, can_turn: bool
) -> dict[str, str]:
    """Return what a cell's sentence says of each outcome, after the cell's name."""
    endings = {
        outcome: f"{_WORDS[outcome]}, {p_text(p_of(p, outcome))}" for outcome in (*CLAIMED, OPEN)
    }
    if can_turn:
        endings[OPEN] = f"{_WORDS[OPEN]}: unread answers could turn it"
    units = "items" if cell.n_items == test.n else "clusters of items"
    endings[FEW] = f"too few {units} for a claim ({test.n})"
    return endings | {ABOVE: _WORDS[ABOVE], BELOW: _WORDS[BELOW]}


def _headlines(
    cell: Decomposition, parts: Mapping[str, str], *, is_beyond_noise: bool
) -> dict[str, str]:
    """Return outcome -> headline; `with_leading_rate` puts in the rate when the level is known."""
    # A headline leaves out what a title adds in brackets: "Option text (cloze)".
    extractor = title_of(cell.extractor).lower().partition(" (")[0]
    headlines = {}
    for outcome, answer in _HEADLINES.items():
        unread = _headline_suffix(cell, parts[outcome], is_beyond_noise=is_beyond_noise)
        headlines[outcome] = f"{answer.replace('{extractor}', extractor)}.{unread}"
    return headlines


def _parts_sentence(cell: Decomposition) -> str:
    """Return "Of all pairs, these flip: 40% [20, 60] only under this extractor, …"."""
    parts = (
        f"{replace(getattr(cell, name), coverage=None).text_percent()} {words}"
        for name, words in _PART_WORDS.items()
    )
    return f"Of all pairs, these flip: {', '.join(parts)}."


def _unread_suffix(cell: Decomposition, name: str, *, is_beyond_noise: bool = False) -> str:
    """Return a rate's range over possible unread answers, after a comma; "" if it is one number."""
    span = _unread_span(cell, name, is_beyond_noise=is_beyond_noise)
    if not span:
        return ""
    return f", or {span}, depending on the {_unread_share(cell)} of answers that could not be read"


def _unread_span(cell: Decomposition, name: str, *, is_beyond_noise: bool) -> str:
    """Return "46 to 58%", a rate's possible range; "" if it is one number."""
    if not cell.unread.n:
        return ""
    low, high = unread_limits(cell, name, is_beyond_noise=is_beyond_noise)
    return "" if f"{low}%" == high else f"{low} to {high}"


def _unread_share(cell: Decomposition) -> str:
    return percent_text(max(cell.unread.shares), 1)


def _headline_suffix(cell: Decomposition, name: str, *, is_beyond_noise: bool = False) -> str:
    """Return a rate's range over possible unread answers as a sentence, "" within the interval."""
    lead = getattr(cell, f"{name}_excess" if is_beyond_noise else name)
    low, high = _unread_range(cell, name, is_beyond_noise=is_beyond_noise)
    # A range within the interval adds nothing to a headline; the detail always gives it.
    if lead.low <= low and high <= lead.high:
        return ""
    span = _unread_span(cell, name, is_beyond_noise=is_beyond_noise)
    if not span:
        return ""
    return f" It may be {span}, because {_unread_share(cell)} of answers were not read."


def _unread_range(cell: Decomposition, name: str, *, is_beyond_noise: bool) -> tuple[float, float]:
    """Return the lowest and highest mean of a rate over items, whatever the unread answers were."""
    bounds = cell.unread.beyond if is_beyond_noise else cell.unread.raw
    rate_index = list(RATES).index(name)
    lowest, highest = bounds.low[:, rate_index], bounds.high[:, rate_index]
    # An item without a pair of variants has no bounds.
    has_pairs = ~np.isnan(lowest)
    if not has_pairs.any():
        return np.nan, np.nan
    return float(lowest[has_pairs].mean()), float(highest[has_pairs].mean())


def unread_limits(
    cell: Decomposition, name: str, *, is_beyond_noise: bool = False
) -> tuple[str, str]:
    """Return ("46", "58%"): the range of a rate over possible unread answers, as text."""
    low, high = _unread_range(cell, name, is_beyond_noise=is_beyond_noise)
    return number_text(100 * low, 0), percent_text(high)


def unread_words(cell: Decomposition) -> str:
    """Count the answers that nobody read, with the range of the parts; "" if all were read."""
    if not cell.unread.n:
        return ""
    extractor_share, reference = (percent_text(share, 1) for share in cell.unread.shares)
    shares = f"{extractor_share} under it, {reference} under the reference"
    if cell.is_reference:
        shares = extractor_share
    start = f"Unreadable, cut off or failed: {cell.unread.n:,} of all answers ({shares})"
    if cell.is_reference or np.isnan(cell.T.value):
        return f"{start}."
    parts = [
        f"{_range_words(*unread_limits(cell, name))} {words}" for name, words in _PART_WORDS.items()
    ]
    return f"{start}; whatever they were, of all pairs {', '.join(parts)}."


def _range_words(low: str, high: str) -> str:
    """Return "20 to 30%", or "20%" if both limits print the same."""
    return high if f"{low}%" == high else f"{low} to {high}"


def floor_words(cell: Decomposition, temperature: float | None = None) -> str:
    """Describe the decoding noise of a cell, as far as it is known."""
    if np.isnan(cell.W.value):
        return "Noise floor: not measured, so flips include decoding noise."
    if cell.W.value == 0 and temperature == 0:
        return "Noise floor: deterministic, no floor to measure."
    under = ""
    if not cell.is_reference and not np.isnan(cell.W_ref.value):
        under = f", under the reference {cell.W_ref.text_percent()}"
    return f"Noise floor: {cell.W.text_percent()}{under} ({cell.floor_source})."


def _detail(cell: Decomposition, n_family: int, temperature: float | None) -> str:
    """Return the small print: all rates, noise floor, unread answers, size and correction."""
    size, assumed = f"{cell.n_items:,} items", ""
    # An estimate counts clusters if there are fewer of them than items.
    if cell.T.n != cell.n_items:
        size, assumed = f"{size} in {cell.T.n:,} clusters", CLUSTERS_LIKE_SEEN
    correction = f"; p corrected for {n_family} comparisons (Holm)" if n_family > 1 else ""
    sentences = (
        _parts_sentence(cell),
        floor_words(cell, temperature),
        unread_words(cell),
        f"{size}{correction}.",
        assumed,
    )
    return " ".join(filter(None, sentences))


def headline(
    cells: Sequence[Decomposition],
    closed_gates: Mapping[str, str] | None = None,
    temperature: float | None = None,
) -> Claim:
    """Return the claim of a page's headline, that of the cell that `leading_verdict` picks."""
    verdict_by_cell, gates = verdicts(cells, closed_gates, temperature), closed_gates or {}
    claimable, gate_reasons = [], []
    for verdict in verdict_by_cell.values():
        gate_reason = _gate_reason(verdict.cell, gates)
        if gate_reason:
            gate_reasons.append(gate_reason)
        else:
            claimable.append(verdict)
    if not verdict_by_cell:
        return description("No extractor besides the reference has a flip rate.", UNDEFINED)
    if not claimable:
        return Claim(ANYWHERE, OPEN, "").not_claimed(" ".join(dict.fromkeys(gate_reasons)))
    lead = leading_verdict([(verdict, outcome_of(verdict)) for verdict in claimable])
    return _claim_of(lead, ANYWHERE, len(claimable), temperature)


def headline_of(
    cells: Sequence[Decomposition],
    extractor: str,
    closed_gates: Mapping[str, str] | None = None,
    temperature: float | None = None,
) -> Claim:
    """Return the headline of one extractor; `cells` are one per extractor (`flips.pooled`)."""
    cell = next(cell for cell in cells if cell.extractor == extractor)
    verdict_by_cell = verdicts(cells, closed_gates, temperature)
    verdict = verdict_by_cell.get((cell.axis, extractor))
    if np.isnan(cell.T.value):
        return _uncontested_claim(cell)
    if verdict is None:
        name = title_of(extractor).lower()
        text = (
            "The answer differs between two prompts of one question in "
            f"{cell.T.likely_percent()} of cases.{_headline_suffix(cell, 'T')}"
        )
        detail = f"{cell.n_items:,} items, by {name} alone."
        return description(text, REFERENCE, detail=detail)
    claim = _claim_of(verdict, WHOSE, len(verdict_by_cell), temperature)
    return claim.not_claimed(_gate_reason(cell, closed_gates or {}))


def leading_extractor(
    cells: Sequence[Decomposition], temperature: float | None = None
) -> str | None:
    """Return the extractor whose verdict leads; None if only the reference has readouts.

    The cells are those over all axes (`stats.flips.pooled`), one per extractor. Picking one of
    them is safe, because their p are corrected together.
    """
    verdict_by_cell = verdicts(cells, None, temperature)
    if not verdict_by_cell:
        return None
    lead = leading_verdict([(verdict, outcome_of(verdict)) for verdict in verdict_by_cell.values()])
    return lead.cell.extractor


def leading_verdict(decided: Sequence[tuple[Verdict, str]]) -> Verdict:
    """Return the verdict that a headline names, of verdicts with their outcomes.

    It has the largest A among those that claim artifact, else among all that claim, else of all.
    """
    # Artifact of the compared extractor comes first, because readers ask about it.
    with_artifact = [
        verdict for verdict, outcome in decided if outcome in (ARTIFACT, OF_BOTH, ABOVE)
    ]
    claimed = [verdict for verdict, outcome in decided if outcome in CLAIMED]
    candidates = with_artifact or claimed or [verdict for verdict, _ in decided]
    return max(candidates, key=lambda verdict: (verdict.cell.A.value, verdict.cell.T.value))


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


def tally(outcomes: Sequence[str]) -> Claim:
    """Count the outcomes of the cells in one sentence; "" for one cell, which has its own."""
    if len(outcomes) < 2:
        return description("", OPEN)
    counts = {key: list(outcomes).count(key) for key in _TALLY}
    parts = ", ".join(_TALLY[key].format(n) for key, n in counts.items() if n)
    sentence = f"Of {len(outcomes)} combinations of axis and extractor: {parts}."
    is_claimed = any(counts[key] for key in CLAIMED)
    return Claim(ANYWHERE, "tally", sentence, asserted=is_claimed, numbers=counts)


def missing_reference_claim(reference: str, extractors: Sequence[str]) -> Claim:
    """Withhold all claims of a model that the reference extractor did not read."""
    titles = ", ".join(map(title_of, extractors)).lower()
    return Claim(WHOSE, UNDEFINED, "").not_claimed(
        f"the reference extractor {title_of(reference).lower()} has no readouts here; there are "
        f"{titles}."
    )


def plan_sentence(n: int, n_cells: int) -> str:
    """Describe the effect that `n` items under two extractors can show, by simulated power.

    `n` is 0 if the study has only one extractor. `n_cells` counts axis and extractor combinations.
    """
    if not n:
        return (
            "One extractor shows how often answers change. It takes a second one to tell whether "
            "the model or the extractor changes them."
        )
    if n < MIN_N:
        return (
            f"Two extractors read {count_of(n, 'item')}; from {MIN_N} on they tell whether the "
            "model or the extractor changes answers."
        )
    # A plan without an axis still has one cell to claim.
    n_cells = max(n_cells, 1)
    cells = f" and {n_cells} combinations of axis and extractor" if n_cells > 1 else ""
    difference = detectable_difference(n, n_cells)
    if np.isnan(difference):
        fewest = fewest_items(n_cells)
        pooled = " For all changes together fewer may do." if n_cells > 1 else ""
        size = number_text(100 * detectable_difference(fewest, n_cells), 0)
        return (
            f"{n:,} items{cells} are too few. From {fewest:,} items on a large effect ({size} "
            "points more changes by the extractor than by the model) is found four times in five "
            f"(simulated).{pooled}"
        )
    # With more genuine flips or more noise, which nobody knows before the study, the power is
    # smaller. The sentence says by how much.
    low, high = (percent_text(power) for power in power_in_worse_worlds(n, difference, n_cells))
    powers = low if low == high else f"{low} to {high}"
    return (
        f"{n:,} items{cells} find {_size_word(difference)} effect "
        f"({number_text(100 * difference, 0)} points more changes by the extractor than by the "
        f"model) four times in five, if {percent_text(SHARE_BOTH)} of pairs flip under both "
        f"extractors and {percent_text(2 * SHARE_NOISE)} by noise; {powers} of studies with more "
        "under both or twice the noise (simulated)."
    )


# Least differences of two shares that a plan calls a large or a medium effect. Only words depend on
# them.
LARGE_EFFECT, MEDIUM_EFFECT = 0.3, 0.15


def _size_word(difference: float) -> str:
    if difference >= LARGE_EFFECT:
        return "a large"
    return "a medium" if difference >= MEDIUM_EFFECT else "a small"


def prediction_claim(fit: FlipPrediction) -> Claim:
    """Describe the flip predictor: out-of-fold AUC and p, and the axis's own AUC."""
    # A description: no simulation gives the error rate of "predicts flips beyond the axis".
    slope = f"{number_text(fit.slope)}: 1 is calibrated, below 1 overconfident."
    # The regression of flips on predictions has no slope if they do not vary or separate all flips.
    if math.isnan(fit.slope):
        slope = "none: the predictions do not vary, or they separate flips from the rest."
    detail = (
        f"Brier score {number_text(fit.brier, 3)}, {number_text(fit.brier_constant, 3)} for "
        f"always saying the mean; {fit.n_rows:,} item-axis rows ({fit.n_dropped:,} dropped for a "
        f"missing feature). Calibration slope {slope}"
    )
    return description(
        f"Out-of-fold AUC {fit.auc.text()}; the axis alone gives {number_text(fit.auc_by_axis)} "
        f"({p_text(fit.p)}).",
        detail=detail,
        p=fit.p,
    )
