"""Published results of the source papers, stored as counts and answers.

Statements about them are computed from these numbers instead of being copied.
"""

from functools import cache

import numpy as np

from flipcore.claims.memory_gap import gap_claim
from flipcore.stats.base.intervals import wilson
from flipcore.stats.base.paired import mcnemar
from flipcore.stats.memory.drop_gap_analysis import drop_gap_analysis
from flipcore.stats.memory.loss_test import SOURCE_LEVEL, excess_fraction
from flipcore.stats.memory.rewritten import Rewritten

# Source 001: benchmark -> (flagged items, items).
LOSS_FLAGS = {
    "MATH": (460, 5_000),
    "TriviaQA": (706, 4_800),
    "GSM8K": (41, 1_319),
    "ARC-Challenge": (178, 5_281),
}


def loss_rows() -> list[dict[str, object]]:
    """Return source 001's table with the flags that chance explains; shares in percent. The source
    flags at p < .01, uncorrected."""
    rows = []
    for name, (k, n) in LOSS_FLAGS.items():
        excess, (low, high) = excess_fraction(k, n, SOURCE_LEVEL), wilson(k, n)
        rows.append(
            {
                "benchmark": name,
                "items": n,
                "flagged": k,
                "share, %": 100 * k / n,
                "share, 95%": f"{100 * low:.1f} to {100 * high:.1f}",
                "by chance": excess["exp_false"],
                "of the flags, chance %": 100 * excess["exp_false"] / k,
                "beyond chance, %": 100 * excess["point"],
                "at least, %": 100 * excess["lower95"],
            }
        )
    return rows


def loss_notes() -> str:
    """Describe the contradictions in source 001, computed from its own numbers."""
    k, n = LOSS_FLAGS["MATH"]
    accuracy_of_rest = (0.528 * n - 0.91 * k) / (n - k)
    return (
        f"Its numbers do not all agree: without {k:,} flagged items of which 91% were right, 52.8%"
        f" of {n:,} become {100 * accuracy_of_rest:.1f}%, not the published 49.1%; a correction by"
        " Bonferroni is announced and p < .01 reported, and with 1,200 controls no p below"
        f" {1 / 1201:.4f} exists; and 88.7% of 400 audited pairs is no whole number, and only 400"
        " of 16,400 pairs were audited, so failed pairs among the rest cannot have been excluded;"
        " controls are called exchangeable and centred, and their mean is .04."
    )


# Source -> the points in which its own statements contradict each other.
INCONSISTENCIES = {
    "loss test (001)": (
        "see the note under its table: accuracy after exclusion, the correction, the audited pairs,"
        " the controls' mean."
    ),
    "drop gap (000)": (
        "its McNemar p is the χ² with continuity correction; its rule, read literally, is two-sided"
        " and flags a negative gap; the number of its control items is not given."
    ),
    "retro-holdout (002)": (
        "the values of its tables are missing from the text, and so is the size of its permutation"
        " sample; “first top-selected” can be read in two ways; whether its least of five counts"
        " attempts or votes is not said."
    ),
    "PEARL (003)": (
        "it reports about 2% false positives on RefinedWeb at a target below 5%, with α chosen on"
        " RefinedWeb itself; its compressor is not named."
    ),
    "flip decomposition (004)": (
        "its reference is fixed to text read by a regular expression, so G is a property of model"
        " and reference together, not of the model alone."
    ),
}


def inconsistency_rows() -> list[dict[str, str]]:
    """Return the contradictions in the sources, one row per source."""
    rows = INCONSISTENCIES.items()
    return [{"source": name, "what does not fit": sentence} for name, sentence in rows]


# Source 000's simulated models: (published result, seed of its bootstrap, answers). The answers are
# hexadecimal with one bit per item, 1 for right: benchmark before and after numbers were resampled
# (127 items), then control before and after (139 items).
GAP_ANSWERS = {
    "memorized": (
        "0.260 [0.189, 0.331], flagged",
        1,
        "7fffffffffffffffffffffffffffffff",
        "657ffffcfefbfefe5edfcfa73ae76b15",
        "7edfeff9b15d4fbddff969eb33ff7dbbf7f",
        "7edfeff9b15d4fbddff969eb33ff7dbbf7f",
    ),
    "paraphrase-brittle": (
        "0.023 [−0.064, 0.115], not flagged",
        0,
        "3657fbfff7f7e7efbffef7b7fbeffcff",
        "2603fabc36b747ef8f9ef6b7faaefcf7",
        "6bfebefffffffda7aef67edfb7bfe7ddfff",
        "61f6aed7dfcffda6a67636cfb79de7d1b5f",
    ),
}
N_BENCHMARK, N_CONTROL = 127, 139


def _rewritten(name: str, n: int, before: str, after: str) -> Rewritten:
    """Make `n` items from their answers before and after: hexadecimal, one bit per item."""
    answers = []
    for digits in (before, after):
        bits = list(format(int(digits, 16), f"0{n}b"))
        answers.append(np.array(bits, dtype=float))
    ids = [f"{name}{i}" for i in range(n)]
    return Rewritten.make(ids, answers[0], answers[1][:, None], None)


# Cached because the analysis resamples and its input never changes.
@cache
def gap_rows() -> list[dict[str, str]]:
    """Recompute source 000's table, one column per model. The rows are the gap by its rule and by
    ours, and McNemar's p of the benchmark alone."""
    columns = {}
    for model, (published, seed, *answers) in GAP_ANSWERS.items():
        benchmark_before, benchmark_after, control_before, control_after = answers
        benchmark = _rewritten("benchmark", N_BENCHMARK, benchmark_before, benchmark_after)
        control = _rewritten("control", N_CONTROL, control_before, control_after)
        analysis = drop_gap_analysis(benchmark, control, seed=seed)
        mcnemar_p = analysis.benchmark.mcnemar or mcnemar(0, 0)
        columns[model] = {
            "inputs": f"simulated; seed of the bootstrap {seed}",
            "gap, published": published,
            "gap, recomputed": analysis.gap_source.text(3),
            "the source's rule": analysis.source_decision,
            "gap, score interval": analysis.gap.text(3),
            "the rule of an earlier release": analysis.old_rule,
            "verdict, control from elsewhere": gap_claim(analysis.decided).text,
            "benchmark alone, χ² corrected": f"p = {mcnemar_p['chi2_cc']:.1e}",
            "benchmark alone, exact": f"p = {mcnemar_p['exact']:.1e}",
        }
    rows = []
    for name in columns["memorized"]:
        row = {model: column[name] for model, column in columns.items()}
        rows.append({"simulated models": name} | row)
    return rows


def gap_notes() -> str:
    """Return the note under the table of `gap_rows`."""
    low, high = wilson(N_BENCHMARK, 150)
    return (
        "These inputs are SIMULATED: answers of planted models that reproduce the source's table"
        f" at the seeds shown; nothing was asked of a language model. Coverage {N_BENCHMARK} of"
        f" 150, {N_BENCHMARK / 150:.3f} [{low:.3f}, {high:.3f}]. Sent again unchanged, its models"
        " answer alike: drop 0.000, p = 1, n = 150. Its McNemar p of 2.5e-08 is the χ² with"
        " continuity correction. Read literally, its rule flags a negative gap too; the number of"
        " its control items is not given. Without its control the brittle model would be"
        " convicted."
    )
