"""The whole error bar of a score: over reruns, over other questions, over other wordings.

A score is a mean over questions, wordings and reruns. The mean squares of the crossed table divide
its variance. A score between 0 and 1 has Wilson's limits on the effective number of answers.
Sources: E. Miller, *Adding error bars to evals* (arXiv:2411.00640), for questions; Satterthwaite
(1946) for the degrees of freedom of a sum of mean squares; Cornfield and Tukey (1956) for the
expected mean squares of a crossed table.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_FAMILIES, MIN_N, Estimate, missing, without_interval
from flipcore.stats.base.families import UNIT, clustered_mean, few_families, is_signed
from flipcore.stats.base.proportions import t_quantile
from flipcore.stats.score.cells import ScoreCells

LEAST_WORDINGS = 3  # with fewer, a 95% interval over wordings covered .876 in simulation
N_DRAWS = 4000
# Fraction of an unseen question that `limits_of_grades` adds at an end of the scale. With 0.25, 95%
# intervals of grades covered .919 or more in all simulated worlds
# (`tests/lab/simulations/score_coverage.md`).
UNSEEN = 0.25
# With fewer prompts, or fewer effective clusters, 95% intervals covered .91 to .93 in worlds where
# prompts or clusters differ much (`score_coverage.md`).
FEW_PROMPTS, FEW_CLUSTERS, MEASURED_LEVEL, MEASURED_SHORT = 6, 100, 0.95, 0.91
# Prompts that differ much have skewed scores near an end of the scale: with 6 to 12 prompts and 94%
# right, 95% intervals covered .91 to .93.
NEAR_END, FAR_APART, MANY_PROMPTS = 0.2, 0.4, 50
PARTS = ("questions", "wordings", "question × wording", "reruns")


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares of the crossed table, each NaN without degrees of freedom. `residual` is that of
    question × wording. It is computed from cell means, so it includes their rerun noise. `reruns`
    is within cells."""

    questions: float
    wordings: float
    residual: float
    reruns: float
    df_questions: float
    df_wordings: float
    df_residual: float
    df_reruns: float

    def with_df(self, name: str) -> tuple[float, float]:
        """Return the mean square `name` and its degrees of freedom."""
        return getattr(self, name), getattr(self, f"df_{name}")


@dataclass(frozen=True)
class Components:
    """Variances of the score of a single run, in squared units of the score; none is below 0.

    `interaction` is the variance of question × wording. A component that was not measured is 0 and
    is included in another one. Without reruns, theirs is in `interaction`. With one wording,
    `wordings` and `interaction` are in `questions`.
    """

    questions: float
    wordings: float
    interaction: float
    reruns: float

    def variance_parts(
        self, n_questions: float, n_wordings: float, n_runs: float
    ) -> tuple[float, float, float, float]:
        """Return the four parts of the variance of a mean over these numbers."""
        cells = n_questions * n_wordings
        return (
            self.questions / n_questions,
            self.wordings / n_wordings,
            self.interaction / cells,
            self.reruns / (cells * n_runs),
        )


@dataclass(frozen=True, eq=False)
class ErrorBar:
    """A score with the data of its four intervals.

        reruns     the same questions and wordings, run again
        questions  other questions in these wordings
        wordings   other questions and other wordings
        elsewhere  a single run of these questions in another wording

    `variances` maps a name to (variance, degrees of freedom). `why_not` maps it to the reason why
    the interval is missing, "" if it is not. `n_families` and `n_effective` are those of the
    questions.
    """

    cells: ScoreCells
    squares: MeanSquares
    components: Components
    value: float
    variances: Mapping[str, tuple[float, float]]
    why_not: Mapping[str, str]
    n_families: int
    n_effective: float
    level: float

    @property
    def n_runs(self) -> float:
        """Reruns per cell (harmonic mean)."""
        return self.cells.mean_runs

    @property
    def by_questions(self) -> Estimate:
        return self.estimate("questions")

    @property
    def by_wordings(self) -> Estimate:
        return self.estimate("wordings")

    @property
    def elsewhere(self) -> Estimate:
        return self.estimate("elsewhere")

    @property
    def df(self) -> dict[str, float]:
        """Degrees of freedom by the names of the intervals."""
        return {name: df for name, (_, df) in self.variances.items()}

    @property
    def half_widths(self) -> dict[str, float]:
        """Half-widths t·√V by the names of the intervals, in units of the score; NaN if missing."""
        return {name: self.half_width(name) for name in self.variances}

    def half_width(self, name: str) -> float:
        """Return the half-width t·√V of one interval; NaN where it is missing."""
        variance, df = self.variances[name]
        if self.why_not[name]:
            return math.nan
        return t_quantile(0.5 + self.level / 2, df) * math.sqrt(variance)

    def is_short(self, name: str) -> bool:
        """Return True if the simulated coverage of such intervals is below their level."""
        is_clustered = self.n_families < self.cells.shape[0] and self.n_effective < FEW_CLUSTERS
        has_few_prompts = self.cells.shape[1] < FEW_PROMPTS or self.has_skewed_prompts
        is_over_prompts = name in ("wordings", "elsewhere")
        return name != "reruns" and (is_clustered or (is_over_prompts and has_few_prompts))

    @property
    def has_skewed_prompts(self) -> bool:
        """True near an end of the scale where prompts differ much for their distance from it."""
        cells = self.cells
        if not cells.is_binary or not LEAST_WORDINGS <= cells.shape[1] < MANY_PROMPTS:
            return False
        distance = min(self.value, 1 - self.value)
        spread = math.sqrt(self.components.wordings)
        return distance < NEAR_END and spread > FAR_APART * distance

    def at_level(self, level: float) -> "ErrorBar":
        """Return the bar at another level; nothing is computed again."""
        return replace(self, level=level)

    def estimate(self, name: str) -> Estimate:
        """Return the score with the interval `name`."""
        if why_not := self.why_not[name]:
            return without_interval(self.value, self.n_families, self.level, why_not)
        variance, df = self.variances[name]
        cells = self.cells
        if name == "questions" and cells.shape[1] == 1 and cells.is_binary:
            # The interval of an accuracy, so that pages show only one interval for one number.
            accuracy = clustered_mean(cells.mean[:, 0], _families(cells), level=self.level)
            limits = (accuracy.low, accuracy.high)
        elif name == "elsewhere":
            half = self.half_width(name)
            limits = _cut_at_bounds(self.value - half, self.value + half, cells.bounds)
        elif cells.is_binary or name == "reruns":
            n = math.inf if name == "reruns" else cells.mean.size
            limits = limits_of_score(self.value, variance, df, n, self.level, cells.bounds)
        else:
            limits = limits_of_grades(
                self.value, variance, df, self.n_effective, self.level, cells.bounds
            )
        if not limits[0] < limits[1] and name != "reruns":
            equal = "wordings" if name == "elsewhere" else "scores"
            return without_interval(
                self.value, self.n_families, self.level, f"No interval: all {equal} are equal."
            )
        method = "prediction" if name == "elsewhere" else "crossed"
        effective = self.n_effective if self.n_families < cells.shape[0] else None
        coverage = MEASURED_SHORT if self.level == MEASURED_LEVEL and self.is_short(name) else None
        return Estimate(
            self.value,
            *limits,
            level=self.level,
            method=method,
            n=self.n_families,
            seed=None,
            coverage=coverage,
            effective=effective,
        )


def mean_squares(cells: ScoreCells) -> MeanSquares:
    """Compute the mean squares of a complete table."""
    y = cells.mean
    n_questions, n_wordings = y.shape
    by_question, by_wording, mean = y.mean(axis=1), y.mean(axis=0), y.mean()
    residual = y - by_question[:, None] - by_wording[None, :] + mean
    df_questions, df_wordings = n_questions - 1, n_wordings - 1
    df_residual, df_reruns = df_questions * df_wordings, int((cells.n_runs - 1).sum())
    return MeanSquares(
        questions=_quotient(n_wordings * ((by_question - mean) ** 2).sum(), df_questions),
        wordings=_quotient(n_questions * ((by_wording - mean) ** 2).sum(), df_wordings),
        residual=_quotient((residual**2).sum(), df_residual),
        reruns=_quotient(cells.squares.sum(), df_reruns),
        df_questions=float(df_questions),
        df_wordings=float(df_wordings),
        df_residual=float(df_residual),
        df_reruns=float(df_reruns),
    )


def _quotient(total: float, df: int) -> float:
    """Return a mean square; NaN without degrees of freedom."""
    return float(total / df) if df > 0 else math.nan


def components(
    squares: MeanSquares, n_questions: int, n_wordings: int, n_runs: float
) -> Components:
    """Return moment estimates from mean squares, each at least 0; `n_runs` are reruns per cell."""
    reruns = 0.0 if math.isnan(squares.reruns) else squares.reruns
    noise = reruns / n_runs
    # With a single wording, the parts of questions and of wordings cannot be separated.
    if n_wordings == 1:
        return Components(max(squares.questions - noise, 0.0), 0.0, 0.0, reruns)
    return Components(
        max(squares.questions - squares.residual, 0.0) / n_wordings,
        max(squares.wordings - squares.residual, 0.0) / n_questions,
        max(squares.residual - noise, 0.0),
        reruns,
    )


def error_bar(cells: ScoreCells, level: float = 0.95) -> ErrorBar:
    """Compute the intervals of one score.

    There is none below `MIN_N` questions, and none over wordings below three wordings. Where
    questions share families, other questions mean other families: the error is CR2 with
    Satterthwaite's degrees of freedom on the questions' means.

    Raises
    ------
    BadInput
        For an empty table.

    References
    ----------
    E. Miller, *Adding error bars to evals*, arXiv:2411.00640; Cornfield & Tukey (1956) for the
    expected mean squares.
    """
    n_questions, n_wordings = cells.shape
    if not cells.mean.size:
        raise BadInput(
            "No question was asked in every wording, so no score of all wordings is defined. Ask "
            "the missing ones first."
        )
    squares, n_cells = mean_squares(cells), cells.mean.size
    by_question = clustered_mean(
        cells.mean.mean(axis=1), _families(cells), level=level, bounds=None
    )
    v_questions = by_question.se**2
    v_reruns = float((squares.reruns / cells.n_runs).sum()) / n_cells**2
    # The mean square of questions already includes the residual, so the wordings add only their
    # excess over it.
    excess = max(squares.wordings - squares.residual, 0.0) / n_cells
    df_both = _df_of_sum(
        v_questions + excess,
        (v_questions, by_question.df),
        (squares.wordings / n_cells if excess > 0 else 0.0, squares.df_wordings),
    )
    variances = {
        "reruns": (v_reruns, squares.df_reruns),
        "questions": (v_questions, by_question.df),
        "wordings": (v_questions + excess, df_both),
        # A prediction: the variance of a new wording, plus that of the mean over these wordings.
        "elsewhere": ((1 + 1 / n_wordings) * squares.wordings / n_questions, squares.df_wordings),
    }
    why_not = _why_not(n_questions, by_question.n_effective, n_wordings, squares.df_reruns)
    return ErrorBar(
        cells,
        squares,
        components=components(squares, n_questions, n_wordings, cells.mean_runs),
        value=float(cells.mean.mean()),
        variances=variances,
        why_not=why_not,
        n_families=by_question.n_families,
        n_effective=by_question.n_effective,
        level=level,
    )


def _families(cells: ScoreCells) -> np.ndarray:
    """Return (questions,) the family of each question; its own where none are shared."""
    return np.arange(cells.shape[0]) if cells.families is None else cells.families


def _why_not(
    n_questions: int, n_effective: float, n_wordings: int, df_reruns: float
) -> dict[str, str]:
    """Return `ErrorBar.why_not`: why each interval is missing, "" if it is not."""
    questions = wordings = reruns = ""
    if n_questions < MIN_N:
        questions = f"{n_questions} questions: from {MIN_N} on there is an interval."
    elif n_effective < MIN_FAMILIES:
        questions = few_families(n_effective)
    if n_wordings == 1:
        wordings = "The score counts one prompt only, so it has no interval over other prompts."
    elif n_wordings < LEAST_WORDINGS:
        wordings = (
            f"{n_wordings} wordings: from {LEAST_WORDINGS} on there is an interval over other "
            "wordings."
        )
    if not df_reruns:
        reruns = "Nothing was asked twice, so reruns were not measured."
    # Too few questions is the first reason for all intervals.
    wordings = questions or wordings
    return {
        "reruns": questions or reruns,
        "questions": questions,
        "wordings": wordings,
        "elsewhere": wordings,
    }


def limits_of_score(
    mean: float,
    variance: float,
    df: float,
    n: float,
    level: float,
    bounds: tuple[float, float] = UNIT,
) -> tuple[float, float]:
    """Return Wilson's limits of a score from its variance, with Student's quantile.

    Wilson's formula needs a number of answers. With mean m and variance V scaled to [0, 1] it is
    m (1 - m)/V, and at most `n`, the number of answers. `n` is infinite for reruns, which do not
    draw new questions. For differences, and without finite `bounds`, the limits are m ± t √V, cut
    at the bounds.
    """
    t, width = t_quantile(0.5 + level / 2, df), bounds[1] - bounds[0]
    if math.isinf(width) or is_signed(bounds):
        half = t * math.sqrt(variance)
        return _cut_at_bounds(mean - half, mean + half, bounds)
    m, v = (mean - bounds[0]) / width, variance / width**2
    binomial = m * (1 - m)
    # A mean that was cut to an end of the scale has a variance, but counts as no answer at all.
    if v > 0 and binomial <= 0:
        return bounds
    z = t**2 / min(n, binomial / v if v > 0 else math.inf)
    half = math.sqrt(max(binomial, 0.0) * z + z**2 / 4)
    ends = ((m + z / 2 + side * half) / (1 + z) for side in (-1, 1))
    low, high = (bounds[0] + width * min(max(limit, 0.0), 1.0) for limit in ends)
    return low, high


def limits_of_grades(
    mean: float,
    variance: float,
    df: float,
    n_effective: float,
    level: float,
    bounds: tuple[float, float],
) -> tuple[float, float]:
    """Return the limits of grades on a scale, or of differences.

    The sample may lack the few questions that would move the mean. So each limit includes a
    fraction `UNSEEN` of a question at its end of the scale. Without it, 95% intervals of grades
    near the top covered .52.
    """
    limits = []
    for side, end in enumerate(bounds):
        shift = UNSEEN * (end - mean) / (n_effective + UNSEEN) if math.isfinite(end) else 0.0
        shifted = limits_of_score(
            mean + shift, variance + shift**2 / UNSEEN, df, math.inf, level, bounds
        )
        limits.append(shifted[side])
    return limits[0], limits[1]


def _cut_at_bounds(low: float, high: float, bounds: tuple[float, float]) -> tuple[float, float]:
    return max(low, bounds[0]), min(high, bounds[1])


def _df_of_sum(variance: float, *terms: tuple[float, float]) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of (mean square, df), not below the
    smallest df. Where questions differ by less than noise, the sum is smaller than its terms, and
    below one degree of freedom there is no t."""
    measured = [(square, df) for square, df in terms if square > 0 and df > 0]
    denominator = sum(square**2 / df for square, df in measured)
    if not denominator:
        return terms[0][1]
    return max(variance**2 / denominator, min(df for _, df in measured))


def shares(bar: ErrorBar, seed: int = 0) -> dict[str, Estimate]:
    """Split the variance of a score into the shares of `PARTS`, which sum to 1.

    The limits come from `N_DRAWS` draws of the mean squares, each χ² about its estimate. Without
    reruns, their share is in "question × wording" and "reruns" is missing. Empty where there is no
    interval over wordings.
    """
    if not bar.by_wordings.has_interval:
        return {}
    rng = generator(seed, "score", "shares")
    cells, squares, level = bar.cells, bar.squares, bar.level
    n_questions, _ = cells.shape
    values, draws = [], []
    for name in ("questions", "wordings", "residual", "reruns"):
        square, df = squares.with_df(name)
        is_measured = not math.isnan(square)
        values.append(square if is_measured else 0.0)
        # df · mean square / σ² is χ² with df degrees of freedom, which gives draws of σ².
        draws.append(square * df / rng.chisquare(df, N_DRAWS) if is_measured else np.zeros(N_DRAWS))
    value = _variance_shares(np.array(values), cells)
    if np.isnan(value).all():
        note = "All scores are equal: there is no variance to split."
        return {name: missing(n_questions, level, note) for name in PARTS}
    drawn = _variance_shares(np.array(draws), cells)
    lows, highs = np.nanpercentile(drawn, (50 - 50 * level, 50 + 50 * level), axis=1)
    estimates = {}
    for name, share, low, high in zip(PARTS, value, lows, highs, strict=True):
        estimates[name] = Estimate(
            float(share),
            float(low),
            float(high),
            level=level,
            method="mean squares drawn",
            n=n_questions,
            seed=seed,
        )
    if not squares.df_reruns:
        note = "Nothing was asked twice: reruns stand in question × prompt."
        estimates["reruns"] = missing(n_questions, level, note)
    return estimates


def _variance_shares(squares: np.ndarray, cells: ScoreCells) -> np.ndarray:
    """Return (4, …) shares of the variance, from (4, …) mean squares; NaN where all are 0."""
    questions, wordings, residual, reruns = squares
    # The residual includes the rerun noise of cell means, but by chance it may be smaller.
    noise = np.minimum(reruns / cells.mean_runs, residual)
    variances = np.array(
        [
            np.maximum(questions - residual, 0.0),
            np.maximum(wordings - residual, 0.0),
            residual - noise,
            noise,
        ]
    )
    total = variances.sum(axis=0)
    return np.divide(variances, total, out=np.full_like(variances, math.nan), where=total > 0)
