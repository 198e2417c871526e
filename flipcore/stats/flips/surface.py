"""The flip surface (source 004): flip rates of items × axes, and of items × variants of an axis."""

from collections.abc import Iterable, Mapping, Sequence
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
    """Cells of the flip surface; arrays are (items, columns). Columns are axes or variants.

    rate : flip rate, NaN where undefined.
    unreadable : share of finished answers that could not be read.
    cut : share of all answers that were cut off; None if none was.
    """

    items: list[str]
    columns: list[str]
    rate: np.ndarray
    unreadable: np.ndarray
    cut: np.ndarray | None = None

    @property
    def cut_shares(self) -> np.ndarray:
        """(items, columns) shares of answers that were cut off."""
        return np.zeros(self.rate.shape) if self.cut is None else self.cut


@dataclass(frozen=True)
class CodedAnswers:
    """Answers of one model, axis and extractor; arrays are (items, variants, samples).

    `codes` are integers as in `disagreement`: >= 0 per answer, NULL if unreadable, ABSENT if
    missing or cut off. `is_cut` says which answers were cut off; they are in no comparison.
    """

    items: np.ndarray
    variants: list[str]
    codes: np.ndarray
    is_cut: np.ndarray


_COLUMNS = ["item_id", "axis", "variant", "position", "sample", "status", "answer"]


def code_answers(frame: pd.DataFrame) -> CodedAnswers:
    """Code the readouts of one model, axis and extractor. Variants are in the order of their
    position within the item."""
    item_index, items = pd.factorize(frame["item_id"], sort=False)
    answer, _ = pd.factorize(frame["answer"])
    status = frame["status"]
    row_codes = np.where(status == "ok", answer, np.where(status == "unreadable", NULL, ABSENT))
    positions, variant_index = np.unique(frame["position"].to_numpy(), return_inverse=True)
    n_samples = int(frame["sample"].max()) + 1 if len(frame) else 0
    index = (item_index, variant_index, frame["sample"].to_numpy())
    codes = np.full((len(items), len(positions), n_samples), ABSENT, dtype=np.int64)
    codes[index] = row_codes
    is_cut = np.zeros(codes.shape, dtype=bool)
    is_cut[index] = status == CUT
    names = frame.drop_duplicates("position").set_index("position")["variant"]
    variants = [str(names[position]) for position in positions]
    return CodedAnswers(np.asarray(items, dtype=object), variants, codes, is_cut)


def item_rates(codes: np.ndarray, axis: str, policy: str = "own_class") -> np.ndarray:
    """Return (items,) flip rates between variants; on the identity axis those between samples of
    the base prompt. `policy`, one of `disagreement.POLICIES`, says how unreadable answers count."""
    return within(codes, policy) if axis == IDENTITY else between(codes, policy).rate


def surface(frame: pd.DataFrame, extractor: str, policy: str = "own_class") -> Cells:
    """Return the flip rates of all items and axes under one extractor. `frame` has the readouts of
    one model; `policy` is as in `item_rates`."""
    frame = frame.loc[frame["extractor"] == extractor, _COLUMNS]
    items, axes = list(frame["item_id"].unique()), sorted(frame["axis"].unique(), key=_sort_key)
    rate, unreadable, cut = np.full((3, len(items), len(axes)), np.nan)
    for c, axis in enumerate(axes):
        part = code_answers(frame[frame["axis"] == axis])
        rows = _positions(part.items, items)
        rate[rows, c] = item_rates(part.codes, axis, policy)
        unreadable[rows, c] = _unreadable_shares(part.codes, (1, 2))
        cut[rows, c] = _cut_shares(part.codes, part.is_cut, (1, 2))
    return Cells(items, axes, rate, unreadable, cut)


def _sort_key(axis: str) -> tuple[bool, str]:
    # The noise floor first, then by name, so that columns do not move as results come in.
    return axis != IDENTITY, axis


def variant_cells(
    frame: pd.DataFrame, axis: str, extractor: str, policy: str = "own_class"
) -> Cells:
    """Return the rates of the variants of one axis, without the base prompt: the share of sample
    pairs in which a variant and the base prompt have different answers."""
    part = code_answers(frame[(frame["extractor"] == extractor) & (frame["axis"] == axis)])
    # Broadcasting makes all pairs of samples: (items, variants, base samples, variant samples).
    base, changed = part.codes[:, :1, :, None], part.codes[:, 1:, None, :]
    usable, differs = pair_flips(base, changed, policy)
    n_sample_pairs = usable.sum(axis=(2, 3))
    out = np.full(n_sample_pairs.shape, np.nan)
    rate = np.divide(differs.sum(axis=(2, 3)), n_sample_pairs, out=out, where=n_sample_pairs > 0)
    return Cells(
        list(part.items),
        part.variants[1:],
        rate,
        _unreadable_shares(part.codes[:, 1:], 2),
        _cut_shares(part.codes[:, 1:], part.is_cut[:, 1:], 2),
    )


def _unreadable_shares(codes: np.ndarray, array_axis: int | tuple[int, int]) -> np.ndarray:
    n_present = (codes != ABSENT).sum(axis=array_axis)
    out = np.zeros(n_present.shape)
    return np.divide((codes == NULL).sum(axis=array_axis), n_present, out=out, where=n_present > 0)


def _cut_shares(
    codes: np.ndarray, is_cut: np.ndarray, array_axis: int | tuple[int, int]
) -> np.ndarray:
    n_asked = ((codes != ABSENT) | is_cut).sum(axis=array_axis)
    out = np.zeros(n_asked.shape)
    return np.divide(is_cut.sum(axis=array_axis), n_asked, out=out, where=n_asked > 0)


def axes_with_variants(frame: pd.DataFrame) -> list[str]:
    """Return the axes that have variants besides the base prompt, without the noise floor."""
    changed = (frame["variant"] != BASE) & (frame["axis"] != IDENTITY)
    return list(frame["axis"][changed].unique())


@dataclass(frozen=True)
class Choices:
    """The models, extractors and axes to choose from, in the order of the readouts."""

    models: list[str]
    extractors: list[str]
    axes_with_variants: list[str]


def choices(frame: pd.DataFrame) -> Choices:
    """Return the models, extractors and axes with variants in a study's readouts."""
    return Choices(
        list(frame["model"].unique()), list(frame["extractor"].unique()), axes_with_variants(frame)
    )


def align(first: Cells, second: Cells, order: Sequence[str] = ()) -> tuple[Cells, Cells]:
    """Expand both to the items and columns that either has. Missing rates are NaN.

    Items are in `order`, or else in the order of `first`. Give the order of the study, so that all
    pages draw the same resamples.
    """
    present = {*first.items, *second.items}
    items = [
        item for item in dict.fromkeys([*order, *first.items, *second.items]) if item in present
    ]
    columns = list(dict.fromkeys([*first.columns, *second.columns]))
    columns = sorted(columns, key=_sort_key) if IDENTITY in columns else columns
    return expand(first, items, columns), expand(second, items, columns)


def expand(cells: Cells, items: list[str], columns: list[str]) -> Cells:
    """Return cells with these items and columns, which must include those of `cells`. New rates are
    NaN, new shares of unreadable and cut answers are 0."""
    rate = np.full((len(items), len(columns)), np.nan)
    unreadable, cut = np.zeros((2, *rate.shape))
    index = np.ix_(_positions(cells.items, items), _positions(cells.columns, columns))
    rate[index], unreadable[index], cut[index] = cells.rate, cells.unreadable, cells.cut_shares
    return Cells(items, columns, rate, np.nan_to_num(unreadable), np.nan_to_num(cut))


def _positions(subset: Iterable[str], names: Sequence[str]) -> list[int]:
    position = {name: i for i, name in enumerate(names)}
    return [position[name] for name in subset]


def order_of(compared: Cells, reference: Cells, by: str, ids: list[str]) -> list[int]:
    """Return the order of rows, whose item ids are `ids`. `by` is "field" for most flips in
    `compared`, "faithful" for most in `reference`, "difference" for the largest compared -
    reference, or "study" for the order as given."""

    def mean(cells: Cells) -> np.ndarray:
        n = (~np.isnan(cells.rate)).sum(axis=1)
        # -1 is below any mean, so that rows without a rate come last.
        return np.divide(np.nansum(cells.rate, axis=1), n, out=np.full(len(n), -1.0), where=n > 0)

    score = {
        "field": mean(compared),
        "faithful": mean(reference),
        "difference": mean(compared) - mean(reference),
        "study": -np.arange(len(ids), dtype=float),
    }[by]
    # Rows with equal scores are sorted by id, so that they do not move as results come in.
    by_id = sorted(range(len(ids)), key=ids.__getitem__)
    return [by_id[i] for i in np.argsort(-score[by_id], kind="stable")]


def flip_mask(first: Cells, second: Cells) -> np.ndarray:
    """Return (items,), True if the item flips in any column of `first` or `second`."""
    # A comparison with NaN, an undefined rate, is False.
    return np.asarray((first.rate > 0).any(axis=1) | (second.rate > 0).any(axis=1))


def column_means(
    cells: Cells,
    family_of: Mapping[str, str] | None = None,
    values: np.ndarray | None = None,
    *,
    signed: bool = False,
) -> list[Estimate]:
    """Return the mean of each column with its interval.

    Parameters
    ----------
    family_of : item id -> family, of all items of the study in their order. Intervals resample
        families if some have several items and the rows are of more than one family.
    values : (items, k) values in place of the rates of `cells`.
    signed : values are paired differences, from -1 to 1.
    """
    rates = cells.rate if values is None else values
    family_of = family_of or {}
    row_families = [family_of.get(item, item) for item in cells.items]
    all_families = row_families
    # Items of the study that `cells` lacks are resampled too, as NaN, so that a mean has the same
    # interval on all pages.
    if set(cells.items) <= family_of.keys() and len(set(cells.items)) == len(cells.items):
        study_rates = np.full((len(family_of), rates.shape[1]), np.nan)
        study_rates[_positions(cells.items, list(family_of))] = rates
        rates, all_families = study_rates, list(family_of.values())
    bounds = (-1.0, 1.0) if signed else UNIT
    if len(set(all_families)) < len(all_families) and len(set(row_families)) > 1:
        family = pd.factorize(np.asarray(all_families, dtype=object))[0]
        means = JointMeans(rates, families=family)
    else:
        means = JointMeans(rates)
    estimates = means.estimates(kind="default", levels=[0.95], bounds=[bounds] * rates.shape[1])
    return [estimate for (estimate,) in estimates]


def row_means(cells: Cells, without: str = IDENTITY) -> np.ndarray:
    """Return (items,) means of the rates of an item, without the column `without` and without NaN;
    NaN if there is none."""
    values = cells.rate[:, [c for c, column in enumerate(cells.columns) if column != without]]
    n = (~np.isnan(values)).sum(axis=1)
    return np.divide(np.nansum(values, axis=1), n, out=np.full(len(n), np.nan), where=n > 0)


def most_flipping_column(cells: Cells, i: int) -> str:
    """Return the column in which item `i` flips most; the first one on a tie."""
    return cells.columns[int(np.nan_to_num(cells.rate[i], nan=-1.0).argmax())]
