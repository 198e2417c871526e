"""Cases of flipcore/stats/ranking."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from flipcore.core.records import FIRST_TOKEN, WRITTEN_ANSWER
from flipcore.stats.ranking import order, ways
from tests.stats.pinned.cases import pinned
from tests.stats.pinned.inputs import NAN, changes, fractions, readouts, shares
from tests.stats.pinned.results import Case

MODELS = ("m2", "m1", "m3")


def _frames() -> dict[str, pd.DataFrame]:
    three = readouts(14, 1, models=MODELS, n_variants=2, lost=0.15)
    one_model = readouts(12, 2, n_variants=2)
    apart = pd.concat(
        [
            readouts(12, 3, n_variants=1),
            readouts(20, 4, models=("m2",), n_variants=1).query("item_id >= 't/i19' or item_id == 't/i3'"),
        ]
    )
    return {
        "three models": three,
        "samples": readouts(11, 5, models=MODELS[:2], n_samples=2, n_variants=2, lost=0.05),
        "families": readouts(24, 6, models=MODELS[:2], n_variants=1, n_families=12, lost=0.05),
        "one model": one_model,
        "little in common": apart,
        "never read": three.assign(
            status=three["status"].where(three["model"] != "m3", "unreadable"),
            is_correct=three["is_correct"].where(three["model"] != "m3", False),
        ),
        "never answered": three[(three["model"] != "m3") | (three["variant"] == "base")],
        "extractor without scores": three.assign(
            is_correct=three["is_correct"].where(three["extractor"] == WRITTEN_ANSWER, None)
        ),
        "no score": three.assign(is_correct=None),
        "equal": readouts(12, 7, models=MODELS[:2], flips=0.0, lost=0.0, extractors=(WRITTEN_ANSWER,), n_variants=1),
    }


@pinned("ranking.ways")
def way_cases() -> Iterator[Case]:
    for name, frame in _frames().items():
        scores = ways.scores(frame)
        yield (
            name,
            lambda s=scores: [
                vars(s),
                s.is_templated,
                s.groups,
                [s.common(way) for way in range(len(s.ways))],
                [way.is_base for way in s.ways],
            ],
        )
    shuffled = _frames()["three models"].sample(frac=1.0, random_state=2)
    yield "shuffled", lambda: vars(ways.scores(shuffled)) | {"first": ways.scores(shuffled).values[:, :, 0]}
    yield "by extractor", lambda: ways.scores(shuffled[shuffled["extractor"] == FIRST_TOKEN]).unread


@pinned("ranking.order")
def order_cases() -> Iterator[Case]:
    for name, frame in _frames().items():
        scores = ways.scores(frame)
        if not len(scores.models):
            continue
        ranking = order.order(scores)
        yield name, lambda r=ranking: [r.means, r.n, r.n_families, r.p, r.ranks]
        yield f"{name}, adjusted", lambda r=ranking: [r.adjusted(np.arange(len(r.means)) < n) for n in (1, 2)]
        for j, k in product(range(min(2, len(scores.models))), range(len(scores.models))):
            if j != k:
                yield (
                    f"{name}, {j} and {k}",
                    lambda r=ranking, j=j, k=k: [
                        r.leads(j, k),
                        r.difference(0, j, k, 0.05),
                        [r.gaps(j, k, side) for side in ("lowest", "highest")],
                    ],
                )
    values = np.stack([shares(12), fractions(12), shares(12, 1)], axis=1)
    for groups in (None, np.arange(12) // 2):
        yield (
            f"better, {groups is None}",
            partial(order.better_p, values - np.maximum(changes(12), 0)[:, None] / 4, values, groups),
        )
    yield "better of one", partial(order.better_p, values[:, :1], values[:, :1])
    p = np.array([[NAN, 0.05, 0.01], [0.9, NAN, 0.0501], [0.2, 0.6, NAN]])
    yield "ranks", lambda: [order.rank_limits(p, 0.05), order.rank_limits(np.stack([p, p.T]), 0.01)]
