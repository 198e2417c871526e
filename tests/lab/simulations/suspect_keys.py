"""How many wrong keys are found: planted in the pocket model's items, and in a file of answers of others whose keys people checked:
`python -m tests.lab.simulations.suspect_keys [--keys mmlu_redux_14_models.csv]`. That file's subjects are its blocks of 100 rows.
"""

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from flipcore.annotation.key_review import answers_of
from flipcore.core.randomness import generator
from flipcore.core.records import Item
from flipcore.runs.demo import demo_studies, fill_answers, fill_store
from flipcore.runs.runner import run
from flipcore.stats.audit.suspects import suspicions
from flipcore.store.connection import Store
from flipcore.store.queries import review, studies

TABLE = Path(__file__).with_suffix(".md")
PLANTED, FIRST = 0.05, 200


def planted(
    answers: Mapping[str, Sequence[str]], items: Mapping[str, Item], n_times: int, seed: int = 0
) -> tuple[float, float, int]:
    """(share of planted wrong keys that are suspect, mean number of suspects whose key is right, items), over `n_times` plantings."""
    rng = generator(seed, "planted keys")
    names, hits, false = list(answers), [], []
    subjects, given = [items[one].category for one in names], [answers[one] for one in names]
    for _ in range(n_times):
        is_wrong = rng.random(len(names)) < PLANTED
        keys = [_wrong(items[one], rng) if bad else _right(items[one]) for one, bad in zip(names, is_wrong, strict=True)]
        flags = np.array([one.is_suspect for one in suspicions(given, keys, subjects)])
        hits += flags[is_wrong].tolist()
        false.append(int((flags & ~is_wrong).sum()))
    return float(np.mean(hits)), float(np.mean(false)), len(names)


def _right(item: Item) -> list[str]:
    return str(item.target).split("\n")


def _wrong(item: Item, rng: np.random.Generator) -> list[str]:
    """Another option, or a number some steps away."""
    (right, *_), n = _right(item), len(item.options)
    return [str((int(right) + int(rng.integers(1, n))) % n)] if n else [f"{right}{int(rng.integers(1, 10))}"]


def precision(score: np.ndarray, is_wrong: np.ndarray) -> tuple[float, float]:
    """(average precision, precision among the first 200), ties at random."""
    from sklearn.metrics import average_precision_score

    order = np.lexsort((generator(0, "ties").random(score.size), -score))
    return float(average_precision_score(is_wrong, score)), float(is_wrong[order[:FIRST]].mean())


def of_file(path: Path) -> list[str]:
    """Rows of the table for answers of others: agreement alone beside the score, all that is disputed and wrong keys alone."""
    table = pd.read_csv(path)
    models = list(table.columns[4:18])
    answers = [[one for one in row if one in list("ABCD")] for row in table[models].to_numpy().tolist()]
    keys = [["ABCD"[int(one)]] for one in table["groundtruth_answer"]]
    every = suspicions(answers, keys, [i // 100 for i in range(len(table))])
    orders = {"agreement alone": [one.share for one in every], "score": [one.score for one in every]}
    kinds = {"all disputed": table["error_type"] != "ok", "wrong key": table["error_type"] == "wrong_groundtruth"}
    return [
        f"| {path.stem}, {kind} ({int(is_wrong.sum())} of {len(table):,}) | {name} | {ap:.3f} | {first:.3f} |"
        for kind, is_wrong in kinds.items()
        for name, order in orders.items()
        for ap, first in [precision(np.array(order), is_wrong.to_numpy())]
    ]


def main() -> None:
    """Writes the table beside this file; rows of a file only where one is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=Path)
    parser.add_argument("--times", type=int, default=200)
    options = parser.parse_args()
    lines = [
        "# How many wrong keys are found",
        "",
        "Written by `python -m tests.lab.simulations.suspect_keys --keys FILE`.",
        f"Planted: {PLANTED:.0%} wrong keys in the pocket model's items, {options.times} times; a suspect is an item on which half of the",
        "answers or more agree on one other answer. False suspects are items whose key is right; the model is wrong on those.",
        "",
        "| study | items | found | false suspects |",
        "|---|--:|--:|--:|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "flips.duckdb")
        fill_store(store)
        fill_answers(store)
        for study in demo_studies():
            if study.items[0].role == "benchmark" and any(part.name == "option_order" for part in study.axes):
                run(study, store)
                answers = answers_of(studies.readouts(store, study.study_id))
                share, false, n = planted(answers, review.items(store, list(answers)), options.times)
                lines.append(f"| {study.name} | {n} | {share:.3f} | {false:.1f} |")
        store.close()
    if options.keys:
        lines += ["", "| answers of others | order | average precision | precision in the first 200 |", "|---|---|--:|--:|"]
        lines += of_file(options.keys)
    print("\n".join(lines))
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
