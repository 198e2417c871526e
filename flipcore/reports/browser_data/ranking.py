"""The ranking's board: what each model's rank may be under every way at every level, and the
sentences that belong to it. The browser looks them up while the level is dragged."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from flipcore.claims.ranking import Contest, best_claim, pair_claim, place
from flipcore.core.records import digest
from flipcore.reports.browser_data.levels import LEVELS, nearest
from flipcore.reports.ranking import RankingReport, accuracy, by_rank
from flipcore.stats.base.estimate import percent_text
from flipcore.stats.ranking.order import rank_limits
from flipcore.stats.ranking.ways import Way

MOST_PAIRS = 6  # with a sentence each above the table; all pairs stand in the table under it


def way_id(way: Way) -> str:
    """ "option_order|rotate-1|regex"; what a click on a row sends and a link holds."""
    return f"{way.axis}|{way.key}|{way.extractor}"


def board(report: RankingReport, level: float) -> dict[str, Any]:
    """Make the board: `levels, start, models, ways, best, worst, headline, pairs`. `best` and
    `worst` are flat in the order level, way, model; `headline` and each of `pairs` hold their
    different sentences and which of them stands at each level.
    """
    contest, models = report.contest, by_rank(report.contest)
    best, worst, headlines = [], [], []
    for shown_level in LEVELS:
        best_ranks, worst_ranks = rank_limits(contest.p_by_way, 1 - shown_level)
        best.append(best_ranks[:, models])
        worst.append(worst_ranks[:, models])
        headlines.append(best_claim(contest, shown_level).text)
    pairs = []
    for j, k in list(combinations(models, 2))[:MOST_PAIRS]:
        sentences = [pair_claim(contest, j, k, shown_level).text for shown_level in LEVELS]
        pairs.append(by_level(sentences))
    arrays: dict[str, Any] = {
        "levels": list(LEVELS),
        "start": nearest(LEVELS, level),
        "models": [contest.models[m] for m in models],
        "ways": [_way(contest, i, models) for i in range(len(contest.is_claimed))],
        "best": np.array(best).ravel().tolist(),
        "worst": np.array(worst).ravel().tolist(),
        "headline": by_level(headlines),
        "pairs": pairs,
        "detail": report.claims[0].detail,
    }
    return arrays | {"id": digest(arrays)}


def by_level(sentences: Sequence[str]) -> dict[str, Any]:
    """The different sentences, and which one stands at each level."""
    # Neighbouring levels share a sentence: each is sent once.
    different = list(dict.fromkeys(sentences))
    return {"sentences": different, "at": [different.index(sentence) for sentence in sentences]}


def _way(contest: Contest, i: int, models: Sequence[int]) -> dict[str, Any]:
    way, ranks = contest.order.scores.ways[i], contest.order.ranks
    estimates = [accuracy(contest, i, m) for m in models]
    return {
        "id": way_id(way),
        "label": place(way)[:1].upper() + place(way)[1:],
        "is_own": i == contest.own_way,
        "items": int(contest.order.n[i]),
        "claimed": bool(contest.is_claimed[i]),
        "accuracy": [percent_text(estimate.value) for estimate in estimates],
        "interval": [estimate.text_percent() for estimate in estimates],
        "ranks": [None if np.isnan(ranks[i, m]) else int(ranks[i, m]) for m in models],
    }
