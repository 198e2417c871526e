"""Readouts as coded answers: integers that `disagreement` compares.

A cell is one axis under one extractor. All cells share one list of items, so that their flip rates
fit in one matrix and can be resampled together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from flipcore.core.errors import BadInput
from flipcore.core.records import ABSENT as NEVER_CAME
from flipcore.core.records import BASE, CUT, IDENTITY, OK, UNREADABLE
from flipcore.stats.flips.disagreement import ABSENT, NULL, null_bounds

KEY = ["item_id", "axis", "variant", "sample", "extractor"]
NEEDED = [*KEY, "status", "answer"]


@dataclass(frozen=True)
class CodedAnswers:
    """Answers of one model.

    codes : (axis, extractor) -> (items, variants, samples) codes, with `NULL` for an unreadable and
        `ABSENT` for a missing answer. The variants of an axis are the same under all extractors. On
        the identity axis each sample is coded as a variant.
    base : axis -> (items, variants), True for the base prompt.
    n_absent : (axis, extractor) -> number of readouts that are neither an answer nor unreadable nor
        cut off.
    texts : code -> canonical answer.
    lost : (axis, extractor) -> (items, variants, samples), True where an answer was cut off or
        never came. Its code is `ABSENT`, so it is in no pair. Cells without such answers are left
        out.
    families : (items,) family number, the unit of resampling; None if no two items share a
        family.
    warnings, unread : caches of `unread_warnings` and `unread.unread`, whose results do not depend
        on the policy.
    """

    items: np.ndarray
    axes: tuple[str, ...]
    extractors: tuple[str, ...]
    codes: Mapping[tuple[str, str], np.ndarray]
    base: Mapping[str, np.ndarray]
    n_absent: Mapping[tuple[str, str], int]
    texts: np.ndarray
    lost: Mapping[tuple[str, str], np.ndarray] = field(default_factory=dict)
    families: np.ndarray | None = None
    warnings: dict = field(default_factory=dict, init=False, repr=False, compare=False)
    unread: dict = field(default_factory=dict, init=False, repr=False, compare=False)

    def is_open(self, axis: str, extractor: str) -> np.ndarray:
        """Return (items, variants, samples), True where an answer was asked for but not read: it is
        unreadable, was cut off or never came."""
        is_null = self.codes[axis, extractor] == NULL
        return is_null | self.lost[axis, extractor] if (axis, extractor) in self.lost else is_null

    def cell(self, axis: str, extractor: str, *, include_base: bool = True) -> np.ndarray:
        """Return the codes of one axis under one extractor, with or without the base prompt."""
        codes = self.codes[axis, extractor]
        # The identity axis has nothing but the base prompt.
        if include_base or axis == IDENTITY:
            return codes
        return np.where(self.base[axis][:, :, None], ABSENT, codes)


def coded_answers(readouts: pd.DataFrame) -> CodedAnswers:
    """Code the readouts of one model as integers, one cell per axis and extractor.

    Parameters
    ----------
    readouts : one row per readout, with the columns `NEEDED` and optionally `model` and `family`.
        Absent and cut readouts, and those with a value instead of an answer, are coded as `ABSENT`.
        Axes and extractors keep the order of their first rows.

    Raises
    ------
    BadInput
        For missing columns, several models, or a key that occurs twice.
    """
    _check_readouts(readouts)
    item, items = pd.factorize(readouts["item_id"])
    axis, axes = pd.factorize(readouts["axis"])
    extractor, extractors = pd.factorize(readouts["extractor"])
    variant, variants = pd.factorize(readouts["variant"])
    # Sorted, because callers take index 0 as sample 0.
    sample = pd.factorize(readouts["sample"], sort=True)[0]
    code, texts = _answer_codes(readouts)
    was_cut = (readouts["status"] == CUT).to_numpy()
    was_lost = was_cut | (readouts["status"] == NEVER_CAME).to_numpy()
    is_base = variants == BASE
    codes: dict[tuple[str, str], np.ndarray] = {}
    base: dict[str, np.ndarray] = {}
    n_absent: dict[tuple[str, str], int] = {}
    lost: dict[tuple[str, str], np.ndarray] = {}
    for axis_number, axis_name in enumerate(axes):
        rows = np.flatnonzero(axis == axis_number)
        # The identity axis has one prompt, so its samples take the place of variants.
        if axis_name == IDENTITY:
            column, n_columns = _variant_columns(item[rows], variant[rows], sample[rows])
            layer, n_layers = np.zeros(rows.size, dtype=int), 1
        else:
            column, n_columns = _variant_columns(item[rows], variant[rows], None)
            layer, n_layers = sample[rows], int(sample[rows].max()) + 1
        base[axis_name] = np.zeros((len(items), n_columns), dtype=bool)
        base[axis_name][item[rows], column] = is_base[variant[rows]]
        # One array for all extractors; the cells are views of it.
        cells = np.full((len(extractors), len(items), n_columns, n_layers), ABSENT, dtype=np.int32)
        index = (extractor[rows], item[rows], column, layer)
        _refuse_duplicates(readouts, rows, index, cells.shape)
        cells[index] = code[rows]
        # Cut answers are counted elsewhere.
        is_absent = (code[rows] == ABSENT) & ~was_cut[rows]
        counts = np.bincount(extractor[rows], weights=is_absent, minlength=len(extractors))
        for number, name in enumerate(extractors):
            codes[axis_name, name] = cells[number]
            n_absent[axis_name, name] = int(counts[number])
        if was_lost[rows].any():
            is_lost = np.zeros(cells.shape, dtype=bool)
            is_lost[index] = was_lost[rows]
            for number, name in enumerate(extractors):
                if is_lost[number].any():
                    lost[axis_name, name] = is_lost[number]
    return CodedAnswers(
        np.asarray(items, dtype=object),
        tuple(axes),
        extractors=tuple(extractors),
        codes=codes,
        base=base,
        n_absent=n_absent,
        texts=texts,
        lost=lost,
        families=_item_families(readouts, item),
    )


def _item_families(frame: pd.DataFrame, item: np.ndarray) -> np.ndarray | None:
    """Return (items,) family numbers from the column `family`; None without the column, or if each
    item is a family of its own. `item` (rows,) are item numbers."""
    if "family" not in frame or not len(frame):
        return None
    family = pd.factorize(frame["family"])[0]
    # All rows of an item have the same family, so the first row is enough.
    _, first_rows = np.unique(item, return_index=True)
    item_families = family[first_rows]
    return item_families if np.unique(item_families).size < item_families.size else None


def _check_readouts(frame: pd.DataFrame) -> None:
    lacking = [column for column in NEEDED if column not in frame]
    if lacking:
        raise BadInput(
            f"The readouts lack the column(s) {', '.join(lacking)}; flip rates need "
            f"{', '.join(NEEDED)}."
        )
    if "model" in frame and frame["model"].nunique() > 1:
        raise BadInput(
            f"The readouts hold {frame['model'].nunique()} models; flips are counted for one. "
            "Pass the rows of one model at a time."
        )


def _answer_codes(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows,) codes, and the answer that belongs to each code."""
    is_ok, is_unreadable = (
        (frame["status"] == status).to_numpy(dtype=bool) for status in (OK, UNREADABLE)
    )
    code, texts = pd.factorize(frame["answer"])
    # A readout that is ok but has no answer has a value instead, which cannot flip.
    code = np.where(is_ok & (code >= 0), code, ABSENT)
    return np.where(is_unreadable, NULL, code).astype(np.int32), np.asarray(texts, dtype=object)


def _variant_columns(
    item: np.ndarray, variant: np.ndarray, sample: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """Return the column of each row's variant among the variants of its item, and the number of
    columns. With `sample`, each sample of a variant has its own column.

    Columns are counted within items, so that variants of different items share columns even if
    their names differ.
    """
    key = variant if sample is None else variant * (int(sample.max()) + 1) + sample
    n_keys = int(key.max()) + 1
    # Item and variant in one number need only one sort.
    pairs, pair_of_row = np.unique(item.astype(np.int64) * n_keys + key, return_inverse=True)
    item_of_pair = pairs // n_keys
    first_of_item = np.searchsorted(item_of_pair, item_of_pair)
    column = (np.arange(pairs.size) - first_of_item)[pair_of_row]
    return column, int(column.max()) + 1


def _refuse_duplicates(
    frame: pd.DataFrame, rows: np.ndarray, index: tuple[np.ndarray, ...], shape: tuple[int, ...]
) -> None:
    """Raise BadInput if two of `rows` have the same place `index` in an array of this shape."""
    cell = np.ravel_multi_index(index, shape)
    # Counting is fast; the sort below is needed only for the message.
    if np.bincount(cell).max(initial=0) <= 1:
        return
    _, first, counts = np.unique(cell, return_index=True, return_counts=True)
    repeated_key = frame.iloc[rows[first[counts > 1][0]]][KEY].to_dict()
    raise BadInput(
        f"{int((counts > 1).sum())} readouts occur twice, the first at {repeated_key}. Repeated "
        "answers are further samples; give each its own sample number. They are never averaged."
    )


def unread_warnings(answers: CodedAnswers, axis: str, extractor: str) -> tuple[str, ...]:
    """Return warnings about unreadable answers of a cell: if they are more than 5%, and if their
    shares in base and changed prompts differ by more than 2 points.

    If there is any warning, the last one has the bounds of the flip rate, whatever the unreadable
    answers were.
    """
    # Cached, because callers ask again for each policy and kind of interval.
    if (axis, extractor) not in answers.warnings:
        answers.warnings[axis, extractor] = tuple(_warnings(answers, axis, extractor))
    return answers.warnings[axis, extractor]


# Larger shares of unreadable answers, and larger differences between the shares of base prompts and
# changed ones, get a warning. The sentences repeat these numbers.
MAX_UNREAD, MAX_UNREAD_DIFFERENCE = 0.05, 0.02


def _warnings(answers: CodedAnswers, axis: str, extractor: str) -> list[str]:
    codes = answers.codes[axis, extractor]
    is_base = np.broadcast_to(answers.base[axis][:, :, None], codes.shape)
    share = _null_share(codes)
    base_share, changed_share = _null_share(codes[is_base]), _null_share(codes[~is_base])
    sentences = []
    if share > MAX_UNREAD:
        sentences.append(f"{100 * share:.1f}% of the answers could not be read (more than 5%).")
    if abs(base_share - changed_share) > MAX_UNREAD_DIFFERENCE:
        sentences.append(
            f"Unreadable answers: {100 * base_share:.1f}% of base prompts, "
            f"{100 * changed_share:.1f}% of changed ones (more than 2 percentage points apart)."
        )
    # Bounds are defined for one sample per variant only.
    if sentences and codes.shape[2] == 1:
        lows, highs = null_bounds(codes)
        is_defined = ~np.isnan(lows)
        if is_defined.any():
            low, high = lows[is_defined].mean(), highs[is_defined].mean()
            sentences.append(
                f"Whatever they were, the flip rate lies between {low:.2f} and {high:.2f}."
            )
    return sentences


def _null_share(codes: np.ndarray) -> float:
    is_present = codes != ABSENT
    return float((codes == NULL).sum() / is_present.sum()) if is_present.any() else float("nan")
