"""A view of every choice: what a link, a browser or a lock says of it, and what is kept."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import numpy as np

from flipcore.claims.decisions import Decision
from flipcore.core.records import BASE, IDENTITY
from flipcore.reports.browser_data.every_choice import start_of
from flipcore.reports.choices import ChoicesReport, flips_decision
from flipcore.stats.base.estimate import level_text, number_text, p_text
from flipcore.stats.choices import choice as names
from flipcore.stats.choices.choice import Choice
from flipcore.stats.choices.flips import FlipMaterial
from flipcore.stats.choices.readouts import AnswerMaterial
from flipcore.stats.ranking.ways import Way
from flipcore.text.counts import with_capital

Counted = AnswerMaterial | FlipMaterial
Toggles = tuple[tuple[str, str], ...]


def start_view(material: Counted) -> dict[str, Any]:
    """Return the view to begin with: no margin, or a bar a little below the declared score."""
    if isinstance(material, FlipMaterial) or len(material.answers.models) > 1:
        return start_of(material.choices)
    score = 100 * float(np.nanmean(material.values(_declared(material))))
    return start_of(material.choices, max(0.0, 5.0 * ((score - 1) // 5)))


def decision_of(subject: tuple[str, ...], material: Counted, view: Mapping[str, Any]) -> Decision:
    """Return the decision at the threshold of a view: on two models, on one and a bar, or on the
    flips that `material` counts."""
    margin = view["threshold"] / 100
    if isinstance(material, FlipMaterial):
        return flips_decision(material, margin)
    return Decision(subject[0], "".join(subject[1:]), margin)


def toggles_of(choices: tuple[Choice, ...], view: Mapping[str, Any]) -> Toggles:
    """Return the settings of the choices alone, in order, to be a key."""
    return tuple((choice.name, view[choice.name]) for choice in choices)


def fits(sent: object, start: Mapping[str, Any]) -> bool:
    """Tell whether a message of a browser has the settings of a view, each of its kind."""
    if not isinstance(sent, Mapping):
        return False
    for name, value in start.items():
        kind = str if isinstance(value, str) else (int, float)
        if not isinstance(sent.get(name), kind) or isinstance(sent[name], bool):
            return False
    return 0 < sent["level"] < 1 and abs(sent["threshold"]) <= 100


def written_down(report: ChoicesReport, view: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a decision stores: claims, settings, the choices, and how many ways hold."""
    shares = report.curve.shares(report.level, report.decision.margin)
    ways = f"{shares.n_shown} of {shares.n_open} ways of counting show it"
    chosen = []
    for choice in report.curve.choices:
        labels = " or ".join(option.label for option in choice.options)
        chosen.append(f"{choice.label}: {labels} ({choice.kind})")
    sentences = []
    for claim in report.claims:
        when = "" if claim.withheld else f" ({level_text(report.level)}; {ways}.)"
        sentences.append(f"{claim.text}{when}")
    kept = {name: view[name] for name in start_of(report.offered)}
    models = ", ".join(filter(None, (report.decision.first, report.decision.second)))
    return {
        "sentences": sentences,
        "models": models,
        "choices": "; ".join(chosen),
        "ways": ways,
    } | kept


def setting_from(text: str, material: Counted) -> tuple[dict[str, str], str]:
    """Return the setting of a link ("unread=left-out+key=…") and its options in words.

    A choice or an option that is not here stays as declared.
    """
    parts = dict(part.partition("=")[::2] for part in text.split("+"))
    setting, words = _declared(material), []
    for choice in material.choices:
        for option in choice.options[1:]:
            if option.name == unquote(parts.get(choice.name, "")):
                setting[choice.name] = option.name
                words.append(f"{choice.label}: {option.label} ({option.closed or option.reason})")
    return setting, ". ".join(words) or "As declared: every other way is compared with this."


def way_of(setting: Mapping[str, str], material: AnswerMaterial) -> Way:
    """Return the prompt and the extractor of a setting; a mean of prompts shows the own one."""
    axis, _, key = setting.get(names.PROMPT, names.OWN).partition(":")
    extractor = setting.get(names.EXTRACTOR, material.answers.extractors[0])
    return Way(axis if key else IDENTITY, key or BASE, extractor)


def differing_items(setting: Mapping[str, str], material: Counted) -> list[str]:
    """Return items that a setting counts otherwise than the declared one: those that it leaves out
    or takes in, then by the difference of values."""
    values = []
    for chosen in (_declared(material), setting):
        values.append(np.where(material.is_counted(chosen), material.values(chosen), np.nan))
    first, second = values
    gaps = np.where(np.isnan(first) == np.isnan(second), np.abs(first - second), 3.0)
    gaps = np.nan_to_num(gaps)
    return [material.items[i] for i in np.argsort(-gaps, kind="stable") if gaps[i] > 0]


def _declared(material: Counted) -> dict[str, str]:
    return {choice.name: choice.options[0].name for choice in material.choices}


def option_rows(report: ChoicesReport) -> list[dict[str, Any]]:
    """Return a row per option: its class, how often it is ahead, its effect and its reason."""
    curve, rows = report.curve, []
    effects = {effect.name: effect for effect in curve.effects}
    counts = curve.ahead_in(report.decision.margin)
    for choice in curve.choices:
        for option in choice.options:
            effect = effects.get(f"{choice.name}={option.name}")
            n_ahead, n_open = counts[choice.name, option.name]
            row = {"choice": choice.label, "option": option.label, "class": str(choice.kind)}
            row["ahead in"] = f"{n_ahead} of {n_open}"
            row["moves it by"] = effect.change.text_points() if effect else "as declared"
            row["p (Holm)"] = p_text(effect.adjusted_p) if effect else ""
            reason = option.closed or option.reason
            row["why it is open"] = f"{choice.reason} {with_capital(reason)}."
            rows.append(row)
    return rows


def way_rows(report: ChoicesReport) -> list[dict[str, Any]]:
    """Return a row per way of counting, the lowest first."""
    curve, rows = report.curve, []
    low, high = curve.limits(report.level)
    states = curve.states(report.level, report.decision.margin)
    for place in sorted(curve.ways.first, key=lambda place: curve.estimate[place]):
        row: dict[str, Any] = {}
        for choice, number in zip(curve.choices, curve.options[place], strict=True):
            row[choice.label.lower()] = choice.options[number].label
        for name, numbers in (("points", curve.estimate), ("low", low), ("high", high)):
            row[name] = number_text(100 * float(numbers[place]), 2)
        row |= {"state": str(states[place]), "items": int(curve.n_items[place])}
        rows.append(row | {"why not claimed": curve.closed[place]})
    return rows
