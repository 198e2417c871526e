"""T = G + A and related quantities, for all axes and extractors of one model at once (source 004).

T is the flip rate under extractor e, G the flip rate under the reference e*, and A = T - G. All are
means over the items for which both rates are defined. They count the outputs of which both
extractors have a readout. A may be negative if the reference is the noisier one; it is not cut off
at 0.

In names, A_plus is the share of pairs that flip under e alone, A_minus of those under e* alone, and
`both` of those under both. W and W_ref are the noise floors of e and e*. "excess" means minus the
floor.
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
from flipcore.stats.flips.disagreement import between, mask_absent, pair_split
from flipcore.stats.flips.noise_floor import NOT_MEASURED, item_floor, split_floor
from flipcore.stats.flips.unread import Unread, unread

# "parts" is our rule: three contrasts of the parts (`contrast`). The others are of the source.
PARTS = "parts"
RULES = (PARTS, "paired", "source_nonoverlap")
REFERENCE = WRITTEN_ANSWER
UNIT, SIGNED, WIDE = (0.0, 1.0), (-1.0, 1.0), (-2.0, 2.0)
COLUMNS = {  # quantity -> bounds of an item's value
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
    """Return the names of the three parts to report, given `values` (items, quantities). They are
    beyond the noise floor if one was measured and reruns flip, else the plain parts."""
    is_measured = not np.isnan(quantities(values, "both_excess")).all()
    has_rerun_flips = np.nan_to_num(quantities(values, "W", "W_ref")).any()
    return tuple(f"{name}_excess" for name in THREE) if is_measured and has_rerun_flips else THREE


def quantities(values: np.ndarray, *names: str) -> np.ndarray:
    """Return (items, names): the named columns of `values` (items, quantities)."""
    return values[:, [list(COLUMNS).index(name) for name in names]]


@dataclass(frozen=True)
class Decomposition:
    """Decomposition of one axis under one extractor.

    The Estimates have the names of `COLUMNS`; their `n` counts families, if items share any.

    share : A / T.
    p_artifact, p_more : p of A = 0 by sign flips, and of A = G by the paired t.
    n_items : number of items with a flip rate under both extractors.
    n_excluded : number of other items.
    n_left_out : number of those with a flip rate under one of the two only.
    floor_source : which prompts were rerun for the noise floor.
    unread : bounds whatever the unread answers were.
    item_values : (items, quantities) in the order of `COLUMNS`.
    families : (items,) family numbers; None if no two items share a family.
    """

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
        """True if e is e*: then A is 0 by definition and not a finding."""
        return self.extractor == self.reference


def default_reference(extractors: Sequence[str], scorers: Iterable[str] = ()) -> str:
    """Return the reference extractor if nobody chose one: the first of a log's own `scorers`, else
    the written answer, else the last extractor. Raises BadInput if there is no extractor."""
    if not extractors:
        raise BadInput("There is no extractor to take as the reference: no answer was read.")
    for scorer in scorers:
        if scorer in extractors:
            return scorer
    return REFERENCE if REFERENCE in extractors else extractors[-1]


@dataclass(frozen=True)
class ItemRates:
    """Quantities per item of one cell: `values` (items, quantities) in the order of `COLUMNS`, NaN
    where undefined. The other fields are those of `Decomposition`."""

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
    """Return the quantities per item, of which a decomposition has the means. Raises BadInput for
    an extractor that the axis does not have."""
    for name in (extractor, reference):
        if (axis, name) not in answers.codes:
            raise BadInput(
                f"The axis {axis!r} has no readout {name!r}; it has "
                f"{', '.join(answers.extractors)}."
            )
    all_codes = answers.cell(axis, extractor, include_base=include_base)
    all_codes_ref = answers.cell(axis, reference, include_base=include_base)
    codes, codes_ref = mask_absent(all_codes, all_codes_ref)
    t, g = between(codes, policy).rate, between(codes_ref, policy).rate
    is_defined_by_one = np.zeros(t.shape, dtype=bool)
    for cell, common_cell, rate in ((all_codes, codes, t), (all_codes_ref, codes_ref, g)):
        # Mostly no variant is absent, and the rate is not computed twice.
        cell_rate = rate if np.array_equal(cell, common_cell) else between(cell, policy).rate
        is_defined_by_one |= ~np.isnan(cell_rate)
    split = pair_split(codes, codes_ref, policy)
    floor = item_floor(answers, axis, extractor, policy)
    w, w_ref = floor.rates, item_floor(answers, axis, reference, policy).rates
    rerun_split = split_floor(answers, axis, extractor, reference, policy)
    columns = {
        # A - G is T - 2 G, because A is T - G.
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
    # All means are over the same items, so that T = G + A holds for the means too.
    is_defined = ~np.isnan(t + g)
    values[~is_defined] = np.nan
    return ItemRates(
        values,
        floor.source,
        n_excluded=int((~is_defined).sum()),
        n_left_out=int((is_defined_by_one & ~is_defined).sum()),
        n_items=int(is_defined.sum()),
    )


def decompositions(
    answers: CodedAnswers,
    reference: str,
    *,
    policy: str = "own_class",
    kind: str = "default",
    level: float = 0.95,
    seed: int = 0,
    n_boot: int = N_BOOT,
    rule: str = PARTS,
    axes: Sequence[str] | None = None,
    extractors: Sequence[str] | None = None,
    tests: bool = True,
) -> list[Decomposition]:
    """Decompose all axes under all extractors; each resample draws the same items for all of them.

    The identity axis is the noise floor and is not decomposed.

    Parameters
    ----------
    reference : extractor whose flips count as the model's.
    policy : how unreadable answers count, one of `disagreement.POLICIES`.
    kind : kind of interval, one of `joint_means.KINDS`.
    rule : one of `RULES`.
    axes, extractors : names; None means all.
    tests : False leaves out the share A/T and the sign-flip test, which take most of the time.

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
    rates = [item_rates(answers, axis, extractor, reference, policy) for axis, extractor in cells]
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
        # `estimates` has the columns of the cells one after another, with one estimate per level.
        cell_columns = estimates[j * len(COLUMNS) : (j + 1) * len(COLUMNS)]
        by_name = dict(zip(COLUMNS, (levels[0] for levels in cell_columns), strict=True))
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
                not_read=unread(answers, axis, extractor, reference),
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
    """Make the Decomposition of one cell; `by_name` has its estimates by the names of `COLUMNS`."""
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
    """Return the two-sided p of a mean of 0 by Student's t over items, or over `families`.

    NaN differences are left out. If all are equal, the p is that of sign flips. NaN with fewer than
    two items.
    """
    from scipy.special import stdtr

    if families is not None:
        return clustered_mean(differences, families, bounds=None).p
    d = differences[~np.isnan(differences)]
    if d.size < 2:
        return float("nan")
    se = d.std(ddof=1) / np.sqrt(d.size)
    if se <= 1e-12:
        # If all differences are equal, 2 of the 2^n assignments of signs are as extreme.
        return 1.0 if abs(d.mean()) <= 1e-12 else float(2.0 ** (1 - d.size))
    return float(2 * stdtr(d.size - 1, -abs(d.mean() / se)))


def artifact_shares(
    cells: Sequence[np.ndarray], level: float, seed: int, n_boot: int
) -> list[Estimate]:
    """Return A/T of each cell, a ratio of sums with a BCa interval. `cells` are (items, 2) of A_i
    and T_i; each resample draws the same items for all of them."""
    if not len(cells):
        return []
    if len(cells[0]):
        reps = replicate_means(np.hstack(cells), n_boot, generator(seed))
    else:
        reps = np.empty((0, 2 * len(cells)))
    shares = []
    for j, cell in enumerate(cells):
        pairs = cell[~np.isnan(cell).any(axis=1)]
        # `reps` has two columns per cell, A and T.
        shares.append(_artifact_share(pairs, reps[:, 2 * j], reps[:, 2 * j + 1], level, seed))
    return shares


def _artifact_share(
    pairs: np.ndarray, a_reps: np.ndarray, t_reps: np.ndarray, level: float, seed: int
) -> Estimate:
    """Return A/T from `pairs` (items, 2) of A_i and T_i, and the (n_boot,) means of both."""
    n, (total_a, total_t) = len(pairs), pairs.sum(axis=0)
    if not total_t > 0:
        return missing(n, level, "n/a: nothing flips.")
    # A resample without any flip has no ratio.
    has_flips = t_reps > 0
    replicates, value = a_reps[has_flips] / t_reps[has_flips], float(total_a / total_t)
    # Jackknife: the totals without each item in turn, where there are still flips.
    others_flip = total_t - pairs[:, 1] > 0
    jackknife = (total_a - pairs[others_flip, 0]) / (total_t - pairs[others_flip, 1])
    low, high = np.nan, np.nan
    if jackknife.size and np.ptp(replicates) > SLACK:
        low, high = bca_limits(replicates, value, jackknife, level)
    return Estimate(value, low, high, level=level, method="bca", n=n, seed=seed)


def shown_share(share: Estimate, t: Estimate, level: float, *, is_reference: bool) -> Estimate:
    """Return the share A/T, or a missing estimate with the reason. A ratio needs a T that is
    clearly above 0."""
    if is_reference:
        return missing(share.n, level, "n/a: the reference extractor.")
    if np.isnan(share.value):
        return share
    if not t.has_interval:
        return missing(share.n, level, "n/a: too few items to say that T is above 0.")
    if t.low <= 0:
        return missing(share.n, level, "n/a: the interval of T includes 0.")
    return share
