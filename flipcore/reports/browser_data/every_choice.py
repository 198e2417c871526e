"""The board of every choice: a mark per way of counting at every level, and its options.

The browser gets all equally defensible ways, also those that are switched off, and counts the
visible ones while a handle is dragged. The sentences are claims, made here for every position of
both handles. A view has for each choice the options that differ from the start, joined by "+":
equally defensible options that are left out, and uncertain options that are taken in.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from flipcore.claims.choices import moves_claim, survives_claim
from flipcore.claims.claim import Claim
from flipcore.claims.decisions import Decision
from flipcore.reports.browser_data.board import Board, Control, Headline, Row, level_control, packed
from flipcore.reports.choices import ChoicesReport
from flipcore.stats.base.estimate import Estimate, level_text, number_text
from flipcore.stats.choices.choice import Choice, Option, asks_another_question
from flipcore.stats.choices.curve import Curve

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.85, *(round(0.9 + 0.01 * i, 2) for i in range(10)), 0.995, 0.999)
LEVEL = 0.95
MARGINS = tuple(i / 2 for i in range(11))  # positions of the margin's handle, in points
NEGLIGIBLE = 0.001  # largest effect of an option that is not drawn: 0.1 points
MAX_TICKS = 5  # most ticks of the axis
MAX_BARS = 25  # most positions of a bar's handle
HINT = "Point at a mark to see its settings. Click it to see the items that it counts otherwise."
View = Mapping[str, float | str]


def board(report: ChoicesReport, sent: Curve, view: View) -> Board:
    """Make the board of a decision at a view: level, threshold in points, and every choice.

    `report` counts the options that the view switches on, `sent` all options that are `in_sight`.
    """
    decision, choices = report.decision, report.offered
    # Settings with the fewest changes from the declared one come first.
    nearest_first = np.lexsort((np.arange(len(sent)), sent.n_changed))
    first = sent.ways.first
    reasons = sorted({reason for reason in sent.closed if reason})
    # The number of a way's reason, counted from 1; 0 for an open way.
    closed = [reasons.index(reason) + 1 if reason else 0 for reason in sent.closed]
    limits = [sent.limits(level) for level in LEVELS]
    low = np.array([lows[first] for lows, _ in limits])
    high = np.array([highs[first] for _, highs in limits])
    lowest, highest = sent.ranges
    shown, drawn, unmoved = _choices(sent, report.curve, choices)
    start_index = LEVELS.index(LEVEL)
    scale, ticks = _axis(
        _limits_drawn(low[start_index], high[start_index], lowest, highest), decision
    )
    threshold = float(view["threshold"])
    stops = thresholds(sent, decision)
    if decision.is_bar:
        # An option that is switched on moves the positions, and must not move the bar.
        stops = tuple(sorted({*stops, threshold}))
    stop_index = min(range(len(stops)), key=lambda i: abs(stops[i] - threshold))
    claims = _claims(report, stops)
    # Many positions share a sentence, so each is sent once with an index per position.
    sentences: dict[tuple[str, str, str], int] = {}
    sentence_indices = []
    for row in claims:
        for claim in row:
            index = sentences.setdefault(_split_sentences(claim), len(sentences))
            sentence_indices.append(index)
    unit = "%" if decision.is_bar else " points"
    picture = {
        "kind": "ways",
        "name": "Ways of counting, from the lowest to the highest",
        "idle": HINT,
        "options": packed(sent.options[nearest_first].T, "u1"),
        "way": packed(sent.ways.number[nearest_first], "<u2"),
        "closed": packed(np.array(closed)[first], "u1"),
        "estimate": packed(sent.estimate[first]),
        "low": packed(low),
        "high": packed(high),
        "lowest": packed(lowest),
        "highest": packed(highest),
        "unread": _unread_words(decision) if sent.ends else "",
        "reasons": reasons,
        "scale": scale,
        "ticks": ticks,
        "unit": unit,
        "ahead": decision.sides[0],
        "behind": decision.sides[1],
        "words": list(decision.side_words),
        "sentences": list(sentences),
        "places": packed(np.array(sentence_indices), "<u2"),
        "choices": shown,
        "drawn": drawn,
        "unmoved": unmoved,
        "offered": _offered(sent, choices),
    }
    threshold_control = Control(
        "threshold",
        "Bar" if decision.is_bar else "Margin",
        stops[stop_index],
        stops,
        [
            f"{number_text(stop, 0 if decision.is_bar and stop % 1 == 0 else 1)}{unit}"
            for stop in stops
        ],
        logged_as="bar" if decision.is_bar else "margin",
    )
    switches = []
    for choice in choices:
        switches.append({"name": choice.name, "title": choice.label, "chosen": view[choice.name]})
    moves = moves_claim(report.curve, decision, LEVEL)
    return Board(
        "curve",
        [Row(pictures=[picture])],
        [Headline()],
        [level_control(LEVELS, float(view["level"])), threshold_control],
        choices=switches,
        lines=[] if report.claims[0].withheld else [[[0, f"{moves.text} {moves.detail}"]]],
        changes=_changes([row[stop_index] for row in claims]),
    )


def start_of(choices: Sequence[Choice], threshold: float = 0.0) -> dict[str, float | str]:
    """Return the view that a board starts with."""
    return {"level": LEVEL, "threshold": threshold, **{choice.name: "" for choice in choices}}


def thresholds(curve: Curve, decision: Decision) -> tuple[float, ...]:
    """Return the positions of the handle, in points: margins, or bars around a score."""
    if not decision.is_bar:
        return MARGINS
    scores = 100 * curve.estimate[np.isfinite(curve.estimate)]
    low, high = (float(scores.min()), float(scores.max())) if scores.size else (0.0, 100.0)
    step = max(1, math.ceil((high - low + 10) / MAX_BARS))
    start = max(0, math.floor(low) - 5)
    return tuple(float(bar) for bar in range(start, min(100, math.ceil(high) + 5) + 1, step))


def in_sight(choices: Sequence[Choice], view: View) -> tuple[Choice, ...]:
    """Return the choices with the options that the browser gets. These are all equally defensible
    options, and the uncertain ones that the view takes in."""
    visible = []
    for choice in choices:
        toggled = _toggled(choice, view)
        options = [choice.options[0]]
        for option in choice.options[1:]:
            if not asks_another_question(choice, option) or option.name in toggled:
                options.append(option)
        if len(options) > 1:
            visible.append(replace(choice, options=tuple(options)))
    return tuple(visible)


def switched(choices: Sequence[Choice], view: View) -> tuple[list[str], list[str]]:
    """Return the arguments `without` and `also` of `stats.choices.selected` for a view."""
    without, also = [], []
    for choice in choices:
        toggled = _toggled(choice, view)
        for option in choice.options[1:]:
            if asks_another_question(choice, option) and option.name in toggled:
                also.append(choice.name)
            elif asks_another_question(choice, option) or option.name in toggled:
                without.append(f"{choice.name}={option.name}")
    return without, also


def _toggled(choice: Choice, view: View) -> set[str]:
    """Return the options of a choice that the view changes; a link may have unknown names."""
    return {unquote(part) for part in str(view.get(choice.name, "")).split("+")}


def _claims(report: ChoicesReport, stops: Sequence[float]) -> list[list[Claim]]:
    """Return the claim at each level (rows) and threshold (columns)."""
    rows = []
    for level in LEVELS:
        row = []
        for stop in stops:
            decision = replace(report.decision, margin=stop / 100)
            row.append(survives_claim(report.curve, decision, level, is_locked=report.is_locked))
        rows.append(row)
    return rows


def _split_sentences(claim: Claim) -> tuple[str, str, str]:
    """Return the first sentence of a claim, the others, and the small line."""
    first, _, remaining = claim.text.partition(". ")
    return (first if first.endswith(".") else f"{first}.", remaining, claim.detail)


def _changes(claims: Sequence[Claim]) -> list[tuple[int, str]]:
    """Return (position, text) of each level at which the verdict changes."""
    changes = []
    for i in range(1, len(claims)):
        if claims[i].word != claims[i - 1].word:
            changes.append((i, f"at {level_text(LEVELS[i])} it becomes: {claims[i].word}"))
    return changes


def _option(choice: Choice, option: Option) -> dict[str, Any]:
    reason = option.closed or option.reason
    return {
        "name": quote(option.name, safe=""),
        "title": option.label,
        "reason": f"{choice.reason} {option.label.capitalize()}: {reason}.",
        "is_uncertain": asks_another_question(choice, option),
    }


def _offered(curve: Curve, choices: Sequence[Choice]) -> list[dict]:
    """Return the options that are not in the curve: uncertain ones that a view may take in."""
    sent_options = set()
    for choice in curve.choices:
        sent_options |= {(choice.name, option.name) for option in choice.options}
    offered = []
    for choice in choices:
        for option in choice.options[1:]:
            if (choice.name, option.name) not in sent_options:
                named = {"name": choice.name, "title": choice.label}
                offered.append({"choice": named, "option": _option(choice, option)})
    return offered


def _choices(
    curve: Curve, counted: Curve, choices: Sequence[Choice]
) -> tuple[list[dict], list[int], str]:
    """Return the choices of a curve, the indices of those that are drawn, and a sentence.

    The choices come with the effects in `counted`. Drawn are those that move the result, the
    largest effect first; the sentence names the others.
    """
    effects = {effect.name: effect for effect in counted.effects}
    kinds = {choice.name: choice for choice in choices}
    shown, largest, unmoved = [], {}, []
    for column, choice in enumerate(curve.choices):
        options, is_moving = [], False
        largest[column] = 0.0
        for option in choice.options:
            effect = effects.get(f"{choice.name}={option.name}")
            row = _option(kinds[choice.name], option)
            row["effect"] = _effect_text(effect.change) if effect else ""
            row["is_beyond"] = effect is not None and effect.is_beyond_chance(LEVEL)
            size = abs(effect.change.value) if effect else 0.0
            largest[column] = max(largest[column], size)
            is_closed = effect is None and option is not choice.options[0]
            is_moving |= size > NEGLIGIBLE or is_closed or row["is_beyond"] or row["is_uncertain"]
            options.append(row)
        shown.append({"name": choice.name, "title": choice.label, "options": options})
        if not is_moving:
            del largest[column]
            unmoved.append(f"{choice.label.lower()} ({options[-1]['title']})")
    if not largest:
        return shown, list(range(len(shown))), ""
    sentence = f"Not drawn, because they move it by at most 0.1 points: {', '.join(unmoved)}."
    drawn = sorted(largest, key=lambda column: -largest[column])
    return shown, drawn, sentence if unmoved else ""


def _effect_text(change: Estimate) -> str:
    text = number_text(100 * change.value, 1, sign=True)
    if not change.has_interval:
        return text
    half_width = 100 * (change.high - change.low) / 2
    return f"{text} ± {number_text(half_width, 1)}"


def _unread_words(decision: Decision) -> str:
    """Return the words for the ends of a range in the key."""
    if decision.is_bar:
        return "all unread answers wrong, to all right"
    return f"all unread answers against {decision.first}, to all for it"


def _limits_drawn(
    low: np.ndarray, high: np.ndarray, lowest: np.ndarray, highest: np.ndarray
) -> np.ndarray:
    """Return the numbers that the axis must hold: all intervals, and ranges up to half their width
    beyond them, so that many unread answers do not make the curve flat."""
    intervals = np.concatenate([low, high])
    intervals = intervals[np.isfinite(intervals)]
    ranges = np.concatenate([lowest, highest])
    ranges = ranges[np.isfinite(ranges)]
    if not intervals.size:
        return ranges
    margin = float(np.ptp(intervals)) / 2
    near_ranges = np.clip(ranges, intervals.min() - margin, intervals.max() + margin)
    return np.concatenate([intervals, near_ranges])


def _axis(numbers: np.ndarray, decision: Decision) -> tuple[list[float], list[tuple[float, str]]]:
    """Return the ends of the axis over these numbers, and its ticks as (position, text)."""
    shown = numbers[np.isfinite(numbers)]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
    if not decision.is_bar:
        low, high = min(low, 0.0), max(high, 0.0)
    # Where all numbers are equal the axis needs some width.
    width = high - low or 0.01
    margin = 0.04 * width
    power = 10 ** math.floor(math.log10(width / MAX_TICKS))
    step = next(power * k for k in (1, 2, 5, 10) if (high - low) / (power * k) <= MAX_TICKS)
    # 1e-9, because the logarithm of 0.1 may be a little below -1.
    digits = max(0, -math.floor(math.log10(100 * step) + 1e-9))
    ticks = []
    for i in range(math.ceil(low / step), math.floor(high / step) + 1):
        text = number_text(100 * i * step, digits, sign=not decision.is_bar)
        if not decision.is_bar:
            unit = "point" if text in ("+1", "−1") else "points"
            text = "equal" if i == 0 else f"{text} {unit}"
        else:
            text = f"{text}%"
        ticks.append((i * step, text))
    return [low - margin, high + margin], ticks
