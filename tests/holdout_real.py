"""The holdout tests on real data, where the truth is known: `python -m tests.holdout_real` writes tests/holdout_real.md.

Random parts of one benchmark are a true null: they come from the same source by construction.
"""

import csv
import json
import time
from functools import cache
from pathlib import Path

import numpy as np

from flipcore.core.randomness import generator
from flipcore.core.records import Item
from flipcore.core.study import ItemSource
from flipcore.datasets import load
from flipcore.stats.base import separability as separability_module
from flipcore.stats.base.separability import FOLDS, SLACK
from flipcore.stats.holdout.entries import entry_text, paired_rows
from flipcore.stats.holdout.neighbours import N_NEAREST, mixing, nearest
from flipcore.stats.holdout.semantic import unit_vectors
from flipcore.stats.holdout.verdict import difficulty_test, join_tests, semantic_test
from flipcore.vectors.classifiers import classifier_by_name, told_apart
from flipcore.vectors.embeddings.kinds import EMBEDDINGS
from tests.conftest import SHARED_DATA

N_PARTS, N_SWAPS, N_REGROUPINGS = 200, 39, 999


@cache
def benchmark(name: str) -> list[Item]:
    """GSM8K's test or train split, or TruthfulQA."""
    path = {"gsm8k": "gsm8k/test.jsonl", "gsm8k-train": "gsm8k/train.jsonl", "truthfulqa": "truthfulqa/TruthfulQA.csv"}[name]
    return load(ItemSource(name.partition("-")[0], path=str(SHARED_DATA / path)))


def rephrased(target: list[Item]) -> list[Item]:
    """GSM8K's test questions reworded row by row by a model; four rows are empty and left out."""
    lines = (SHARED_DATA / "rephrase" / "rephrase_gsm8k.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"].partition("Question: ")[2].partition("\nAnswer:")[0].strip() for line in lines]
    return [
        Item.make(dataset="rephrase", key=str(i), kind="number", question=text, source_id=source.item_id)
        for i, (source, text) in enumerate(zip(target, texts, strict=True))
        if text
    ]


def gsm1k() -> list[Item]:
    with open(SHARED_DATA / "gsm1k" / "gsm1k_public_50.csv", encoding="utf-8", newline="") as file:
        return [
            Item.make(dataset="gsm1k", key=str(i), kind="number", question=row["question"])
            for i, row in enumerate(csv.DictReader(file))
        ]


def units_of(items: list[Item]) -> np.ndarray:
    return unit_vectors(EMBEDDINGS[0].vectors([entry_text(item) for item in items])).astype(np.float32)


def part_labels(n: int, n_retro: int, i: int) -> np.ndarray:
    """0 / 1 of the i-th random part of `n_retro` of n entries."""
    return generator(i, "part", n_retro).permutation(np.arange(n) < n_retro).astype(int)


@cache
def placed(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Unit rows of a benchmark and each one's nearest others: blind to any labels, so made once."""
    units = units_of(benchmark(name))
    return units, nearest(units, units, N_NEAREST, skip_self=True)[0]


def part_rejections(
    benchmark_name: str, n_retro: int, n_parts: int, tests: tuple[str, ...], m: int = N_REGROUPINGS
) -> dict[str, np.ndarray]:
    """Test -> whether p < .05, for `n_parts` random divisions of a benchmark."""
    items, (units, near) = benchmark(benchmark_name), placed(benchmark_name)
    texts = [entry_text(item) for item in items]
    fits = {name: classifier_by_name(name).prepared(texts, units) for name in tests if name in ("words", "vectors")}
    found: dict[str, list[bool]] = {name: [] for name in tests}
    for i in range(n_parts):
        labels = part_labels(len(items), n_retro, i)
        for name in tests:
            if name == "semantic":
                p = semantic_test(units[labels == 0], units[labels == 1], m=m, seed=i).p
                found[name].append(p < 0.05)
            elif name == "difficulty":
                found[name].append(difficulty_p(labels) < 0.05)
            elif name == "mixing":
                found[name].append(mixing(near, labels, m=m, seed=i).p < 0.05)
            else:
                found[name].append(rejected(labels, fits[name], N_SWAPS, i))
    return {name: np.array(values) for name, values in found.items()}


@cache
def answered() -> np.ndarray:
    """(models, items) right answers of the four models whose solutions were published with GSM8K's test split."""
    lines = (SHARED_DATA / "gsm8k" / "example_model_solutions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    names = [name for name, value in rows[0].items() if isinstance(value, dict)]
    return np.array([[row[name]["is_correct"] for row in rows] for name in names])


def difficulty_p(labels: np.ndarray) -> float:
    """Of the two parts, over all four models (Holm)."""
    parts = [
        [part for label in (0, 1) for part in (int(right[labels == label].sum()), int((labels == label).sum()))]
        for right in answered()
    ]
    return join_tests([difficulty_test(*counts) for counts in parts]).p


def rejected(labels: np.ndarray, fit_predict, m: int, seed: int) -> bool:
    """What `separability(..., m=m, seed=seed).p < 0.05` decides, draw for draw, ended as soon as it is certain."""
    rows, rng, reached = np.arange(len(labels)), generator(seed), 0
    observed = separability_module._cross_validate(rows, labels, rows, fit_predict, FOLDS, rng)[0]
    for _ in range(m):
        shuffled = rng.permutation(labels)
        reached += separability_module._cross_validate(rows, shuffled, rows, fit_predict, FOLDS, rng)[0] >= observed - SLACK
        if (reached + 1) / (m + 1) >= 0.05:
            return False
    return True


def nearest_neighbour(units: np.ndarray):
    """The naive classifier: an entry is of the set of its nearest training entry."""

    def fit_predict(train: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
        return labels[(units[test] @ units[train].T).argmax(axis=1)].astype(float)

    return fit_predict


def null_lines() -> list[str]:
    """A row a set, size and test: how often random parts of one benchmark are told apart."""
    from scipy.stats import binomtest

    lines = ["| set | retro of all | test | p < .05 | of | p of a rate above .05 | minutes |", "|---|---|---|---|---|---|---|"]
    for name, n_retro in (("truthfulqa", 408), ("gsm8k", 660), ("gsm8k", 50)):
        items = benchmark(name)
        for test in ("difficulty", "semantic", "mixing", "vectors", "words")[name != "gsm8k" :]:
            start = time.perf_counter()
            k = int(part_rejections(name, n_retro, N_PARTS, (test,))[test].sum())
            excess = binomtest(k, N_PARTS, 0.05, alternative="greater").pvalue
            lines.append(
                f"| {name} | {n_retro:,} of {len(items):,} | {test} | {k} | {N_PARTS} | {excess:.2f} | "
                f"{(time.perf_counter() - start) / 60:.1f} |"
            )
            print(lines[-1], flush=True)
    return lines


def pair_lines() -> list[str]:
    """A row a pair of sets: what the tests say of it."""
    test = benchmark("gsm8k")
    lines = [
        "| target | retro | n | semantic p | MMD² | words: balanced accuracy | p | vectors: balanced accuracy | p |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, retro in (
        ("train split", benchmark("gsm8k-train")),
        ("rephrased, source-paired", rephrased(test)),
        ("GSM1k, the public 50", gsm1k()),
    ):
        units, n = units_of([*test, *retro]), len(test)
        pairs = paired_rows(test, retro)
        rows = np.arange(n + len(retro)) if pairs is None else pairs
        half = n if pairs is None else len(pairs) // 2
        semantic = semantic_test(units[rows[:half]], units[rows[half:]], paired=pairs is not None)
        words, vectors = (told_apart(test, retro, kind, units).cross_validation for kind in ("words", "vectors"))
        lines.append(
            f"| GSM8K test | {name} | {half:,} + {len(rows) - half:,} | {semantic.p:.4f} | "
            f"{semantic.estimate.value:.5f} | {words.balanced.text(3)} | {words.p:.3f} | {vectors.balanced.text(3)} | "
            f"{vectors.p:.3f} |"
        )
        print(lines[-1], flush=True)
    return lines


HEAD = f"""# The holdout tests on real data

Written by `python -m tests.holdout_real`; needs the public files that the tests look for, and some minutes on one core. The
embedding is the default (word frequencies). `tests/stats/holdout/test_real_sets.py` runs a part of it on every change.

## Random parts of one benchmark: nothing to find

{N_PARTS} random divisions of each; {N_REGROUPINGS} regroupings, {N_SWAPS} permutations of the whole cross-validation. At these
numbers p < .05 has a nominal rate of .049 and .025. Difficulty: the answers of the four models that were published with GSM8K;
nobody's answers to TruthfulQA are at hand.
"""
PAIRS = """
## Two sets of different origin

The training split has the same origin as the test split. The rephrased set was written from the test split row by row, so its
labels are swapped within pairs. Of the 50 public GSM1k items, fifty say that they differ, and not yet by how much: see the
width of the interval.
"""


def main() -> None:
    text = [HEAD, *null_lines(), PAIRS, *pair_lines()]
    Path(__file__).with_suffix(".md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
