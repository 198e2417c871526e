"""How often the intervals and tests of the memorization statistics hold what they promise: simulated, as a table.

``python -m tests.lab.simulations.memory_coverage [simulations]`` prints it as Markdown. Intervals should hold the truth in
95% of the data sets, or more; tests should not reject a true null more often than they say.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.agreement import cohen_agreement
from flipcore.stats.base.intervals import bonett_price, wilson
from flipcore.stats.base.multiplicity import bh
from flipcore.stats.base.paired import discordant, gap_welch, mcnemar
from flipcore.stats.memory.drop_gap import cond_gap, drop_gap_source, gap_score
from flipcore.stats.memory.loss_test import excess_fraction, pval_conformal, pval_source
from flipcore.stats.memory.operand_size import operand_check
from flipcore.stats.memory.pearl_alpha import alpha_conformal, alpha_source, alpha_tolerance
from flipcore.stats.memory.pearl_analysis import level_means, perm_maxdrop, sensitivity
from tests.lab.simulations.planted_memory import GAP_SCENARIOS, before_after, gap_sets, loss_differences, pearl_scores
from tests.source_statistics import stud_perm

N_BOOT = 499
MARGIN = 0.05
_SLOW = 10  # these are simulated this much less often
_FURTHER = 4_000  # texts on which an alpha's rate is read


@dataclass(frozen=True)
class CoverageRow:
    """`count` of `n_sims` data sets in which `what` held the truth (kind "interval") or rejected a true null ("test")."""

    kind: str
    what: str
    setting: str
    promised: float
    count: int
    n_sims: int

    @property
    def share(self) -> float:
        return self.count / self.n_sims


def rows(n_sims: int, seed: int = 0) -> Iterator[CoverageRow]:
    """Every row of the table."""
    for n in (50, 150):
        for scenario in ("N1 clean + decode noise", "N2 brittle both", "gap .10", "gap .26"):
            yield from _gap_intervals(scenario, n, n_sims, seed)
        yield from _several_rewrites(n, n_sims, seed)
        yield from _gap_tests(n, n_sims, seed)
    yield from _loss_rows(n_sims, seed)
    yield from _pearl_rows(n_sims, seed)
    yield from _agreement_rows(n_sims, seed)


def _coverage_rows(
    kind: str, setting: str, n_sims: int, promised: dict[str, float], draw: Callable[[], Sequence[bool]]
) -> list[CoverageRow]:
    """One row a name in `promised`; `draw` makes a data set and says for each whether it held."""
    counts = np.sum([np.asarray(draw(), dtype=int) for _ in range(n_sims)], axis=0)
    return [
        CoverageRow(kind, name, setting, level, int(count), n_sims)
        for (name, level), count in zip(promised.items(), counts, strict=True)
    ]


def _inside(low: float, truth: float, high: float) -> bool:
    return low - 1e-12 <= truth <= high + 1e-12


def _gap_intervals(scenario: str, n: int, n_sims: int, seed: int) -> list[CoverageRow]:
    (a1, q1, r1), (a2, q2, r2) = GAP_SCENARIOS[scenario]
    drop = a1 * q1 - (1 - a1) * r1
    gap, condition = drop - (a2 * q2 - (1 - a2) * r2), q1 - q2
    rng = generator(seed, "gap intervals", scenario, n)

    def draw():
        sets = gap_sets(scenario, n, rng)
        one, gap_interval, conditional = bonett_price(*discordant(*sets[:2])), gap_score(*sets), cond_gap(*sets)
        source = drop_gap_source(*sets, seed=int(rng.integers(2**31)), n_boot=N_BOOT)
        return (
            _inside(one[0], drop, one[1]),
            _inside(gap_interval["lo"], gap, gap_interval["hi"]),
            _inside(conditional["lo"], condition, conditional["hi"]),
            _inside(source["gap_lo"], gap, source["gap_hi"]),
        )

    return _coverage_rows(
        "interval",
        f"{scenario}, n = {n}",
        n_sims,
        dict.fromkeys(
            (
                "drop of a set (Bonett–Price)",
                "gap (Bonett–Price and MOVER)",
                "gap among items right before (Newcombe)",
                "gap (the source's bootstrap)",
            ),
            0.95,
        ),
        draw,
    )


def _several_rewrites(n: int, n_sims: int, seed: int) -> list[CoverageRow]:
    """Three rewrites an item, each lost with a probability of the item's own; without and with the identity's noise."""
    rng = generator(seed, "rewrites", n)

    def drops(lost: float) -> tuple[np.ndarray, np.ndarray]:
        before = (rng.random(n) < 0.85).astype(float)
        p = rng.beta(0.6, 0.6 / lost - 0.6, n)[:, None]
        after = before * (rng.random((n, 3)) >= p).mean(axis=1)
        again = np.abs(before[:, None] - (rng.random((n, 2)) < 0.05)).mean(axis=1)
        return before - after, again - after

    def draw():
        benchmark, control = drops(0.30), drops(0.10)
        truth = 0.85 * (0.30 - 0.10)
        return [_inside(interval["lo"], truth, interval["hi"]) for interval in map(gap_welch, benchmark, control)]

    return _coverage_rows(
        "interval",
        f"gap .17, three rewrites, n = {n}",
        n_sims,
        dict.fromkeys(("gap with several rewrites (Welch)", "gap less the identity's (Welch)"), 0.95),
        draw,
    )


def _gap_tests(n: int, n_sims: int, seed: int) -> list[CoverageRow]:
    rng = generator(seed, "gap tests", n)

    def null():
        p = mcnemar(*discordant(*before_after(n, 0.8, 0.05, 0.20, rng))[:2])
        return p["exact"] <= 0.05, p["midp"] <= 0.05, p["chi2_cc"] <= 0.05

    def brittle():
        bo, bp, co, cp = gap_sets("N2 brittle both", n, rng)
        by_drop = stud_perm(bo - bp, co - cp, seed=int(rng.integers(2**31)), m=N_BOOT)["p_one_sided"] <= 0.025
        by_condition = cond_gap(bo, bp, co, cp)["flag"]
        return by_drop, by_condition, by_drop and by_condition

    def on_the_margin():
        sets = (*before_after(n, 0.85, (0.04 + MARGIN) / 0.85, 0, rng), *before_after(n, 0.8, 0.05, 0, rng))
        interval = gap_score(*sets, level=0.90)
        return [-MARGIN < interval["lo"] and interval["hi"] < MARGIN]

    def sizes():
        was = np.exp(rng.normal(3, 1.2, 2 * n))
        return [operand_check(was.tolist(), np.exp(rng.normal(3, 1.2, 2 * n)).tolist()).p <= 0.05]

    return [
        *_coverage_rows(
            "test",
            f"as many fixed as broken, n = {n}",
            n_sims,
            dict.fromkeys(("McNemar, exact", "McNemar, mid-p", "McNemar, corrected χ² (source)"), 0.05),
            null,
        ),
        *_coverage_rows(
            "test",
            f"N2 brittle both, n = {n}",
            n_sims,
            dict.fromkeys(
                ("gap, studentised permutation", "gap among items right before > 0", "recommended rule (both)"), 0.025
            ),
            brittle,
        ),
        *_coverage_rows(
            "test", f"gap of just 5 pp, n = {n}", n_sims, {"no memory beyond 5 pp (two one-sided tests)": 0.05}, on_the_margin
        ),
        *_coverage_rows("test", f"same law, {2 * n} numbers", n_sims, {"sizes of numbers (Kolmogorov–Smirnov)": 0.05}, sizes),
    ]


def _loss_rows(n_sims: int, seed: int) -> list[CoverageRow]:
    rng = generator(seed, "loss")

    def null():
        d, d0, _ = loss_differences(rng, 200, 120)
        return (bool((np.asarray(bh(pval_conformal(d, d0))) <= 0.05).any()),)

    def excess():
        d, d0, truth = loss_differences(rng, 500, 1_200, memorized=0.2, shift_sd=5)
        return [excess_fraction(int((pval_source(d, d0) < 0.01).sum()), len(d), 0.01)["lower95"] <= truth.mean()]

    return [
        *_coverage_rows(
            "test",
            "200 clean items, 120 controls",
            n_sims,
            {"loss test flags anything (conformal, Benjamini–Hochberg)": 0.05},
            null,
        ),
        *_coverage_rows(
            "interval",
            "a fifth known by heart, 500 items, 1,200 controls",
            n_sims,
            {"share beyond chance (one-sided Clopper–Pearson)": 0.95},
            excess,
        ),
    ]


def _pearl_rows(n_sims: int, seed: int) -> list[CoverageRow]:
    rng, flat = generator(seed, "pearl"), np.full(6, 0.5)

    def sensitivities(n: int) -> list[float]:
        return [sensitivity(row) for row in pearl_scores(rng, n, flat).mean(axis=2)]

    def alphas():  # the rate of each alpha among further texts
        texts, others = sensitivities(60), np.array(sensitivities(_FURTHER))
        return [
            float((others > alpha).mean())
            for alpha in (alpha_tolerance(texts, 0.05)[0], alpha_conformal(texts, 0.05)[0], alpha_source(texts, 0.05)[0])
        ]

    realised = np.array([alphas() for _ in range(max(1, n_sims // _SLOW))])
    n = len(realised)
    flag_rows = [
        CoverageRow(
            "test",
            f"PEARL by the {name}: more than 5% of non-members flagged",
            "60 non-members",
            promised,
            int((realised[:, i] > 0.05).sum()),
            n,
        )
        for i, (name, promised) in enumerate(
            (("tolerance bound", 0.05), ("conformal rule", np.nan), ("source's quantile", np.nan))
        )
    ]
    flag_rows += [
        CoverageRow(
            "test",
            f"PEARL by the {name}: share of non-members flagged, mean",
            "60 non-members",
            0.05,
            round(_FURTHER * float(realised[:, i].mean()) * n),
            _FURTHER * n,
        )
        for i, name in ((1, "conformal rule"), (2, "source's quantile"))
    ]

    def single():
        scores = pearl_scores(rng, 1, flat)[0]
        test = perm_maxdrop(scores.tolist(), seed=int(rng.integers(2**31)), m=N_BOOT)
        return [test["p"] <= 0.05 and np.isfinite(level_means(scores.tolist())).all()]

    return [
        *flag_rows,
        *_coverage_rows("test", "no effect, 6 levels × 10 samples", n_sims, {"PEARL, permutation p of a text": 0.05}, single),
    ]


def _agreement_rows(n_sims: int, seed: int) -> list[CoverageRow]:
    """Two detectors that say the same of 80% of the texts: each flags half, so κ = .6."""
    rng = generator(seed, "agreement")

    def draw():
        a = rng.random(80) < 0.5
        b = a ^ (rng.random(80) < 0.2)
        rng.integers(2**31)  # the stored rows were drawn with a seed here
        kappa = cohen_agreement(a.tolist(), b.tolist()).estimate
        low, high = wilson(int(a.sum()), 80)
        return _inside(kappa.low, 0.6, kappa.high), _inside(low, 0.5, high)

    return _coverage_rows(
        "interval",
        "80 texts, half of them flagged",
        max(1, n_sims // _SLOW),
        dict.fromkeys(("κ of two detectors (bootstrap)", "share flagged (Wilson)"), 0.95),
        draw,
    )


def markdown(simulations: Sequence[CoverageRow]) -> str:
    """Two tables: what intervals hold, and how often tests reject a true null."""
    out = [
        "# Simulated coverage and size: memorization",
        "",
        "Written by `python -m tests.lab.simulations.memory_coverage`; generators: `planted_memory`. Monte Carlo",
        "error of a share near .95 is .005 at 2,000 data sets. The source's rules are there to be compared; what a page",
        "recommends is not theirs. All rules at three sizes, with their power: `test_drop_gap_rates.py`.",
        "",
    ]
    for kind, title, head in (("interval", "Intervals", "holds the truth"), ("test", "Tests", "rejects a true null")):
        out += [f"## {title}", "", f"| what | data | data sets | promised | {head} |", "|---|---|--:|--:|--:|"]
        out += [
            f"| {row.what} | {row.setting} | {row.n_sims:,} | {_share(row.promised)} | {_share(row.share)} |"
            for row in simulations
            if row.kind == kind
        ]
        out.append("")
    return "\n".join(out)


def _share(x: float) -> str:
    return "–" if np.isnan(x) else f"{x:.3f}".lstrip("0") if x < 1 else "1"


def main(arguments: Sequence[str] | None = None) -> None:
    """``python -m tests.lab.simulations.memory_coverage [simulations]``."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    print(markdown(list(rows(int(argv[0]) if argv else 2000))), end="")


if __name__ == "__main__":
    main()
