"""The score's board: a model's sentence and its intervals at every level, and the dots of wordings and readers. The browser looks them
up while the level is dragged."""

from typing import Any

from flipcore.claims.score import score_text
from flipcore.core.records import digest
from flipcore.extractors import title_of
from flipcore.reports.browser_data.levels import LEVELS
from flipcore.reports.browser_data.ranking import by_level
from flipcore.reports.score import INTERVAL_TITLES, OWN, ModelScore, ScoreReport


def board(report: ScoreReport, level: float, at_once: int = 1) -> dict[str, Any]:
    """`levels, start, ends, models`. Each of the models holds `sentences` and `details` by level, its `bars` from inside out with `low` and
    `high` by level (None where there is none), and `dots`. With `at_once` the limits hold for so many scores together (Bonferroni)."""
    models = [_model(one, at_once) for one in report.models]
    arrays: dict[str, Any] = {
        "levels": list(LEVELS),
        "start": min(range(len(LEVELS)), key=lambda i: abs(LEVELS[i] - level)),
        "ends": _ends(models),
        "models": models,
        "is_share": all(one.bar.cells.is_binary for one in report.models),
    }
    return arrays | {"id": digest(arrays)}


def together(level: float, at_once: int) -> float:
    """The level of each of so many intervals that hold together at `level`."""
    return 1 - (1 - level) / at_once


def _model(one: ModelScore, at_once: int) -> dict[str, Any]:
    every = [one.at(together(level, at_once)) for level in LEVELS]
    return {
        "name": one.model,
        "score": one.bar.value,
        "sentences": by_level([here.claim.text for here in every]),
        "details": by_level([here.claim.detail for here in every]),
        "bars": [_bar(name, every) for name in INTERVAL_TITLES],
        "dots": _dots(one),
    }


def _bar(name: str, every: list[ModelScore]) -> dict[str, Any]:
    estimates = [one.bar.estimate(name) for one in every]
    ends = [(one.low, one.high) if one.has_interval else (None, None) for one in estimates]
    return {
        "name": name,
        "title": INTERVAL_TITLES[name],
        "why_not": estimates[0].note,
        "low": [low for low, _ in ends],
        "high": [high for _, high in ends],
    }


def _dots(one: ModelScore) -> list[dict[str, Any]]:
    """What stands under the bar: wordings, readers, and what was published or asked in the study's own prompt."""
    bar = one.bar
    wordings = bar.cells.by_wording() if bar.cells.shape[1] > 1 else []
    share = bar.cells.is_binary
    dots = [_dot("wording", one.title(way), score, {"way": way}, share) for way, score in wordings]
    dots += [
        _dot("reader", title_of(name), other.value, {"reader": name}, share)
        for name, other in one.readers.items()
        if len(one.readers) > 1
    ]
    dots += [_dot("own", OWN.capitalize(), one.own.value, {"way": one.own_way}, share)] if one.own else []
    dots += [_dot("published", "Published", one.published, {}, share)] if one.published is not None else []
    return dots


def _dot(kind: str, title: str, score: float, behind: dict[str, str], is_share: bool) -> dict[str, Any]:
    return {"kind": kind, "title": title, "score": score, "text": score_text(score, is_share), "behind": behind}


def _ends(models: list[dict[str, Any]]) -> list[float]:
    """The ends of the one axis: all scores and all limits at 95%; [0, 1] for shares that need most of it."""
    at = LEVELS.index(0.95)
    values = [dot["score"] for one in models for dot in one["dots"]] + [one["score"] for one in models]
    values += [bar[end][at] for one in models for bar in one["bars"] for end in ("low", "high") if bar[end][at] is not None]
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        return [0.0 if low < 0.5 else 0.5, 1.0]
    room = 0.05 * (high - low or 1.0)
    return [low - room, high + room]
