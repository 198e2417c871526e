"""The ranking's board: each model's rank under every way at every level, and the sentences."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from flipcore.claims.ranking import Contest, best_claim, pair_claim, way_text
from flipcore.reports.browser_data.board import Board, Headline, Row, level_control, steps
from flipcore.reports.browser_data.levels import LEVELS
from flipcore.reports.ranking import RankingReport, accuracy, by_rank
from flipcore.stats.base.estimate import level_text, percent_text
from flipcore.stats.ranking.order import rank_limits
from flipcore.stats.ranking.ways import Way
from flipcore.text.counts import count_of, with_capital

MAX_PAIRS = 6  # most pairs of models with a sentence; the table of pairs has all
MAX_NAMED = 3  # most rows that a tick names


def way_id(way: Way) -> str:
    """Return "option_order|rotate-1|regex", the name of a way in messages and links."""
    return f"{way.axis}|{way.key}|{way.extractor}"


def board(report: RankingReport, level: float) -> Board:
    """Make the board: a row per way, with a picture of the possible ranks per model."""
    contest, models = report.contest, by_rank(report.contest)
    best, worst = [], []
    for shown_level in LEVELS:
        best_ranks, worst_ranks = rank_limits(contest.p_by_way, 1 - shown_level)
        best.append(best_ranks[:, models])
        worst.append(worst_ranks[:, models])
    ranks = np.stack([best, worst], axis=-1).astype(int)  # (levels, ways, models, limits)
    pairs = []
    for j, k in list(combinations(models, 2))[:MAX_PAIRS]:
        pairs.append(steps(pair_claim(contest, j, k, shown_level).text for shown_level in LEVELS))
    headline = steps(best_claim(contest, shown_level).text for shown_level in LEVELS)
    rows = [_row(contest, i, models, ranks[:, i]) for i in range(len(contest.may_be_claimed))]
    return Board(
        "ranking",
        rows,
        [Headline(headline, [[0, report.claims[0].detail]])],
        [level_control(LEVELS, level)],
        lines=pairs,
        columns=["Prompt and extractor", *(contest.models[m] for m in models)],
        changes=_changes(rows, ranks, contest.may_be_claimed),
        hint="Click to read the outputs on which the models differ.",
    )


def _changes(
    rows: Sequence[Row], ranks: np.ndarray, may_be_claimed: np.ndarray
) -> list[tuple[int, str]]:
    """Return (position, text) of each level at which the ranks of some row change."""
    changes = []
    for i in range(1, len(LEVELS)):
        has_moved = (ranks[i] != ranks[i - 1]).any(axis=(1, 2)) & may_be_claimed
        titles = list(dict.fromkeys(rows[j].title for j in np.flatnonzero(has_moved).tolist()))
        if titles:
            n_more = len(titles) - MAX_NAMED
            unnamed = f" and {count_of(n_more, 'more row')}" if n_more > 0 else ""
            named = "; ".join(titles[:MAX_NAMED])
            changes.append((i, f"at {level_text(LEVELS[i])} ranks change: {named}{unnamed}"))
    return changes


def _row(contest: Contest, i: int, models: Sequence[int], ranks: np.ndarray) -> Row:
    """Return the row of way `i`; `models` are model indices, `ranks` (levels, models, limits)."""
    way, may_be_claimed = contest.order.scores.ways[i], bool(contest.may_be_claimed[i])
    title, pictures = way_text(way), []
    for column, m in enumerate(models):
        estimate, rank = accuracy(contest, i, m), contest.order.ranks[i, m]
        picture = {
            "kind": "rank",
            "figure": percent_text(estimate.value),
            "hint": f"{contest.models[m]}: {estimate.text_percent()} right",
            "of": len(models),
            "rank": None if np.isnan(rank) else int(rank),
            "limits": steps(ranks[:, column].tolist()) if may_be_claimed else None,
        }
        pictures.append(picture)
    styles = {"own": i == contest.declared_way, "withheld": not may_be_claimed}
    return Row(
        with_capital(title),
        id=way_id(way),
        hint=f"{int(contest.order.n[i]):,} items.",
        pictures=pictures,
        style=" ".join(name for name, has_style in styles.items() if has_style),
    )
