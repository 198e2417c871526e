"""The score's board: sentences and intervals at every level, and dots of prompts and extractors."""

import math
from collections.abc import Sequence

from flipcore.claims.score import score_text
from flipcore.extractors import title_of
from flipcore.reports.browser_data.board import Board, Headline, Row, level_control, packed, steps
from flipcore.reports.browser_data.levels import LEVELS, nearest
from flipcore.reports.score import OWN_PROMPT, ModelScore, ScoreReport

# Kind of dot, as messages and links name it -> title of its row.
DOT_ROWS = {
    "published": "Published",
    "wording": "Each prompt",
    "own": "Own prompt",
    "reader": "Each extractor",
}


def board(report: ScoreReport, level: float, n_scores: int = 1) -> Board:
    """Make the board: per model its sentences, its nested intervals, and a row per kind of dot. The
    limits hold for `n_scores` scores together (Bonferroni)."""
    rows, headlines, values, shown_intervals = [], [], [], set()
    for score in report.models:
        each_levels = [level_of_each(shown_level, n_scores) for shown_level in LEVELS]
        scores_by_level = [score.at_level(each_level) for each_level in each_levels]
        claims = [at_level.claim for at_level in scores_by_level]
        sentences = steps(claim.text for claim in claims)
        headlines.append(Headline(sentences, steps(claim.detail for claim in claims)))
        dots, intervals = _dots(score), _intervals(scores_by_level)
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
            estimate = scores_by_level[LEVELS.index(0.95)].bar.estimate(name)
            values += [estimate.low, estimate.high]
        start_bar = scores_by_level[nearest(LEVELS, level)].bar
        shown_intervals |= {name for name in intervals if start_bar.estimate(name).has_interval}
    titles = report.models[0].interval_titles
    legend = [(title, name) for name, title in titles.items() if name in shown_intervals]
    return Board(
        "score",
        [*rows, Row(pictures=[{"kind": "axis", "name": "Scale of the score"}])],
        headlines,
        [level_control(LEVELS, level)],
        legend=legend,
        scale=_ends([value for value in values if math.isfinite(value)]),
        is_share=all(score.bar.cells.is_share for score in report.models),
    )


def level_of_each(level: float, n_scores: int) -> float:
    """Return the level of each of `n_scores` intervals that hold together at `level`."""
    return 1 - (1 - level) / n_scores


def _intervals(scores_by_level: Sequence[ModelScore]) -> dict[str, dict]:
    """Return the intervals of a model, the narrowest first, without those that it lacks."""
    intervals = {}
    for name, title in scores_by_level[0].interval_titles.items():
        estimates = [score.bar.estimate(name) for score in scores_by_level]
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
    """Return the dots around the bar: prompts, extractors, the own prompt's and published scores. A
    click on a dot sends what it `opens`; None opens nothing."""
    cells = score.bar.cells
    dots: list[dict] = []

    def add(kind: str, title: str, value: float, **place: str) -> None:
        text = f"{title}: {score_text(value, is_share=cells.is_share)}"
        dot = {"kind": kind, "title": title, "value": value, "text": text}
        opens = {"model": score.model, **place} if place else None
        dots.append(dot | {"id": place.get("way", ""), "opens": opens})

    if cells.shape[1] > 1:
        for way, value in cells.by_wording():
            add("wording", score.title(way), value, way=way)
    # A single extractor would repeat the bar.
    if len(score.extractor_bars) > 1:
        for name, bar in score.extractor_bars.items():
            add("reader", title_of(name), bar.value, reader=name)
    if score.own_prompt:
        add("own", OWN_PROMPT.capitalize(), score.own_prompt.value, way=score.own_way)
    if score.published is not None:
        add("published", "Published", score.published)
    return dots


def _ends(values: Sequence[float]) -> list[float]:
    """Return the ends of the axis over scores and 95% limits; shares get [0, 1] or [0.5, 1]."""
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        return [0.0 if low < 0.5 else 0.5, 1.0]
    pad = 0.05 * (high - low or 1.0)
    return [low - pad, high + pad]
