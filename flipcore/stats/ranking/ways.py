"""Scores of several models under all ways. A way is a variant of the prompt, read by one
extractor."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.core.records import ABSENT, BASE, CUT, IDENTITY, UNREADABLE
from flipcore.stats.base.families import family_numbers

_ITEM = ["item_id", "model", "extractor"]


@dataclass(frozen=True)
class Way:
    """A variant of the prompt (an axis and the key of its variant) and an extractor. The study's
    own prompt is the variant "base" of the identity axis."""

    axis: str
    key: str
    extractor: str

    @property
    def is_base(self) -> bool:
        return self.key == BASE


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of models; a score is the share of an item's samples that are right.

    families : (items,) family numbers.
    values : (ways, items, models) scores, with cut and unreadable answers wrong; NaN where nothing
        came back.
    lowest, highest : (ways, items, models) scores with all unread answers (unreadable, cut off or
        failed) wrong, and with all of them right. NaN where a model was not asked, or was never
        read under a way.
    unread : (ways, models) shares of unread answers.
    """

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
        """True if any items share a family."""
        return len(set(self.families.tolist())) < len(self.items)

    @property
    def groups(self) -> np.ndarray | None:
        """(items,) family numbers; None if no two items share a family."""
        return family_numbers(self.families) if self.is_templated else None

    def common(self, way: int) -> np.ndarray:
        """Return (items,), True if all models that answered anything under this way have a score
        for the item."""
        has_score = ~np.isnan(self.values[way])
        answered = has_score.any(axis=0)
        if not answered.any():
            return np.zeros(len(self.items), dtype=bool)
        return has_score[:, answered].all(axis=1)


def scores(frame: pd.DataFrame) -> Scores:
    """Build the scores from the readouts of several models (`queries.readouts`) on items of one
    role. Ways are in the study's order, its own prompt first."""
    # A failed call has no score but was asked, so it counts for extractors that give scores at all.
    has_score = frame["is_correct"].notna()
    gives_scores = frame["extractor"].isin(frame.loc[has_score, "extractor"].unique())
    scored = frame[has_score | ((frame["status"] == ABSENT) & gives_scores)]
    models, items = (tuple(dict.fromkeys(scored[column])) for column in ("model", "item_id"))
    # The base prompt has rows under several axes; its readouts count once, as a way of identity.
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
    keys = ["axis", "variant", "extractor", "item_id", "model"]
    means = parts.groupby(keys, sort=False)[columns].mean()
    ways = _ordered_ways(means.index, list(dict.fromkeys(scored["extractor"])))
    way_number = {way: i for i, way in enumerate(ways)}
    item_number = {item: i for i, item in enumerate(items)}
    model_number = {model: i for i, model in enumerate(models)}
    arrays = np.full((len(columns), len(ways), len(items), len(models)), np.nan)
    indices = [
        (way_number[Way(axis, key, name)], item_number[item], model_number[model])
        for axis, key, name, item, model in means.index
    ]
    if indices:
        index = tuple(np.array(indices).T)
        for array, column in zip(arrays, columns, strict=True):
            array[index] = means[column]
    values, lowest, highest, unread_shares = arrays
    n = np.maximum((~np.isnan(unread_shares)).sum(axis=1), 1)
    unread = np.nansum(unread_shares, axis=1) / n
    # Nothing is known about a model under a way in which it was never read. 1e-12, because a mean
    # of ones may differ from 1 by rounding.
    is_never_read = np.broadcast_to((unread > 1 - 1e-12)[:, None, :], values.shape)
    lowest[is_never_read] = highest[is_never_read] = np.nan
    family = scored.drop_duplicates("item_id").set_index("item_id")["family"]
    numbers = pd.factorize(family.reindex(list(items)))[0]
    return Scores(
        models,
        ways,
        items=items,
        families=numbers,
        values=values,
        lowest=lowest,
        highest=highest,
        unread=unread,
    )


def _ordered_ways(keys: Iterable[tuple[str, ...]], extractors: Sequence[str]) -> tuple[Way, ...]:
    """Return the ways in `keys` (axis, variant, extractor, ...), by the first occurrence of their
    prompt and then by extractor."""
    present = {(axis, variant, extractor) for axis, variant, extractor, *_ in keys}
    prompts = dict.fromkeys((axis, variant) for axis, variant, *_ in keys)
    ways = []
    for axis, variant in prompts:
        for extractor in extractors:
            if (axis, variant, extractor) in present:
                ways.append(Way(axis, variant, extractor))
    return tuple(ways)
