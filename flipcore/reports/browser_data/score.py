"""The score's board: a model's sentence and its intervals at every level, and the dots of wordings
and readers. The browser looks them up while the level is dragged."""

from typing import Any

from flipcore.claims.score import score_text
from flipcore.core.records import digest
from flipcore.extractors import title_of
from flipcore.reports.browser_data.levels import LEVELS, nearest
from flipcore.reports.browser_data.ranking import by_level
from flipcore.reports.score import INTERVAL_TITLES, OWN, ModelScore, ScoreReport


def board(report: ScoreReport, level: float, at_once: int = 1) -> dict[str, Any]:
    """Make the board: `levels, start, ends, models`. Each of the models holds `sentences` and
    `details` by level, its `bars` from inside out with `low` and `high` by level (None where there
    is none), and `dots`. With `at_once` the limits hold for so many scores together (Bonferroni).
    """
    models = [_model(score, at_once) for score in report.models]
    arrays: dict[str, Any] = {
        "levels": list(LEVELS),
        "start": nearest(LEVELS, level),
        "ends": _ends(models),
        "models": models,
        "is_share": all(score.bar.cells.is_binary for score in report.models),
    }
    return arrays | {"id": digest(arrays)}


def together(level: float, at_once: int) -> float:
    """The level of each of so many intervals that hold together at `level`."""
    return 1 - (1 - level) / at_once


def _model(score: ModelScore, at_once: int) -> dict[str, Any]:
    by_levels = [score.at(together(level, at_once)) for level in LEVELS]
    return {
        "name": score.model,
        "score": score.bar.value,
        "sentences": by_level([at_level.claim.text for at_level in by_levels]),
        "details": by_level([at_level.claim.detail for at_level in by_levels]),
        "bars": [_bar(name, by_levels) for name in INTERVAL_TITLES],
        "dots": _dots(score),
    }


def _bar(name: str, by_levels: list[ModelScore]) -> dict[str, Any]:
    low, high = [], []
    for score in by_levels:
        estimate = score.bar.estimate(name)
        low.append(estimate.low if estimate.has_interval else None)
        high.append(estimate.high if estimate.has_interval else None)
    why_not = by_levels[0].bar.estimate(name).note
    title = INTERVAL_TITLES[name]
    return {"name": name, "title": title, "why_not": why_not, "low": low, "high": high}


def _dots(score: ModelScore) -> list[dict[str, Any]]:
    """The dots under the bar: wordings, extractors, and the scores that were published or asked in
    the study's own prompt."""
    cells = score.bar.cells
    dots: list[dict[str, Any]] = []

    def add(kind: str, title: str, value: float, **behind: str) -> None:
        text = score_text(value, is_share=cells.is_binary)
        dot = {"kind": kind, "title": title, "score": value, "text": text, "behind": behind}
        dots.append(dot)

    if cells.shape[1] > 1:
        for way, value in cells.by_wording():
            add("wording", score.title(way), value, way=way)
    # A single extractor is the bar itself.
    if len(score.readers) > 1:
        for name, bar in score.readers.items():
            add("reader", title_of(name), bar.value, reader=name)
    if score.own_prompt:
        add("own", OWN.capitalize(), score.own_prompt.value, way=score.own_way)
    if score.published is not None:
        add("published", "Published", score.published)
    return dots


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
