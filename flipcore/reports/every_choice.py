"""The page of every choice: views from links and browsers, records of decisions, and tables.

A view is the level, the threshold in points, and per choice the options that were switched since
the page was opened. The threshold is a margin, or for one model a bar that its score must reach.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import numpy as np

from flipcore.claims.decisions import Decision
from flipcore.core.records import BASE, IDENTITY
from flipcore.reports.browser_data.every_choice import start_of
from flipcore.reports.choices import ChoicesReport, flips_decision
from flipcore.stats.base.estimate import level_text, number_text, p_text
from flipcore.stats.choices.choice import EXTRACTOR, OWN, PROMPT, Choice, ChoiceClass
from flipcore.stats.choices.flips import FlipMaterial
from flipcore.stats.choices.readouts import AnswerMaterial
from flipcore.stats.ranking.ways import Way
from flipcore.text.counts import with_capital

Material = AnswerMaterial | FlipMaterial
Toggles = tuple[tuple[str, str], ...]


def start_view(material: Material) -> dict[str, Any]:
    """Return the view to begin with: margin 0, or for one model a bar a little below its declared
    score. The bar is a multiple of 5 points, at least one point below the score."""
    if isinstance(material, FlipMaterial) or len(material.answers.models) > 1:
        return start_of(material.choices)
    score = 100 * float(np.nanmean(material.values(_declared(material))))
    return start_of(material.choices, max(0.0, 5.0 * ((score - 1) // 5)))


def decision_of(subject: tuple[str, ...], material: Material, view: Mapping[str, Any]) -> Decision:
    """Return the decision at the threshold of a view. It is about two models, about one model and a
    bar, or about the flips of `material`. `subject` has the names of the models."""
    margin = view["threshold"] / 100
    if isinstance(material, FlipMaterial):
        return flips_decision(material, margin)
    second = subject[1] if len(subject) > 1 else ""
    return Decision(subject[0], second, margin)


def toggles_of(choices: tuple[Choice, ...], view: Mapping[str, Any]) -> Toggles:
    """Return the settings of the choices without level and threshold, as a cache key."""
    return tuple((choice.name, view[choice.name]) for choice in choices)


def fits(message: object, start: Mapping[str, Any]) -> bool:
    """Tell whether a browser's message has all settings of a view, each of its type."""
    if not isinstance(message, Mapping):
        return False
    for name, value in start.items():
        kind = str if isinstance(value, str) else (int, float)
        # A bool is an int in Python, but no level and no threshold.
        if not isinstance(message.get(name), kind) or isinstance(message[name], bool):
            return False
    return 0 < message["level"] < 1 and abs(message["threshold"]) <= 100


def stored_decision(report: ChoicesReport, view: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a decision stores: claims, settings, choices, and how many ways show it."""
    shares = report.curve.equally_defensible.shares(report.level, report.decision.margin)
    ways = f"{shares.n_shown} of {shares.n_open} ways of counting show it"
    choices = []
    for choice in report.curve.choices:
        labels = " or ".join(option.label for option in choice.options)
        choices.append(f"{choice.label}: {labels} ({choice.kind})")
    sentences = []
    for claim in report.claims:
        basis = "" if claim.withheld else f" ({level_text(report.level)}; {ways}.)"
        sentences.append(f"{claim.text}{basis}")
    settings = {name: view[name] for name in start_of(report.offered)}
    models = ", ".join(filter(None, (report.decision.first, report.decision.second)))
    return {
        "sentences": sentences,
        "models": models,
        "choices": "; ".join(choices),
        "ways": ways,
    } | settings


def setting_from(text: str, material: Material) -> tuple[dict[str, str], str]:
    """Return the setting in a link ("unread=left-out+key=…"), and a description of its options.
    Unknown choices and options are ignored, so that the choice stays as declared."""
    # Choice -> its quoted option; a part without "=" names no option.
    parts = dict(part.partition("=")[::2] for part in text.split("+"))
    setting, descriptions = _declared(material), []
    for choice in material.choices:
        for option in choice.options[1:]:
            if option.name == unquote(parts.get(choice.name, "")):
                setting[choice.name] = option.name
                reason = option.closed or option.reason
                descriptions.append(f"{choice.label}: {option.label} ({reason})")
    return setting, ". ".join(descriptions) or "As declared: every other way is compared with this."


def way_of(setting: Mapping[str, str], material: AnswerMaterial) -> Way:
    """Return the prompt and extractor whose outputs show a setting. A setting that takes the mean
    over prompts shows the own prompt."""
    axis, _, key = setting.get(PROMPT, OWN).partition(":")
    extractor = setting.get(EXTRACTOR, material.answers.extractors[0])
    return Way(axis if key else IDENTITY, key or BASE, extractor)


def differing_items(setting: Mapping[str, str], material: Material) -> list[str]:
    """Return items that a setting counts differently than the declared one. Items that it leaves
    out or takes in come first, then the others by the difference of values."""
    values = []
    for counted_setting in (_declared(material), setting):
        is_counted = material.is_counted(counted_setting)
        values.append(np.where(is_counted, material.values(counted_setting), np.nan))
    declared_values, setting_values = values
    is_in_one_only = np.isnan(declared_values) != np.isnan(setting_values)
    # 3 is larger than any difference of two values.
    gaps = np.nan_to_num(np.where(is_in_one_only, 3.0, np.abs(declared_values - setting_values)))
    return [material.items[i] for i in np.argsort(-gaps, kind="stable") if gaps[i] > 0]


def _declared(material: Material) -> dict[str, str]:
    return {choice.name: choice.options[0].name for choice in material.choices}


def option_rows(report: ChoicesReport) -> list[dict[str, Any]]:
    """Return one row per option: its class, how often it is ahead, its effect and its reason."""
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
    """Return one row per way of counting, the lowest first."""
    curve, rows = report.curve, []
    # `ways.first` has one specification per way. Others of the way have the same numbers.
    low, high = curve.limits(report.level)
    states = curve.states(report.level, report.decision.margin)
    for index in sorted(curve.ways.first, key=lambda index: curve.estimate[index]):
        row: dict[str, Any] = {}
        for choice, option_index in zip(curve.choices, curve.options[index], strict=True):
            row[choice.label.lower()] = choice.options[option_index].label
        for name, numbers in (("points", curve.estimate), ("low", low), ("high", high)):
            row[name] = number_text(100 * float(numbers[index]), 2)
        if curve.ends:
            row["unread against it"] = number_text(100 * float(curve.lowest[index]), 2)
            row["unread for it"] = number_text(100 * float(curve.highest[index]), 2)
        row |= {"state": str(states[index]), "items": int(curve.n_items[index])}
        row["class"] = str(ChoiceClass.UNCERTAIN if curve.is_apart[index] else ChoiceClass.EQUAL)
        rows.append(row | {"why not claimed": curve.closed[index]})
    return rows
