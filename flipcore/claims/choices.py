"""Claims about a decision under every defensible way of counting.

A combination of options, one per choice, is called a specification. Specifications with equal
estimates and intervals are one way of counting. The share of ways in favor of the decision is only
described. It is no evidence: with two equal models 95% of 180 specifications point one way in a
quarter of studies.
"Survives every choice" is asserted if each specification shows the decision, so its p is the
largest of all (intersection-union).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.claims.decisions import Decision
from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_N, number_text, p_text
from flipcore.stats.base.guarded import CLUSTERS_LIKE_SEEN
from flipcore.stats.choices.choice import FIRST, RERUNS, Choice, Option
from flipcore.stats.choices.counting import TOO_FEW
from flipcore.stats.choices.curve import Curve, Effect, Shares, State
from flipcore.text.counts import all_of, count_of, in_a_row, with_capital, without_capital

SURVIVES = Assertion(
    "survives every choice",
    "the decision is true whichever of the listed ways of counting is chosen",
    error_rate=0.05,
    sides=2,
    family="each decision; the largest p over all its ways",
    worlds=(
        "equal models",
        "equal, an extractor misreads one",
        "equal, one unread in a tenth",
        "equal, prompts suit one",
        "equal in one of 21 ways",
        "as many flips under both",
    ),
)
MOVES = Assertion(
    "this choice moves it",
    "another option of a choice moves the estimate, over other questions like these",
    error_rate=0.05,
    sides=2,
    family="all options of all choices of a decision, Holm",
    worlds=("categories left out at random", "questions left out at random", "misread at random"),
)
ASSERTIONS = (SURVIVES, MOVES)
SURVIVED, DIRECTION, FALLS = "survives", "direction only", "falls"
LEVEL_WAYS, FEW_OPEN = "level", "too few ways"
MOVED, NOT_MOVED = "moved", "not moved"
AFTER = "The ways of counting were chosen after the answers were seen."
BEFORE = "The ways of counting were chosen before anybody saw the answers."
LEAST_OPEN = 0.5  # share of the specifications that must be open for a claim
MAX_CHANGES = 2  # choices that are changed in a way that a sentence names
MAX_NAMED = 3  # reasons, or options that move the estimate, in a sentence


def survives_claim(
    curve: Curve, decision: Decision, level: float = 0.95, *, is_locked: bool = False
) -> Claim:
    """Say whether a decision is shown in every open way of counting, else where it fails.

    `is_locked` is True if the choices were stored before anybody saw an answer. A way is closed
    if its numbers may not be claimed, else open. Ways that ask a slightly different question decide
    nothing: the last sentence counts them separately.
    """
    claim = _survives(curve.equally_defensible, decision, level, is_locked=is_locked)
    if curve.apart is None or claim.withheld:
        return claim
    shares = curve.apart.shares(level, decision.margin)
    counts = without_capital(_both_sides(decision, shares, count_of(shares.n_open, "more way")))
    if not shares.n_open:
        counts = "nothing may be claimed."
    return replace(claim, sentence=f"{claim.sentence} Asked slightly otherwise, {counts}")


def _both_sides(decision: Decision, shares: Shares, ways: str) -> str:
    """Say in how many of `ways` the decision holds. If some show the opposite, count these too."""
    shown = f"in {shares.n_shown:,}" if shares.n_shown else "in none"
    leads = decision.leads(f"{shares.n_ahead:,} of {ways}")
    sentences = f"{leads}, {shown} by more than chance."
    if shares.n_against:
        against = "each" if shares.n_against == shares.n_behind else f"{shares.n_against:,}"
        lags = decision.lags(f"{shares.n_behind:,}")
        sentences += f" {lags}, in {against} by more than chance."
    return sentences


def _survives(curve: Curve, decision: Decision, level: float, *, is_locked: bool) -> Claim:
    """Say whether a decision is shown in every open way of an equally defensible curve."""
    margin, shares = decision.margin, curve.shares(level, decision.margin)
    numbers: dict[str, Any] = {
        "ways": shares.n_open,
        "ahead": shares.n_ahead,
        "shown": shares.n_shown,
    }
    n_all = shares.n_open + shares.n_closed
    detail = _detail(curve, is_locked=is_locked)
    if set(curve.closed) == {TOO_FEW}:
        n_items = int(curve.n_items.max(initial=0))
        few = f"{count_of(n_items, 'item')}, and at least {MIN_N} are needed"
        if n_items >= MIN_N:
            few = f"fewer than {MIN_CLAIM_FAMILIES} clusters carry it"
        claim = Claim(SURVIVES, FEW_OPEN, "", detail=detail, numbers=numbers)
        return claim.not_claimed(f"that {decision.clause}: {few}.")
    # The first specification is the declared one. If it is closed, no side is declared.
    if not curve.is_open[0] or shares.n_open < LEAST_OPEN * n_all:
        reasons = Counter(reason for reason in curve.closed if reason)
        reason_text = f"that {decision.clause}. {shares.n_open} of "
        reason_text += f"{count_of(n_all, 'way')} of counting may be claimed: "
        named = [reason.removesuffix(".") for reason, _ in reasons.most_common(MAX_NAMED)]
        reason_text += f"{'; '.join(named)}."
        claim = Claim(SURVIVES, FEW_OPEN, "", detail=detail, numbers=numbers)
        return claim.not_claimed(reason_text)
    open_estimates = curve.estimate[curve.is_open]
    low, high = float(open_estimates.min()), float(open_estimates.max())
    ways = f"{count_of(shares.n_open, 'way')} of counting"
    below = bool(curve.estimate[0] < margin)
    n_shown = shares.n_against if below else shares.n_shown
    p = curve.p_survives(margin, below=below)
    numbers |= {"p": p, "lowest": low, "highest": high}
    # Half of alpha, because p is one-sided and the side was chosen by the declared estimate. The
    # tiny addend keeps a rounding error of (1 - level) / 2 from deciding.
    if n_shown == shares.n_open and p <= (1 - level) / 2 + 1e-12:
        sentence = decision.survives(ways, low, high, below=below)
        if shares.n_open == 1:
            other_ways = "no other way of counting is open"
            if curve.is_open.sum() > 1:
                n_open = int(curve.is_open.sum())
                other_ways = f"{all_of(n_open, 'ways of counting')} say the same"
            sentence = f"{decision.holds(above=not below)}; {other_ways}."
        detail = f"Largest p of all ways: {p_text(p)} (one-sided). {detail}"
        numbers |= {"below": below}
        return Claim(SURVIVES, SURVIVED, sentence, asserted=True, detail=detail, numbers=numbers)
    # From here on the claims only count ways and assert nothing.
    if shares.n_open > 1 and _all_intervals_hold_both(curve, level, margin):
        sentence = (
            f"{decision.first} and {decision.second} are not told apart in any of {ways}"
            f"{', whatever the unread answers are' if curve.ends else ''}: their "
            f"intervals hold 0 and {number_text(100 * margin, 1)} points."
        )
        return Claim(SURVIVES, LEVEL_WAYS, sentence, detail=detail, numbers=numbers)
    n_side = shares.n_behind if below else shares.n_ahead
    if n_side == shares.n_open:
        # Ways that count the same are one, and still several to choose from.
        n_open = shares.n_open if shares.n_open > 1 else int(curve.is_open.sum())
        only_way = "the only way" if n_all == 1 else "the only open way"
        all_ways = all_of(n_open, "ways of counting") if n_open > 1 else f"{only_way} of counting"
        sentence = _direction_sentence(curve, decision, all_ways, low, high, level, below=below)
        return Claim(SURVIVES, DIRECTION, sentence, detail=detail, numbers=numbers)
    sentence = _fails_sentence(curve, decision, level)
    return Claim(SURVIVES, FALLS, sentence, detail=detail, numbers=numbers)


def moves_claim(curve: Curve, decision: Decision, level: float = 0.95) -> Claim:
    """Name the options that move the estimate by more than chance, largest change first."""
    if not curve.effects:
        return description("No choice is open here.", NOT_MOVED)
    movers = [effect for effect in curve.effects if effect.is_beyond_chance(level)]
    movers.sort(key=lambda effect: -abs(effect.change.value))
    n_options = len(curve.effects)
    n_untested = sum(math.isnan(effect.p) for effect in curve.effects)
    detail = f"Over {curve.effects[0].change.n:,} independent units; p corrected for "
    detail += f"{count_of(n_options, 'option')} (Holm)."
    numbers = {effect.name: effect.change for effect in curve.effects}
    if not movers:
        sentence = f"No choice moves {decision.subject} by more than chance."
        if n_untested == n_options:
            sentence = f"Too few units differ to say whether a choice moves {decision.subject}."
        elif n_untested:
            sentence += f" For {count_of(n_untested, 'option')} too few units differ to say."
        return Claim(MOVES, NOT_MOVED, sentence, detail=detail, numbers=numbers)
    named = [f"{_option_words(mover)} ({_change_text(mover)})" for mover in movers[:MAX_NAMED]]
    more = f", and {len(movers) - MAX_NAMED} more" if len(movers) > MAX_NAMED else ""
    these = "This moves" if len(movers) == 1 else "These move"
    sentence = f"{these} {decision.subject} by more than chance: {'; '.join(named)}{more}."
    sentence = f"{_range_reasons(curve, decision, movers)}{sentence}"
    return Claim(MOVES, MOVED, sentence, asserted=True, detail=detail, numbers=numbers)


def _range_reasons(curve: Curve, decision: Decision, movers: Sequence[Effect]) -> str:
    """Return a sentence such as "Whether it is 43 or 48% is mostly a matter of unread answers. ".

    It names the choices that move the estimate at least half as much as the one that moves it most.
    It is "" if the decision is not about a bar, or if all ways print the same number.
    """
    open_estimates = curve.estimate[curve.is_open & ~curve.is_apart]
    low = number_text(100 * open_estimates.min(), 0)
    high = number_text(100 * open_estimates.max(), 0)
    if not decision.is_bar or low == high:
        return ""
    largest = abs(movers[0].change.value)
    large = [mover for mover in movers if abs(mover.change.value) >= largest / 2]
    labels = dict.fromkeys(mover.choice.label.lower() for mover in large)
    return f"Whether it is {low} or {high}% is mostly a matter of {in_a_row(list(labels))}. "


def _option_words(effect: Effect) -> str:
    return f"{effect.choice.label.lower()}: {effect.choice.options[effect.option].label}"


def _change_text(effect: Effect) -> str:
    return f"{number_text(100 * effect.change.value, 1, sign=True)} points"


def _direction_sentence(
    curve: Curve,
    decision: Decision,
    all_ways: str,
    low: float,
    high: float,
    level: float,
    *,
    below: bool,
) -> str:
    """Say that all ways point in one direction, and how many show it by more than chance."""
    states = curve.states(level, decision.margin)
    # One specification stands for each way, because all of a way have the same numbers.
    shown = [index for index in curve.ways.first if states[index] in (State.SHOWN, State.AGAINST)]
    start = decision.in_all(all_ways, low, high, below=below)
    start += _farthest_words(curve, decision, below=below)
    if len(shown) == int(curve.is_open[curve.ways.first].sum()):
        units = count_of(curve.n_coarse, "unit")
        return f"{start}; all show it, but not over the {units} that a choice leaves out whole."
    if not shown:
        none = "none" if curve.is_open.sum() > 1 else "not"
        return f"{start}; {none} by more than chance."
    verb = "shows" if len(shown) == 1 else "show"
    return f"{start}; {len(shown)} {verb} it{_common_changes_words(curve, shown)}."


def _farthest_words(curve: Curve, decision: Decision, *, below: bool) -> str:
    """Name the way whose estimate is farthest from the declared one: " (50.0 points where …)".

    "" if all estimates print alike, or if that way takes more than two changes.
    """
    distances = np.where(curve.is_open, np.abs(curve.estimate - curve.estimate[0]), 0.0).round(12)
    farthest = np.flatnonzero(distances == distances.max())
    nearest = int(min(farthest, key=lambda specification: curve.n_changed[specification]))
    number = decision.number_of_way(float(curve.estimate[nearest]), below=below)
    declared = decision.number_of_way(float(curve.estimate[0]), below=below)
    if number == declared or curve.n_changed[nearest] > MAX_CHANGES:
        return ""
    return f" ({number} where {' and '.join(_shared_changes(curve, [nearest]))})"


def _common_changes_words(curve: Curve, specifications: Sequence[int]) -> str:
    """Return ", all of them where …" with the changed options that all these specifications share;
    "" if they share none."""
    shared = _shared_changes(curve, specifications)
    start = ", where" if len(specifications) == 1 else ", all of them where"
    return f"{start} {' and '.join(shared)}" if shared else ""


def _fails_sentence(curve: Curve, decision: Decision, level: float) -> str:
    """Say in how many ways the decision holds and in how many it does not, and where it turns."""
    shares = curve.shares(level, decision.margin)
    ways = f"{count_of(shares.n_open, 'defensible way')} of counting"
    sentences = f"{decision.doubt} {_both_sides(decision, shares, ways)}"
    return f"{sentences} {_where_it_turns(curve, decision)}".rstrip()


def _where_it_turns(curve: Curve, decision: Decision) -> str:
    """Say under which options the direction is not the declared one; "" if it always is.

    These are the changed options that all turned ways share. If they share none, these are the
    options of the turned ways with the fewest changes.
    """
    # The rounding removes errors of float arithmetic, so that a tie is exactly 0.
    gaps = (curve.estimate - decision.margin).round(12)
    if gaps[0] == 0:
        return f"As declared {decision.tie_words}."
    turn = curve.turns(decision.margin)
    if not turn.specifications:
        return ""
    start = decision.turn(above=bool(gaps[0] < 0))
    if gaps[turn.specifications[0]] == 0:
        start = with_capital(decision.tie_words)
    common = _shared_changes(curve, turn.all_turned)
    place = "only where"
    if not common:
        common, place = _shared_changes(curve, turn.specifications), "already where"
    n_more = int(turn.n_changed) - len(common)
    words = " and ".join(common)
    if n_more:
        more = "one more choice changes" if n_more == 1 else f"{n_more} more choices change"
        if not common:
            more = _changed_choices(curve, turn.specifications, n_more)
        words = " and ".join(filter(None, (words, more)))
    return f"{start} {place} {words}."


def _changed_choices(curve: Curve, specifications: Sequence[int], n: int) -> str:
    """Return "one choice changes (weights or prompt)", or "2 choices change"."""
    if n > 1:
        return f"{n} choices change"
    labels = []
    for column, choice in enumerate(curve.choices):
        # Option 0 is the declared one.
        if any(curve.options[index, column] for index in specifications):
            labels.append(choice.label.lower())
    return f"one choice changes ({' or '.join(labels)})"


def _shared_changes(curve: Curve, specifications: Sequence[int]) -> list[str]:
    """Return one clause per option that is not the declared one and that all these specifications
    share."""
    shared = []
    for column, choice in enumerate(curve.choices):
        options = {int(curve.options[index, column]) for index in specifications}
        # Option 0 is the declared one.
        if len(options) == 1 and 0 not in options:
            option = choice.options[options.pop()]
            shared.append(_option_clause(choice, option))
    return shared


def _option_clause(choice: Choice, option: Option) -> str:
    """Return "unread answers are left out", "repeated questions are counted once", "only the first
    run counts", or "prompt: mean of 15 prompts"."""
    label = choice.label.lower()
    if (choice.name, option.name) == (RERUNS, FIRST):
        return "only the first run counts"
    if option.label.startswith("count as"):
        return f"{label} {option.label}"
    if option.label.startswith(("left out", "counted")):
        return f"{label} are {option.label}"
    return f"{label}: {option.label}"


def _all_intervals_hold_both(curve: Curve, level: float, margin: float) -> bool:
    """Return whether the margin is above 0 and all open intervals contain both 0 and the margin.

    This must also be so with all unread answers against the decision, and with all of them for it.
    """
    if margin <= 0:
        return False
    for counted in (curve, *(end.equally_defensible for end in curve.ends or ())):
        low, high = counted.limits(level)
        holds_both = (low < 0) & (high > margin)
        if not holds_both[counted.is_open].all():
            return False
    return True


def _detail(curve: Curve, *, is_locked: bool) -> str:
    """Return the small print: numbers of questions and clusters, closed ways, and whether the ways
    were chosen before or after the answers were seen."""
    n_items, n_units = int(curve.n_items[0]), int(curve.n_units[0])
    size = f"{n_items:,} questions as declared"
    assumed = ""
    if n_units != n_items:
        size += f", in {n_units:,} clusters"
        assumed = CLUSTERS_LIKE_SEEN
    closed_ways = set()
    for specification, reason in enumerate(curve.closed):
        if reason:
            closed_ways.add(curve.ways.number[specification])
    n_closed = len(closed_ways)
    closed = ""
    if n_closed:
        reasons = dict.fromkeys(reason for reason in curve.closed if reason)
        closed = f"{n_closed} more may not be claimed: {'; '.join(list(reasons)[:MAX_NAMED])}."
    chosen = BEFORE if is_locked else AFTER
    return " ".join(filter(None, (f"{size}.", closed, curve.note, chosen, assumed)))
