"""The flip surface: items × axes of T_i, and one axis opened into its variants (source 004)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.core.records import BASE, CUT, IDENTITY
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.intervals import UNIT
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.flips.disagreement import ABSENT, NULL, between, pair_flips, within


@dataclass(frozen=True)
class Cells:
    """Rates as (items, columns) arrays, NaN where undefined; `unreadable` is the share of finished
    answers that were NULL, `cut` the share of all answers that were cut off (None: none was)."""

    items: list[str]
    columns: list[str]
    rate: np.ndarray
    unreadable: np.ndarray
    cut: np.ndarray | None = None

    @property
    def cut_shares(self) -> np.ndarray:
        """(items, columns) share of answers that were cut off."""
        return np.zeros(self.rate.shape) if self.cut is None else self.cut


@dataclass(frozen=True)
class Block:
    """One model, axis and extractor as codes (items, variants, samples); `keys[j]` names variant
    column j of the axis. `cut` marks answers that were cut off, which are in no pair."""

    items: np.ndarray
    keys: list[str]
    codes: np.ndarray
    cut: np.ndarray


_READ = ["item_id", "axis", "variant", "position", "sample", "status", "answer"]


def block(frame: pd.DataFrame) -> Block:
    """Code the readouts of one model, axis and extractor; a variant's column is its position within
    the item."""
    item_codes, items = pd.factorize(frame["item_id"], sort=False)
    answer_codes, _ = pd.factorize(frame["answer"])
    codes = np.where(
        frame["status"] == "ok",
        answer_codes,
        np.where(frame["status"] == "unreadable", NULL, ABSENT),
    )
    positions, places = np.unique(frame["position"].to_numpy(), return_inverse=True)
    grid = np.full(
        (len(items), len(positions), int(frame["sample"].max()) + 1 if len(frame) else 0),
        ABSENT,
        dtype=np.int64,
    )
    grid[item_codes, places, frame["sample"].to_numpy()] = codes
    cut = np.zeros(grid.shape, dtype=bool)
    cut[item_codes, places, frame["sample"].to_numpy()] = frame["status"] == CUT
    names = frame.drop_duplicates("position").set_index("position")["variant"]
    return Block(
        np.asarray(items, dtype=object), [str(names[position]) for position in positions], grid, cut
    )


def item_rates(codes: np.ndarray, axis: str, policy: str = "own_class") -> np.ndarray:
    """Return (items,) T_i between variants; on the identity axis the disagreement of the base
    prompt's samples."""
    return within(codes, policy) if axis == IDENTITY else between(codes, policy).rate


def surface(frame: pd.DataFrame, extractor: str, policy: str = "own_class") -> Cells:
    """Return T_i of each item and axis under one extractor. `frame`: readouts of one model."""
    frame = frame.loc[frame["extractor"] == extractor, _READ]
    items, axes = list(frame["item_id"].unique()), sorted(frame["axis"].unique(), key=_place)
    row = {item: i for i, item in enumerate(items)}
    rate, unreadable, cut = np.full((3, len(items), len(axes)), np.nan)
    for c, axis in enumerate(axes):
        part = block(frame[frame["axis"] == axis])
        rows = [row[item] for item in part.items]
        rate[rows, c] = item_rates(part.codes, axis, policy)
        unreadable[rows, c] = _unreadable(part.codes, (1, 2))
        cut[rows, c] = _cut(part.codes, part.cut, (1, 2))
    return Cells(items, axes, rate, unreadable, cut)


def _place(axis: str) -> tuple[bool, str]:
    """Sort the noise floor first, then by name: columns do not jump as results come in."""
    return axis != IDENTITY, axis


def opened(frame: pd.DataFrame, axis: str, extractor: str, policy: str = "own_class") -> Cells:
    """Open one axis: for each variant but the base, the share of sample pairs in which it disagrees
    with the base."""
    part = block(frame[(frame["extractor"] == extractor) & (frame["axis"] == axis)])
    base, changed = part.codes[:, :1, :, None], part.codes[:, 1:, None, :]
    usable, differs = pair_flips(base, changed, policy)
    n_sample_pairs = usable.sum(axis=(2, 3))
    out = np.full(n_sample_pairs.shape, np.nan)
    rate = np.divide(differs.sum(axis=(2, 3)), n_sample_pairs, out=out, where=n_sample_pairs > 0)
    return Cells(
        list(part.items),
        part.keys[1:],
        rate,
        _unreadable(part.codes[:, 1:], 2),
        _cut(part.codes[:, 1:], part.cut[:, 1:], 2),
    )


def _unreadable(codes: np.ndarray, over) -> np.ndarray:
    n_present = (codes != ABSENT).sum(axis=over)
    out = np.zeros(n_present.shape)
    return np.divide((codes == NULL).sum(axis=over), n_present, out=out, where=n_present > 0)


def _cut(codes: np.ndarray, cut: np.ndarray, over) -> np.ndarray:
    n_asked = ((codes != ABSENT) | cut).sum(axis=over)
    return np.divide(cut.sum(axis=over), n_asked, out=np.zeros(n_asked.shape), where=n_asked > 0)


def opened_axes(frame: pd.DataFrame) -> list[str]:
    """Return the axes with variants to open: those that changed something. The noise floor has
    none, nor an axis that is not harmless."""
    changed = (frame["variant"] != BASE) & (frame["axis"] != IDENTITY)
    return list(frame["axis"][changed].unique())


@dataclass(frozen=True)
class Choices:
    """The models, extractors and axes that readouts offer to choose from, in their order there."""

    models: list[str]
    extractors: list[str]
    opened_axes: list[str]


def choices(frame: pd.DataFrame) -> Choices:
    """Return the models, extractors and axes with variants that a study's readouts hold."""
    return Choices(
        list(frame["model"].unique()), list(frame["extractor"].unique()), opened_axes(frame)
    )


def aligned(first: Cells, second: Cells, order: Sequence[str] = ()) -> tuple[Cells, Cells]:
    """Place both on the items and columns that either has; what one lacks is NaN. Items stand in
    `order` (that of the study, with which all pages take the same draws), or else in the
    first's."""
    present = {*first.items, *second.items}
    items = [
        item for item in dict.fromkeys([*order, *first.items, *second.items]) if item in present
    ]
    columns = list(dict.fromkeys([*first.columns, *second.columns]))
    columns = sorted(columns, key=_place) if IDENTITY in columns else columns
    return placed(first, items, columns), placed(second, items, columns)


def placed(cells: Cells, items: list[str], columns: list[str]) -> Cells:
    """Place the cells among more items and columns; what they lack is NaN."""
    rate, unreadable, cut = np.full((3, len(items), len(columns)), np.nan)
    rows = _positions(cells.items, items)
    places = [columns.index(column) for column in cells.columns]
    block = np.ix_(rows, places)
    rate[block], unreadable[block], cut[block] = cells.rate, cells.unreadable, cells.cut_shares
    return Cells(items, columns, rate, np.nan_to_num(unreadable), np.nan_to_num(cut))


def _positions(subset: list[str], items: list[str]) -> list[int]:
    place = {item: i for i, item in enumerate(items)}
    return [place[item] for item in subset]


def order_of(first: Cells, second: Cells, by: str, ids: list[str]) -> list[int]:
    """Return the row order: most flips in the first or the second readout, largest difference, or
    the order of the study."""

    def mean(cells: Cells) -> np.ndarray:
        defined = ~np.isnan(cells.rate)
        n = defined.sum(axis=1)
        return np.divide(np.nansum(cells.rate, axis=1), n, out=np.full(len(n), -1.0), where=n > 0)

    score = {
        "field": mean(first),
        "faithful": mean(second),
        "difference": mean(first) - mean(second),
        "study": -np.arange(len(ids), dtype=float),
    }[by]
    # Ids decide between equals, so that rows keep their places as results come in.
    by_id = sorted(range(len(ids)), key=ids.__getitem__)
    return [by_id[place] for place in np.argsort(-score[by_id], kind="stable")]


def flip_mask(first: Cells, second: Cells) -> np.ndarray:
    """Return (items,), True where either readout flips somewhere."""
    return (
        # An undefined cell is no flip.
        np.nan_to_num(first.rate).max(axis=1, initial=0)
        + np.nan_to_num(second.rate).max(axis=1, initial=0)
        > 0
    )


def column_means(
    cells: Cells,
    family_of: Mapping[str, str] | None = None,
    columns: np.ndarray | None = None,
    *,
    signed: bool = False,
) -> list[Estimate]:
    """Return the mean of each column of the cells, or of `columns` (items, k) over their rows, with
    its interval: over families where items share one, and over rows where all are of one family.
    `family_of` (item id -> family) names the study's items in their order; those without a row take
    part in the draws, so that a mean has the same interval on all pages. `signed`: paired
    differences, from -1 to 1."""
    rates, family_of = cells.rate if columns is None else columns, family_of or {}
    labels = [family_of.get(item, item) for item in cells.items]
    everyone = labels
    # Items without a row take part in the draws, so that all pages draw alike.
    if set(cells.items) <= family_of.keys() and len(set(cells.items)) == len(cells.items):
        study_rates = np.full((len(family_of), rates.shape[1]), np.nan)
        study_rates[_positions(cells.items, list(family_of))] = rates
        rates, everyone = study_rates, list(family_of.values())
    k, unit = rates.shape[1], (-1.0, 1.0) if signed else UNIT
    if len(set(everyone)) < len(everyone) and len(set(labels)) > 1:
        code = pd.factorize(np.asarray(everyone, dtype=object))[0]
        means = JointMeans(rates, families=code)
    else:
        means = JointMeans(rates)
    return [column[0] for column in means.estimates("default", [0.95], [unit] * k)]


def row_means(cells: Cells, without: str = IDENTITY) -> np.ndarray:
    """Return (items,) means of defined cells outside the noise-floor axis; NaN without one."""
    values = cells.rate[:, [c for c, column in enumerate(cells.columns) if column != without]]
    n = (~np.isnan(values)).sum(axis=1)
    return np.divide(np.nansum(values, axis=1), n, out=np.full(len(n), np.nan), where=n > 0)


def most_flipping(cells: Cells, i: int) -> str:
    """Return the column where item i flips most, the first of equals."""
    return cells.columns[int(np.nan_to_num(cells.rate[i], nan=-1.0).argmax())]
