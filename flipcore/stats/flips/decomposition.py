"""T = G + A with all that is shown beside it, for each axis and extractor of one model at once
(source 004).

T is the flip rate under extractor e, G the same under the reference e*, A = T - G, all on the items
where both are defined over the variants present under both. A may be negative: then the reference
is the noisier one. Nothing is truncated.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.records import IDENTITY, WRITTEN_ANSWER
from flipcore.stats.base.bootstrap import bca_limits
from flipcore.stats.base.estimate import Estimate, missing, without_interval
from flipcore.stats.base.families import by_family, clustered_mean
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.base.resample import N_BOOT, SLACK, replicate_means, sign_flip_p
from flipcore.stats.flips.coded_answers import CodedAnswers, unread_warnings
from flipcore.stats.flips.disagreement import between, common, pair_split
from flipcore.stats.flips.noise_floor import NOT_MEASURED, item_floor, split_floor
from flipcore.stats.flips.unread import Unread, unread

# the rule of the product: three contrasts of the parts (`contrast`); the others are the source's
PARTS = "parts"
RULES = (PARTS, "paired", "source_nonoverlap")
REFERENCE = WRITTEN_ANSWER
UNIT, SIGNED, WIDE = (0.0, 1.0), (-1.0, 1.0), (-2.0, 2.0)
COLUMNS = {  # quantity -> what an item's value can be
    "T": UNIT,
    "G": UNIT,
    "A": SIGNED,
    "A_minus_G": (-2.0, 1.0),
    "A_plus": UNIT,
    "A_minus": UNIT,
    "both": UNIT,
    "W": UNIT,
    "W_ref": UNIT,
    "excess": SIGNED,
    "G_excess": SIGNED,
    "A_excess": WIDE,
    "A_plus_excess": SIGNED,
    "A_minus_excess": SIGNED,
    "both_excess": SIGNED,
}
FLOORS = ("W", "W_ref", *(name for name in COLUMNS if name.endswith("excess")))
THREE = ("A_plus", "A_minus", "both")


def stated_parts(values: np.ndarray) -> tuple[str, ...]:
    """Return the names of the columns of `values` (items, quantities) that state the three parts:
    beyond the noise floor where one was measured and reruns flip."""
    is_measured = not np.isnan(quantities(values, "both_excess")).all()
    is_still = not np.nan_to_num(quantities(values, "W", "W_ref")).any()
    return tuple(f"{name}_excess" for name in THREE) if is_measured and not is_still else THREE


def quantities(values: np.ndarray, *names: str) -> np.ndarray:
    """Return the columns of these names of `values` (items, quantities), in their order."""
    return values[:, [list(COLUMNS).index(name) for name in names]]


@dataclass(frozen=True)
class Decomposition:
    """One axis under one extractor. The fields are Estimates named as in `COLUMNS`; `share` is A/T.
    `n_left_out` counts the items that one extractor defines and the other does not. `p_artifact`
    tests A = 0 by sign flips, `p_more` A = G by the paired t. `item_values` is (items, quantities)
    in the order of `COLUMNS`, `families` (items,) numbers what items were made from, None where
    nothing is shared; the Estimates' `n` counts families, `n_items` items. `is_reference`: e is e*,
    so A is 0 by definition and not a finding. `cut` bounds A - G where answers were cut off, None
    where none was."""

    axis: str
    extractor: str
    reference: str
    T: Estimate
    G: Estimate
    A: Estimate
    A_minus_G: Estimate
    A_plus: Estimate
    A_minus: Estimate
    both: Estimate
    W: Estimate
    W_ref: Estimate
    excess: Estimate
    G_excess: Estimate
    A_excess: Estimate
    A_plus_excess: Estimate
    A_minus_excess: Estimate
    both_excess: Estimate
    share: Estimate
    p_artifact: float
    p_more: float
    n_items: int
    n_excluded: int
    n_left_out: int
    floor_source: str
    warnings: tuple[str, ...]
    unread: Unread = field(repr=False, compare=False)
    rule: str = PARTS
    item_values: np.ndarray = field(
        repr=False, compare=False, default_factory=lambda: np.empty((0, len(COLUMNS)))
    )
    families: np.ndarray | None = field(repr=False, compare=False, default=None)

    @property
    def is_reference(self) -> bool:
        return self.extractor == self.reference

    @property
    def established(self) -> bool | None:
        """True where A is more than G by the source's rule; None under the rule of the product,
        without an interval, and for the reference."""
        if self.is_reference or self.rule == PARTS:
            return None
        return established(self.rule, self.A, self.G, self.A_minus_G)


def default_reference(extractors: Sequence[str], scorers: Iterable[str] = ()) -> str:
    """Return the reference extractor where nobody chose one: the first of a log's own `scorers`,
    the written answer, or else the last. Raises BadInput without any."""
    if not extractors:
        raise BadInput("There is no extractor to take as the reference: no answer was read.")
    for scorer in scorers:
        if scorer in extractors:
            return scorer
    return REFERENCE if REFERENCE in extractors else extractors[-1]


def established(rule: str, a: Estimate, g: Estimate, a_minus_g: Estimate) -> bool | None:
    """Decide by a rule of the source. `paired`: lo(A - G) > 0. `source_nonoverlap`: lo(A) > hi(G),
    which is too strict by half."""
    if rule not in RULES[1:]:
        raise BadInput(
            f"The source has no decision rule {rule!r}; choose one of {', '.join(RULES[1:])}."
        )
    if rule == "paired":
        return a_minus_g.low > 0 if a_minus_g.has_interval else None
    return a.low > g.high if a.has_interval and g.has_interval else None


@dataclass(frozen=True)
class ItemRates:
    """The quantities of each item of one cell: `values` (items, quantities) in the order of
    `COLUMNS`, NaN where undefined. `n_items` counts the items that are defined."""

    values: np.ndarray
    floor_source: str
    n_excluded: int
    n_left_out: int
    n_items: int = 0


def item_rates(
    answers: CodedAnswers,
    axis: str,
    extractor: str,
    reference: str,
    policy: str = "own_class",
    *,
    include_base: bool = True,
) -> ItemRates:
    """Return the quantities of each item that a decomposition averages. Raises BadInput for an
    extractor that the axis does not have."""
    for name in (extractor, reference):
        if (axis, name) not in answers.codes:
            raise BadInput(
                f"The axis {axis!r} has no readout {name!r}; it has "
                f"{', '.join(answers.extractors)}."
            )
    cells = [answers.cell(axis, name, include_base=include_base) for name in (extractor, reference)]
    codes, ref = common(*cells)
    t, g = between(codes, policy).rate, between(ref, policy).rate
    is_defined_by_one = np.zeros(t.shape, dtype=bool)
    for cell, common_cell, rate in zip(cells, (codes, ref), (t, g), strict=True):
        # Mostly nothing is absent, and the rate over all variants is the one over common ones.
        cell_rate = rate if np.array_equal(cell, common_cell) else between(cell, policy).rate
        is_defined_by_one |= ~np.isnan(cell_rate)
    split = pair_split(codes, ref, policy)
    floor = item_floor(answers, axis, extractor, policy)
    w, w_ref = floor.rates, item_floor(answers, axis, reference, policy).rates
    rerun_split = split_floor(answers, axis, extractor, reference, policy)
    columns = {
        "T": t,
        "G": g,
        "A": t - g,
        "A_minus_G": t - 2 * g,
        "A_plus": split.plus,
        "A_minus": split.minus,
        "both": split.both,
        "W": w,
        "W_ref": w_ref,
        "excess": t - w,
        "G_excess": g - w_ref,
        "A_excess": (t - g) - (w - w_ref),
        "A_plus_excess": split.plus - rerun_split.plus,
        "A_minus_excess": split.minus - rerun_split.minus,
        "both_excess": split.both - rerun_split.both,
    }
    values = np.column_stack([columns[name] for name in COLUMNS])
    # T, G and A are means over the same items, so that T = G + A holds for the means too.
    defined = ~np.isnan(t + g)
    values[~defined] = np.nan
    return ItemRates(
        values,
        floor.source,
        n_excluded=int((~defined).sum()),
        n_left_out=int((is_defined_by_one & ~defined).sum()),
        n_items=int(defined.sum()),
    )


def decompositions(
    answers: CodedAnswers,
    reference: str,
    *,
    policy: str = "own_class",
    include_base: bool = True,
    kind: str = "default",
    level: float = 0.95,
    seed: int = 0,
    n_boot: int = N_BOOT,
    rule: str = PARTS,
    axes: Sequence[str] | None = None,
    extractors: Sequence[str] | None = None,
    tests: bool = True,
) -> list[Decomposition]:
    """Decompose all axes under all extractors, from one joint item draw per replicate.

    Identity is a floor and not an axis.

    Parameters
    ----------
    reference : extractor whose flips count as the model's.
    policy : one of `disagreement.POLICIES`.
    kind : one of `joint_means.KINDS`.
    rule : one of `RULES`.
    axes, extractors : names, None for all.
    tests : False leaves out the share A/T and the sign-flip test, which draw most.

    Returns
    -------
    One Decomposition per axis and extractor, axis by axis.

    Raises
    ------
    BadInput
        For a name that does not occur.
    """
    if rule not in RULES:
        raise BadInput(f"There is no decision rule {rule!r}; choose one of {', '.join(RULES)}.")
    cells = []
    for axis in axes or [name for name in answers.axes if name != IDENTITY]:
        cells += [(axis, extractor) for extractor in extractors or answers.extractors]
    if not cells:
        return []
    rates = [
        item_rates(answers, axis, extractor, reference, policy, include_base=include_base)
        for axis, extractor in cells
    ]
    joint = JointMeans(
        np.hstack([cell_rates.values for cell_rates in rates]), seed, n_boot, answers.families
    )
    estimates = joint.estimates(kind, [level], list(COLUMNS.values()) * len(cells))
    shares = [missing()] * len(cells)
    if tests:
        pairs = []
        for cell_rates in rates:
            by_unit = by_family(cell_rates.values, answers.families)
            pairs.append(quantities(by_unit, "A", "T"))
        shares = artifact_shares(pairs, level, seed, n_boot)
    decomposed = []
    for j, ((axis, extractor), cell_rates) in enumerate(zip(cells, rates, strict=True)):
        # One level was asked for, so each column has one estimate; a cell has its columns together.
        cell_columns = estimates[j * len(COLUMNS) : (j + 1) * len(COLUMNS)]
        by_name = dict(zip(COLUMNS, (column[0] for column in cell_columns), strict=True))
        p_artifact = math.nan
        if tests:
            differences = by_family(quantities(cell_rates.values, "A"), answers.families)[:, 0]
            rng = generator(seed, axis, extractor, "sign flip")
            p_artifact = sign_flip_p(differences, rng).p
        decomposed.append(
            _decomposition(
                axis,
                extractor,
                reference,
                rates=cell_rates,
                families=answers.families,
                by_name=by_name,
                share=shares[j],
                p_artifact=p_artifact,
                warnings=unread_warnings(answers, axis, extractor),
                not_read=unread(answers, axis, extractor, reference, include_base=include_base),
                level=level,
                rule=rule,
            )
        )
    return decomposed


def _decomposition(
    axis: str,
    extractor: str,
    reference: str,
    *,
    rates: ItemRates,
    families: np.ndarray | None,
    by_name: dict[str, Estimate],
    share: Estimate,
    p_artifact: float,
    warnings: tuple[str, ...],
    not_read: Unread,
    level: float,
    rule: str,
) -> Decomposition:
    """Put one cell together from its item rates and its estimates by name of column."""
    is_reference = extractor == reference
    if is_reference:
        zero = without_interval(
            0.0, by_name["A"].n, level, "The reference extractor: 0 by definition."
        )
        by_name = by_name | dict.fromkeys(
            ("A", "A_plus", "A_minus", "A_excess", "A_plus_excess", "A_minus_excess"), zero
        )
    if rates.floor_source == NOT_MEASURED:
        by_name = by_name | dict.fromkeys(
            FLOORS, missing(level=level, note="Not measured: no variant was asked twice.")
        )
    estimates: dict[str, Any] = dict(by_name)
    return Decomposition(
        axis,
        extractor,
        reference,
        **estimates,
        share=shown_share(share, by_name["T"], level, is_reference=is_reference),
        p_artifact=p_artifact,
        p_more=paired_t_p(quantities(rates.values, "A_minus_G")[:, 0], families),
        n_items=rates.n_items,
        n_excluded=rates.n_excluded,
        n_left_out=rates.n_left_out,
        floor_source=rates.floor_source,
        warnings=warnings,
        unread=not_read,
        rule=rule,
        item_values=rates.values,
        families=families,
    )


def paired_t_p(differences: np.ndarray, families: np.ndarray | None = None) -> float:
    """Return the two-sided p of mean 0 by Student's t over items, or over `families`; differences
    without spread go by sign flips; n < 2 -> NaN."""
    from scipy.special import stdtr

    if families is not None:
        return clustered_mean(differences, families, bounds=None).p
    d = differences[~np.isnan(differences)]
    if d.size < 2:
        return float("nan")
    se = d.std(ddof=1) / np.sqrt(d.size)
    if se <= 1e-12:
        # All differences equal: a sign-flip test gives 2 of 2^n assignments as extreme.
        return 1.0 if abs(d.mean()) <= 1e-12 else float(2.0 ** (1 - d.size))
    return float(2 * stdtr(d.size - 1, -abs(d.mean() / se)))


def artifact_shares(
    cells: Sequence[np.ndarray], level: float, seed: int, n_boot: int
) -> list[Estimate]:
    """Return A/T of each cell (items, 2) of A_i and T_i: ratio of sums, BCa over one joint item
    draw."""
    # One draw for all cells, so that their shares move together as the rates do.
    if len(cells[0]):
        reps = replicate_means(np.hstack(cells), n_boot, generator(seed))
    else:
        reps = np.empty((0, 2 * len(cells)))
    return [
        _ratio(cell[~np.isnan(cell).any(axis=1)], reps[:, 2 * j], reps[:, 2 * j + 1], level, seed)
        for j, cell in enumerate(cells)
    ]


def _ratio(pairs: np.ndarray, a: np.ndarray, t: np.ndarray, level: float, seed: int) -> Estimate:
    n, (total_a, total_t) = len(pairs), pairs.sum(axis=0)
    if not total_t > 0:
        return missing(n, level, "n/a: nothing flips.")
    # A resample without any flip has no ratio.
    usable = t > 0
    reps, value = a[usable] / t[usable], float(total_a / total_t)
    mask = total_t - pairs[:, 1] > 0
    # A/T is a ratio of sums, so leaving one item out needs no loop.
    jackknife = (total_a - pairs[mask, 0]) / (total_t - pairs[mask, 1])
    low, high = (
        bca_limits(reps, value, jackknife, level)
        if jackknife.size and np.ptp(reps) > SLACK
        else (np.nan, np.nan)
    )
    return Estimate(value, low, high, level, "bca", n, seed)


def shown_share(share: Estimate, t: Estimate, level: float, *, is_reference: bool) -> Estimate:
    """Return the share, or why there is none: it is shown only where T itself is clearly above
    0."""
    if is_reference:
        return missing(share.n, level, "n/a: the reference extractor.")
    if np.isnan(share.value):
        return share
    if not t.has_interval:
        return missing(share.n, level, "n/a: too few items to say that T is above 0.")
    # A ratio over a T that may be 0 could be anything.
    if t.low <= 0:
        return missing(share.n, level, "n/a: the interval of T includes 0.")
    return share
