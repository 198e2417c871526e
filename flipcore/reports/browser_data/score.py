"""The score's board: a model's sentence and its intervals at every level, and the dots of prompts
and extractors."""

import math
from collections.abc import Sequence

from flipcore.claims.score import score_text
from flipcore.extractors import title_of
from flipcore.reports.browser_data.board import Board, Headline, Row, level_control, packed, steps
from flipcore.reports.browser_data.levels import LEVELS, nearest
from flipcore.reports.score import INTERVAL_TITLES, OWN, ModelScore, ScoreReport

DOT_ROWS = {
    "published": "Published",
    "wording": "Each prompt",
    "own": "Own prompt",
    "reader": "Each extractor",
}


def board(report: ScoreReport, level: float, at_once: int = 1) -> Board:
    """Make the board: per model its sentences, its nested intervals, and a row per kind of dot.
    With `at_once` the limits hold for so many scores together (Bonferroni)."""
    rows, headlines, values, shown_intervals = [], [], [], set()
    for score in report.models:
        by_levels = [score.at(together(shown_level, at_once)) for shown_level in LEVELS]
        claims = [at_level.claim for at_level in by_levels]
        sentences = steps(claim.text for claim in claims)
        headlines.append(Headline(sentences, steps(claim.detail for claim in claims)))
        dots, intervals = _dots(score), _intervals(by_levels)
        bar = {
            "kind": "nested",
            "name": f"{score.model}: intervals",
            "value": score.bar.value,
            "intervals": intervals,
        }
        if len(report.models) > 1:
            rows.append(Row(score.model, style="group"))
        rows += [*_dot_rows(dots, ["published"]), Row("Score", pictures=[bar])]
        rows += _dot_rows(dots, ["wording", "own", "reader"])
        values += [score.bar.value, *(dot["value"] for dot in dots)]
        for name in intervals:
            estimate = by_levels[LEVELS.index(0.95)].bar.estimate(name)
            values += [estimate.low, estimate.high]
        at_start = by_levels[nearest(LEVELS, level)].bar
        shown_intervals |= {name for name in intervals if at_start.estimate(name).has_interval}
    return Board(
        "score",
        [*rows, Row(pictures=[{"kind": "axis", "name": "Scale of the score"}])],
        headlines,
        [level_control(LEVELS, level)],
        legend=[
            (INTERVAL_TITLES[name], name) for name in INTERVAL_TITLES if name in shown_intervals
        ],
        scale=_ends([value for value in values if math.isfinite(value)]),
        is_share=all(score.bar.cells.is_binary for score in report.models),
    )


def together(level: float, at_once: int) -> float:
    """The level of each of so many intervals that hold together at `level`."""
    return 1 - (1 - level) / at_once


def _intervals(by_levels: Sequence[ModelScore]) -> dict[str, dict]:
    """The intervals of a model from inside out, without those that it has at no level."""
    intervals = {}
    for name, title in INTERVAL_TITLES.items():
        estimates = [score.bar.estimate(name) for score in by_levels]
        if any(estimate.has_interval for estimate in estimates):
            intervals[name] = {
                "title": title,
                "low": packed([estimate.low for estimate in estimates]),
                "high": packed([estimate.high for estimate in estimates]),
            }
    return intervals


def _dot_rows(dots: Sequence[dict], kinds: Sequence[str]) -> list[Row]:
    rows = []
    for kind in kinds:
        shown = [dot for dot in dots if dot["kind"] == kind]
        title = DOT_ROWS[kind]
        if shown:
            label = f"{title} ({len(shown)})" if len(shown) > 1 else title
            rows.append(Row(label, pictures=[{"kind": "dots", "name": title, "dots": shown}]))
    return rows


def _dots(score: ModelScore) -> list[dict]:
    """The dots under the bar: prompts, extractors, and the scores that were published or asked in
    the study's own prompt. A click on a dot sends what it `opens`."""
    cells = score.bar.cells
    dots: list[dict] = []

    def add(kind: str, title: str, value: float, **behind: str) -> None:
        text = f"{title}: {score_text(value, is_share=cells.is_binary)}"
        dot = {"kind": kind, "title": title, "value": value, "text": text}
        opens = {"model": score.model, **behind} if behind else None
        dots.append(dot | {"id": behind.get("way", ""), "opens": opens})

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


def _ends(values: Sequence[float]) -> list[float]:
    """Ends of the one axis over scores and 95% limits; [0, 1] for shares that need most of it."""
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        return [0.0 if low < 0.5 else 0.5, 1.0]
    room = 0.05 * (high - low or 1.0)
    return [low - room, high + room]
