"""The score's board: a model's sentence and its intervals at every level, and the dots of wordings
and readers. The browser looks them up while the level is dragged."""

from typing import Any

from flipcore.claims.score import score_text
from flipcore.core.records import digest
from flipcore.extractors import title_of
from flipcore.reports.browser_data.levels import LEVELS
from flipcore.reports.browser_data.ranking import by_level
from flipcore.reports.score import INTERVAL_TITLES, OWN, ModelScore, ScoreReport


def board(report: ScoreReport, level: float, at_once: int = 1) -> dict[str, Any]:
    """`levels, start, ends, models`. Each of the models holds `sentences` and `details` by level,
    its `bars` from inside out with `low` and `high` by level (None where there is none), and
    `dots`. With `at_once` the limits hold for so many scores together (Bonferroni).
    """
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
    at_levels = [one.at(together(level, at_once)) for level in LEVELS]
    return {
        "name": one.model,
        "score": one.bar.value,
        "sentences": by_level([score.claim.text for score in at_levels]),
        "details": by_level([score.claim.detail for score in at_levels]),
        "bars": [_bar(name, at_levels) for name in INTERVAL_TITLES],
        "dots": _dots(one),
    }


def _bar(name: str, at_levels: list[ModelScore]) -> dict[str, Any]:
    estimates = [score.bar.estimate(name) for score in at_levels]
    ends = [(one.low, one.high) if one.has_interval else (None, None) for one in estimates]
    return {
        "name": name,
        "title": INTERVAL_TITLES[name],
        "why_not": estimates[0].note,
        "low": [low for low, _ in ends],
        "high": [high for _, high in ends],
    }


def _dots(one: ModelScore) -> list[dict[str, Any]]:
    """What stands under the bar: wordings, readers, and what was published or asked in the study's
    own prompt."""
    bar = one.bar
    wordings = bar.cells.by_wording() if bar.cells.shape[1] > 1 else []
    share = bar.cells.is_binary
    dots = [
        _dot("wording", one.title(way), score, {"way": way}, is_share=share)
        for way, score in wordings
    ]
    for name, reader_bar in one.readers.items() if len(one.readers) > 1 else ():
        dots.append(
            _dot("reader", title_of(name), reader_bar.value, {"reader": name}, is_share=share)
        )
    if one.own_prompt:
        behind = {"way": one.own_way}
        dots.append(_dot("own", OWN.capitalize(), one.own_prompt.value, behind, is_share=share))
    if one.published is not None:
        dots.append(_dot("published", "Published", one.published, {}, is_share=share))
    return dots


def _dot(
    kind: str, title: str, score: float, behind: dict[str, str], *, is_share: bool
) -> dict[str, Any]:
    return {
        "kind": kind,
        "title": title,
        "score": score,
        "text": score_text(score, is_share),
        "behind": behind,
    }


def _ends(models: list[dict[str, Any]]) -> list[float]:
    """The ends of the one axis: all scores and all limits at 95%; [0, 1] for shares that need most
    of it."""
    level_index = LEVELS.index(0.95)
    values = []
    for model in models:
        values += [model["score"], *(dot["score"] for dot in model["dots"])]
        for bar in model["bars"]:
            limits = (bar["low"][level_index], bar["high"][level_index])
            values += [limit for limit in limits if limit is not None]
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        return [0.0 if low < 0.5 else 0.5, 1.0]
    room = 0.05 * (high - low or 1.0)
    return [low - room, high + room]
