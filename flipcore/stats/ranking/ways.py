"""Scores of several models under every way of asking and reading: one way is a variant of the prompt under one extractor."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.core.records import ABSENT, BASE, CUT, IDENTITY, UNREADABLE
from flipcore.stats.base.families import family_numbers

_ITEM = ["item_id", "model", "extractor"]


@dataclass(frozen=True)
class Way:
    """A way of asking (an axis and a variant's key; the study's own prompt is "base" of the identity axis) and of reading."""

    axis: str
    key: str
    extractor: str

    @property
    def is_base(self) -> bool:
        return self.key == BASE


@dataclass(frozen=True, eq=False)
class Scores:
    """`values` (ways, items, models): the share of an item's samples that are right, NaN where nothing came back. Cut-off and
    unreadable answers are wrong, as the accuracy of a card has them. `lowest` and `highest` are the same with every answer that nobody
    read (unreadable, cut off, failed) wrong, and right; NaN where a model was not asked, or never read under a way. `unread`
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
        """(items,) numbers of families; None where every item is one of its own."""
        return family_numbers(self.families) if self.is_templated else None

    def common(self, way: int) -> np.ndarray:
        """(items,) True where every model that answered anything under this way has a score."""
        there = ~np.isnan(self.values[way])
        present = there.any(axis=0)
        return there[:, present].all(axis=1) if present.any() else np.zeros(len(self.items), dtype=bool)


def scores(frame: pd.DataFrame) -> Scores:
    """From readouts of several models (`queries.readouts`), of one role. Ways come in the study's order, its own prompt first."""
    has_score = frame["is_correct"].notna()
    is_read_somewhere = frame["extractor"].isin(frame.loc[has_score, "extractor"].unique())
    scored = frame[has_score | ((frame["status"] == ABSENT) & is_read_somewhere)]
    models, items = (tuple(dict.fromkeys(scored[column])) for column in ("model", "item_id"))
    base = scored[scored["variant"] == BASE].drop_duplicates([*_ITEM, "variant_id", "sample"])
    base = base.assign(axis=IDENTITY)
    parts = pd.concat([base, scored[scored["variant"] != BASE]])
    is_open = parts["status"].isin((UNREADABLE, CUT, ABSENT))
    right = parts["is_correct"].astype(float)
    parts = parts.assign(
        right=right, unread=is_open.astype(float), lowest=right.where(~is_open, 0.0), highest=right.where(~is_open, 1.0)
    )
    columns = ["right", "lowest", "highest", "unread"]
    means = parts.groupby(["axis", "variant", "extractor", "item_id", "model"], sort=False)[columns].mean()
    ways = _ordered(means.index, list(dict.fromkeys(scored["extractor"])))
    at = [{name: i for i, name in enumerate(names)} for names in (ways, items, models)]
    arrays = np.full((len(columns), len(ways), len(items), len(models)), np.nan)
    places = [(at[0][Way(axis, key, name)], at[1][item], at[2][model]) for axis, key, name, item, model in means.index]
    if places:
        where = tuple(np.array(places).T)
        for array, column in zip(arrays, columns, strict=True):
            array[where] = means[column]
    values, lowest, highest, open_shares = arrays
    n = np.maximum((~np.isnan(open_shares)).sum(axis=1), 1)
    unread = np.nansum(open_shares, axis=1) / n
    for side in (lowest, highest):  # of a model that was never read under a way nothing is known there
        side[np.broadcast_to((unread > 1 - 1e-12)[:, None, :], side.shape)] = np.nan
    family = scored.drop_duplicates("item_id").set_index("item_id")["family"]
    numbers = pd.factorize(family.reindex(list(items)))[0]
    return Scores(models, ways, items, numbers, values, lowest, highest, unread)


def _ordered(places: Iterable[tuple[str, ...]], extractors: Sequence[str]) -> tuple[Way, ...]:
    """Every extractor of one prompt after the other; the study's own prompt first."""
    there = {place[:3]: None for place in places}
    prompts = dict.fromkeys(place[:2] for place in there)
    return tuple(Way(axis, key, name) for axis, key in prompts for name in extractors if (axis, key, name) in there)
