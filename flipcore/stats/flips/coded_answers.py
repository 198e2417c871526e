"""Readouts as coded answers: integers that the kernel in `disagreement` compares.

All cells of a study share one list of items, so their rates stand in one matrix and one item draw
serves them all.
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
    """Answers of one model. `codes[axis, extractor]` is (items, variants, samples) with `NULL` and
    `ABSENT`; the cells of an axis are aligned. `base[axis]` marks the base prompt's variants
    (items, variants). On `identity` every sample is a variant. `texts[code]` is the canonical
    answer, `n_absent` counts rows without one and without an unreadable one.

    An answer that was cut off or that never came is in no pair, so its code is `ABSENT`;
    `lost[axis, extractor]` marks where that is so; a cell without such an answer has no entry.
    `families` (items,) numbers what an item was made from where several items share one, and is
    then the unit of resampling; None where no two do. `warnings` and `unread` hold what the
    functions of those names have counted so far: it is the same under every policy.
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
        """Return (items, variants, samples), True where an answer was asked for and none was read:
        unreadable, cut off or never came."""
        nulls = self.codes[axis, extractor] == NULL
        return nulls | self.lost[axis, extractor] if (axis, extractor) in self.lost else nulls

    def cell(self, axis: str, extractor: str, *, include_base: bool = True) -> np.ndarray:
        """Return the codes of one axis under one extractor, with or without the base prompt."""
        codes = self.codes[axis, extractor]
        # Identity asks nothing but the base prompt.
        if include_base or axis == IDENTITY:
            return codes
        return np.where(self.base[axis][:, :, None], ABSENT, codes)


def coded_answers(readouts: pd.DataFrame) -> CodedAnswers:
    """Code the readouts of one model as integers, a cell for each axis and extractor.

    Parameters
    ----------
    readouts : the columns of `NEEDED`, one row per readout; perhaps `model` and `family`. An absent
        readout, one that was cut off, and one that holds a value instead of an answer are missing.
        An axis or extractor keeps the order of its first row.

    Raises
    ------
    BadInput
        For missing columns, several models, or a key that occurs twice.
    """
    _check(readouts)
    frame = readouts
    item, items = pd.factorize(frame["item_id"])
    axis, axes = pd.factorize(frame["axis"])
    extractor, extractors = pd.factorize(frame["extractor"])
    variant, variants = pd.factorize(frame["variant"])
    # Sorted, so that sample 0 comes first whatever the order of rows.
    sample = pd.factorize(frame["sample"], sort=True)[0]
    code, texts = _answer_codes(frame)
    was_cut = (frame["status"] == CUT).to_numpy()
    was_lost = was_cut | (frame["status"] == NEVER_CAME).to_numpy()
    is_base = variants == BASE
    codes: dict[tuple[str, str], np.ndarray] = {}
    base: dict[str, np.ndarray] = {}
    n_absent: dict[tuple[str, str], int] = {}
    lost: dict[tuple[str, str], np.ndarray] = {}
    for a, name in enumerate(axes):
        rows = np.flatnonzero(axis == a)
        place, n_places = _places(
            item[rows], variant[rows], sample[rows] if name == IDENTITY else None
        )
        # Identity has one prompt, so its samples take the place of variants.
        depth = 1 if name == IDENTITY else int(sample[rows].max()) + 1
        layer = np.zeros(rows.size, dtype=int) if name == IDENTITY else sample[rows]
        base[name] = np.zeros((len(items), n_places), dtype=bool)
        base[name][item[rows], place] = is_base[variant[rows]]
        cells = np.full((len(extractors), len(items), n_places, depth), ABSENT, dtype=np.int32)
        cells[extractor[rows], item[rows], place, layer] = code[rows]
        # Cut answers were given; they are reported by their own count.
        weights = (code[rows] == ABSENT) & ~was_cut[rows]
        missing = np.bincount(extractor[rows], weights=weights, minlength=len(extractors))
        if was_lost[rows].any():
            lost |= _lost_cells(
                name,
                extractors,
                (extractor[rows], item[rows], place, layer),
                was_lost[rows],
                cells.shape,
            )
        # `cells` is filled once for all extractors; each cell is a view of it.
        codes |= {(name, e): cells[k] for k, e in enumerate(extractors)}
        n_absent |= {(name, e): int(missing[k]) for k, e in enumerate(extractors)}
        _refuse_duplicates(frame, rows, (extractor[rows], item[rows], place, layer), cells.shape)
    names = np.asarray(items, dtype=object)
    return CodedAnswers(
        names,
        tuple(axes),
        tuple(extractors),
        codes,
        base,
        n_absent,
        texts,
        lost,
        families(frame, item),
    )


def families(frame: pd.DataFrame, item: np.ndarray) -> np.ndarray | None:
    """Return (items,) the number of each item's family, from the column `family` of the rows and
    each row's item number; None without the column, or where each item is a family of its own."""
    if "family" not in frame or not len(frame):
        return None
    code = pd.factorize(frame["family"])[0]
    # All rows of an item name one family, so its first row is enough.
    _, first = np.unique(item, return_index=True)
    item_family = code[first]
    return item_family if np.unique(item_family).size < item_family.size else None


def _lost_cells(
    axis: str,
    extractors,
    index: tuple[np.ndarray, ...],
    was_lost: np.ndarray,
    shape: tuple[int, ...],
) -> dict:
    """Map (axis, extractor) to where its answers were cut off or never came, for the extractors
    that have such answers."""
    marks = np.zeros(shape, dtype=bool)
    marks[tuple(part[was_lost] for part in index)] = True
    return {(axis, e): marks[k] for k, e in enumerate(extractors) if marks[k].any()}


def _check(frame: pd.DataFrame) -> None:
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
    """Return a code per row, and the answer of each code."""
    is_ok, is_unreadable = (
        (frame["status"] == status).to_numpy(dtype=bool) for status in (OK, UNREADABLE)
    )
    code, texts = pd.factorize(frame["answer"])
    # A readout without an answer holds a value instead, which cannot flip.
    code = np.where(is_ok & (code >= 0), code, ABSENT)
    return np.where(is_unreadable, NULL, code).astype(np.int32), np.asarray(texts, dtype=object)


def _places(
    item: np.ndarray, variant: np.ndarray, sample: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """Return the place of each row's variant among those of its item, so that names that occur for
    one item only cost no space."""
    within = variant if sample is None else variant * (int(sample.max()) + 1) + sample
    pair = item.astype(np.int64) * (int(within.max()) + 1) + within
    # Item and variant in one number: one sort instead of one per item.
    distinct, inverse = np.unique(pair, return_inverse=True)
    owner = distinct // (int(within.max()) + 1)
    first = np.searchsorted(owner, owner)
    place = (np.arange(distinct.size) - first)[inverse]
    return place, int(place.max()) + 1


def _refuse_duplicates(
    frame: pd.DataFrame, rows: np.ndarray, index: tuple[np.ndarray, ...], shape: tuple[int, ...]
) -> None:
    slot = np.ravel_multi_index(index, shape)
    if np.bincount(slot).max(initial=0) <= 1:
        return
    # Only now the first place of each is worth its sort.
    _, first, counts = np.unique(slot, return_index=True, return_counts=True)
    twice = frame.iloc[rows[first[counts > 1][0]]][KEY].to_dict()
    raise BadInput(
        f"{int((counts > 1).sum())} readouts occur twice, the first at {twice}. Repeated answers "
        "are further samples; give each its own sample number. They are never averaged."
    )


def unread_warnings(answers: CodedAnswers, axis: str, extractor: str) -> tuple[str, ...]:
    """Warn where more than 5% of a cell's answers were unreadable, and where base and changed
    prompts differ in it by more than 2 points; then with the limits of the flip rate, whatever the
    unreadable answers were."""
    # The same cell is asked for under each policy and kind of interval.
    if (axis, extractor) not in answers.warnings:
        answers.warnings[axis, extractor] = tuple(_warnings(answers, axis, extractor))
    return answers.warnings[axis, extractor]


def _warnings(answers: CodedAnswers, axis: str, extractor: str) -> list[str]:
    codes = answers.codes[axis, extractor]
    is_base = np.broadcast_to(answers.base[axis][:, :, None], codes.shape)
    rate = _null_share(codes)
    base, perturbed = _null_share(codes[is_base]), _null_share(codes[~is_base])
    flags = []
    if rate > 0.05:
        flags.append(f"{100 * rate:.1f}% of the answers could not be read (more than 5%).")
    if abs(base - perturbed) > 0.02:
        flags.append(
            f"Unreadable answers: {100 * base:.1f}% of base prompts, {100 * perturbed:.1f}% of "
            "changed ones (more than 2 percentage points apart)."
        )
    # Bounds are defined for one sample per variant.
    if flags and codes.shape[2] == 1:
        lows, highs = null_bounds(codes)
        is_defined = ~np.isnan(lows)
        if is_defined.any():
            low, high = lows[is_defined].mean(), highs[is_defined].mean()
            flags.append(
                f"Whatever they were, the flip rate lies between {low:.2f} and {high:.2f}."
            )
    return flags


def _null_share(codes: np.ndarray) -> float:
    is_present = codes != ABSENT
    return float((codes == NULL).sum() / is_present.sum()) if is_present.any() else float("nan")
