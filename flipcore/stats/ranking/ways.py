"""Scores of several models under all ways of asking and reading: a way is a variant of the prompt
under one extractor."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.core.records import ABSENT, BASE, CUT, IDENTITY, UNREADABLE
from flipcore.stats.base.families import family_numbers

_ITEM = ["item_id", "model", "extractor"]


@dataclass(frozen=True)
class Way:
    """A way of asking (an axis and a variant's key; the study's own prompt is "base" of the
    identity axis) and of reading."""

    axis: str
    key: str
    extractor: str

    @property
    def is_base(self) -> bool:
        return self.key == BASE


@dataclass(frozen=True, eq=False)
class Scores:
    """`values` (ways, items, models): the share of an item's samples that are right, NaN where
    nothing came back. Cut-off and unreadable answers are wrong, as the accuracy of a card has them.
    `lowest` and `highest` are the same with all answers that nobody read (unreadable, cut off,
    failed) wrong, and right; NaN where a model was not asked, or never read under a way. `unread`
    (ways, models) is their share. `families` numbers the family of each item."""

    models: tuple[str, ...]
    ways: tuple[Way, ...]
    items: tuple[str, ...]
    families: np.ndarray
    values: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    unread: np.ndarray

    @property
    def is_templated(self) -> bool:
        return len(set(self.families.tolist())) < len(self.items)

    @property
    def groups(self) -> np.ndarray | None:
        """(items,) numbers of families; None where each item is a family of its own."""
        return family_numbers(self.families) if self.is_templated else None

    def common(self, way: int) -> np.ndarray:
        """Return (items,), True where each model that answered anything under this way has a
        score."""
        has_score = ~np.isnan(self.values[way])
        answered = has_score.any(axis=0)
        if not answered.any():
            return np.zeros(len(self.items), dtype=bool)
        return has_score[:, answered].all(axis=1)


def scores(frame: pd.DataFrame) -> Scores:
    """Build the scores from readouts of several models (`queries.readouts`), of one role. Ways come
    in the study's order, its own prompt first."""
    # A failed call has no score but was asked; it counts where its extractor reads anything.
    has_score = frame["is_correct"].notna()
    is_read_somewhere = frame["extractor"].isin(frame.loc[has_score, "extractor"].unique())
    scored = frame[has_score | ((frame["status"] == ABSENT) & is_read_somewhere)]
    models, items = (tuple(dict.fromkeys(scored[column])) for column in ("model", "item_id"))
    # The base prompt stands under several axes; its readouts count once, as a way of identity.
    base = scored[scored["variant"] == BASE].drop_duplicates([*_ITEM, "variant_id", "sample"])
    base = base.assign(axis=IDENTITY)
    parts = pd.concat([base, scored[scored["variant"] != BASE]])
    is_open = parts["status"].isin((UNREADABLE, CUT, ABSENT))
    right = parts["is_correct"].astype(float)
    parts = parts.assign(
        right=right,
        unread=is_open.astype(float),
        lowest=right.where(~is_open, 0.0),
        highest=right.where(~is_open, 1.0),
    )
    columns = ["right", "lowest", "highest", "unread"]
    means = parts.groupby(["axis", "variant", "extractor", "item_id", "model"], sort=False)[
        columns
    ].mean()
    ways = _ordered(means.index, list(dict.fromkeys(scored["extractor"])))
    way_at = {way: i for i, way in enumerate(ways)}
    item_at = {item: i for i, item in enumerate(items)}
    model_at = {model: i for i, model in enumerate(models)}
    arrays = np.full((len(columns), len(ways), len(items), len(models)), np.nan)
    places = [
        (way_at[Way(axis, key, name)], item_at[item], model_at[model])
        for axis, key, name, item, model in means.index
    ]
    if places:
        index = tuple(np.array(places).T)
        for array, column in zip(arrays, columns, strict=True):
            array[index] = means[column]
    values, lowest, highest, open_shares = arrays
    n = np.maximum((~np.isnan(open_shares)).sum(axis=1), 1)
    unread = np.nansum(open_shares, axis=1) / n
    # Of a model that was never read under a way nothing is known there.
    for side in (lowest, highest):
        side[np.broadcast_to((unread > 1 - 1e-12)[:, None, :], side.shape)] = np.nan
    family = scored.drop_duplicates("item_id").set_index("item_id")["family"]
    numbers = pd.factorize(family.reindex(list(items)))[0]
    return Scores(models, ways, items, numbers, values, lowest, highest, unread)


def _ordered(places: Iterable[tuple[str, ...]], extractors: Sequence[str]) -> tuple[Way, ...]:
    """Order the ways by prompt, the study's own first, then by extractor."""
    present = dict.fromkeys(place[:3] for place in places)
    ways = []
    for axis, key in dict.fromkeys(way[:2] for way in present):
        ways += [Way(axis, key, name) for name in extractors if (axis, key, name) in present]
    return tuple(ways)
