"""The board of every choice: a mark per way of counting, at every level, and the options it takes.

The browser is sent all equally defensible ways, also those that are switched off, and counts what
is in sight while a handle is dragged. The sentences are claims, made here for every place of both
handles. A setting of a choice names the options that are not as they were at the start, joined by
"+": equally defensible ones that are left out, uncertain ones that are taken in.
"""

import base64
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
from flipcore.stats.choices.choice import Choice, ChoiceClass, Option
from flipcore.stats.choices.curve import Curve

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.85, *(round(0.9 + 0.01 * i, 2) for i in range(10)), 0.995, 0.999)
LEVEL = 0.95
MARGINS = tuple(i / 2 for i in range(11))  # points
NOTHING = 0.001  # a change of at most 0.1 points
MOST_TICKS, MOST_BARS = 5, 25
HINT = "Point at a mark to see its settings. Click it to see the items that it counts otherwise."
View = Mapping[str, float | str]


def board(report: ChoicesReport, sent: Curve, view: View) -> Board:
    """Make the board of a decision at a view: level, threshold in points, and every choice.

    `report` has what is switched on in the view, `sent` every option that is `in_sight`.
    """
    decision, choices = report.decision, report.offered
    nearest = np.lexsort((np.arange(len(sent)), sent.n_changed))
    first = sent.ways.first
    reasons = sorted({reason for reason in sent.closed if reason})
    closed = [reasons.index(reason) + 1 if reason else 0 for reason in sent.closed]
    limits = [sent.limits(level) for level in LEVELS]
    low, high = (np.array([sides[side][first] for sides in limits]) for side in (0, 1))
    shown, drawn, unmoved = _choices(sent, report.curve, choices)
    at_start = LEVELS.index(LEVEL)
    scale, ticks = _axis(np.concatenate([low[at_start], high[at_start]]), decision)
    stops = thresholds(sent, decision)
    at_stop = min(range(len(stops)), key=lambda place: abs(stops[place] - float(view["threshold"])))
    claims = _claims(report, stops)
    sentences: dict[tuple[str, str, str], int] = {}
    places = []
    for row in claims:
        places += [sentences.setdefault(_two_lines(claim), len(sentences)) for claim in row]
    picture = {
        "kind": "ways",
        "name": "Ways of counting, from the lowest to the highest",
        "idle": HINT,
        "options": _integers(sent.options[nearest].T, "u1"),
        "way": _integers(sent.ways.number[nearest], "<u2"),
        "closed": _integers(np.array(closed)[first], "u1"),
        "estimate": packed(sent.estimate[first]),
        "low": packed(low),
        "high": packed(high),
        "reasons": reasons,
        "scale": scale,
        "ticks": ticks,
        "ahead": decision.sides[0],
        "behind": decision.sides[1],
        "words": list(decision.side_words),
        "sentences": list(sentences),
        "places": _integers(np.array(places), "<u2"),
        "choices": shown,
        "drawn": drawn,
        "unmoved": unmoved,
        "offered": _offered(sent, choices),
    }
    unit = "%" if decision.is_bar else " points"
    threshold = Control(
        "threshold",
        "Bar" if decision.is_bar else "Margin",
        stops[at_stop],
        stops,
        [f"{number_text(stop, 0 if decision.is_bar else 1)}{unit}" for stop in stops],
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
        [level_control(LEVELS, float(view["level"])), threshold],
        choices=switches,
        lines=[] if report.claims[0].withheld else [[[0, f"{moves.text} {moves.detail}"]]],
        changes=_changes([row[at_stop] for row in claims]),
    )


def start_of(choices: Sequence[Choice], threshold: float = 0.0) -> dict[str, float | str]:
    """Return the view that a board starts with."""
    return {"level": LEVEL, "threshold": threshold, **{choice.name: "" for choice in choices}}


def thresholds(curve: Curve, decision: Decision) -> tuple[float, ...]:
    """Return the margins, or the bars around a score, that a handle goes to, in points."""
    if not decision.is_bar:
        return MARGINS
    scores = 100 * curve.estimate[np.isfinite(curve.estimate)]
    low, high = (float(scores.min()), float(scores.max())) if scores.size else (0.0, 100.0)
    step = max(1, math.ceil((high - low + 10) / MOST_BARS))
    start = max(0, math.floor(low) - 5)
    return tuple(float(bar) for bar in range(start, min(100, math.ceil(high) + 5) + 1, step))


def in_sight(choices: Sequence[Choice], view: View) -> tuple[Choice, ...]:
    """Return the choices of which the browser has every option: all equally defensible ones, and
    the uncertain ones that a view takes in."""
    kept = []
    for choice in choices:
        toggled = _toggled(choice, view)
        options = [choice.options[0]]
        for option in choice.options[1:]:
            if not is_uncertain(choice, option) or option.name in toggled:
                options.append(option)
        if len(options) > 1:
            kept.append(replace(choice, options=tuple(options)))
    return tuple(kept)


def switched(choices: Sequence[Choice], view: View) -> tuple[list[str], list[str]]:
    """Return what a view leaves out, and takes in also, as `stats.choices.selected` is asked."""
    without, also = [], []
    for choice in choices:
        toggled = _toggled(choice, view)
        for option in choice.options[1:]:
            if is_uncertain(choice, option) and option.name in toggled:
                also.append(choice.name)
            elif is_uncertain(choice, option) or option.name in toggled:
                without.append(f"{choice.name}={option.name}")
    return without, also


def is_uncertain(choice: Choice, option: Option) -> bool:
    """Tell whether an option asks something a little different, and is out at the start."""
    is_other = option.is_uncertain or choice.kind is ChoiceClass.UNCERTAIN
    return is_other and option.name != choice.options[0].name


def _toggled(choice: Choice, view: View) -> set[str]:
    # A name that no option has changes nothing: anybody writes a link.
    return {unquote(part) for part in str(view.get(choice.name, "")).split("+")}


def _claims(report: ChoicesReport, stops: Sequence[float]) -> list[list[Claim]]:
    """The claim at each level and threshold."""
    rows = []
    for level in LEVELS:
        row = []
        for stop in stops:
            decision = replace(report.decision, margin=stop / 100)
            row.append(survives_claim(report.curve, decision, level, is_locked=report.is_locked))
        rows.append(row)
    return rows


def _two_lines(claim: Claim) -> tuple[str, str, str]:
    """The first sentence of a claim, the others, and the small line."""
    first, _, second = claim.text.partition(". ")
    return (first if first.endswith(".") else f"{first}.", second, claim.detail)


def _changes(claims: Sequence[Claim]) -> list[tuple[int, str]]:
    """Each level from which the claim is of another kind."""
    changes = []
    for place in range(1, len(claims)):
        if claims[place].word != claims[place - 1].word:
            changes.append(
                (place, f"at {level_text(LEVELS[place])} it becomes: {claims[place].word}")
            )
    return changes


def _option(choice: Choice, option: Option) -> dict[str, Any]:
    reason = option.closed or option.reason
    return {
        "name": quote(option.name, safe=""),
        "title": option.label,
        "reason": f"{choice.reason} {option.label.capitalize()}: {reason}.",
        "is_uncertain": is_uncertain(choice, option),
    }


def _offered(curve: Curve, choices: Sequence[Choice]) -> list[dict]:
    """Uncertain options that are not in the curve."""
    sent_options = set()
    for choice in curve.choices:
        sent_options |= {(choice.name, option.name) for option in choice.options}
    offered = []
    for choice in choices:
        for option in choice.options[1:]:
            if (choice.name, option.name) not in sent_options:
                place = {"name": choice.name, "title": choice.label}
                offered.append({"choice": place, "option": _option(choice, option)})
    return offered


def _choices(
    curve: Curve, counted: Curve, choices: Sequence[Choice]
) -> tuple[list[dict], list[int], str]:
    """The choices of a curve with the effects of what is counted, the columns of those that are
    drawn, by their largest effect, and a sentence on the others, which move next to nothing."""
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
            is_moving |= size > NOTHING or is_closed or row["is_beyond"] or row["is_uncertain"]
            options.append(row)
        shown.append({"name": choice.name, "title": choice.label, "options": options})
        if not is_moving:
            del largest[column]
            unmoved.append(f"{choice.label.lower()} {options[-1]['title']}")
    if not largest:
        return shown, list(range(len(shown))), ""
    sentence = f"Change next to nothing (at most 0.1 points): {'; '.join(unmoved)}."
    drawn = sorted(largest, key=lambda column: -largest[column])
    return shown, drawn, sentence if unmoved else ""


def _effect_text(change: Estimate) -> str:
    text = number_text(100 * change.value, 1, sign=True)
    if not change.has_interval:
        return text
    return f"{text} ± {number_text(50 * (change.high - change.low), 1)}"


def _axis(numbers: np.ndarray, decision: Decision) -> tuple[list[float], list[tuple[float, str]]]:
    """The ends of the axis over these numbers, and its ticks: a few round places, as texts."""
    shown = numbers[np.isfinite(numbers)]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
    if not decision.is_bar:
        low, high = min(low, 0.0), max(high, 0.0)
    room = 0.04 * (high - low or 0.01)
    power = 10 ** math.floor(math.log10((high - low or 0.01) / MOST_TICKS))
    step = next(power * k for k in (1, 2, 5, 10) if (high - low) / (power * k) <= MOST_TICKS)
    digits = max(0, -math.floor(math.log10(100 * step) + 1e-9))
    ticks = []
    for place in range(math.ceil(low / step), math.floor(high / step) + 1):
        text = number_text(100 * place * step, digits, sign=not decision.is_bar)
        if not decision.is_bar:
            unit = "point" if text in ("+1", "−1") else "points"
            text = "equal" if place == 0 else f"{text} {unit}"
        else:
            text = f"{text}%"
        ticks.append((place * step, text))
    return [low - room, high + room], ticks


def _integers(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()
