"""Fill a new database: shipped paraphrases with their verdicts, and demo studies."""

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import replace

from flipcore.core.paths import DATA, PARAPHRASES, POCKET, POCKET_ANSWERS
from flipcore.core.records import Item, digest
from flipcore.core.study import ItemSource, ModelUse, Study
from flipcore.runs.origins import study_row
from flipcore.runs.progress import NOT_STARTED
from flipcore.store.connection import Store
from flipcore.store.recorded import add_answers
from flipcore.store.rows import RULE_VERSION, item_row


def demo_study() -> Study:
    """Return the study in data/demo.toml, on simulated models where the pocket model is missing."""
    study = Study.read(DATA / "demo.toml")
    if (POCKET / "model.safetensors").is_file() and (POCKET / "items").is_dir():
        return study
    shipped = (ItemSource("flipscope_choice", n=20), ItemSource("flipscope_problems", n=12))
    return replace(
        study,
        name="Demo: two simulated models on the shipped items",
        items=shipped,
        models=(
            ModelUse("simulated-artifact-prone", n_samples=2),
            ModelUse("simulated-brittle", n_samples=2),
        ),
    )


def demo_studies() -> list[Study]:
    """Return the studies that run on first start; the page shows the last one first. With the
    pocket model: a ranking, a holdout, memorization, and flips; without it flips only."""
    flips = demo_study()
    has_pocket = any(use.name == "pocket" for use in flips.models)
    files = ("ranking.toml", "holdout.toml", "memory.toml") if has_pocket else ()
    return [*(Study.read(DATA / name) for name in files), flips]


def example_holdout() -> Study:
    """Return data/holdout.toml: the pocket model on problems from its training and on new ones."""
    return Study.read(DATA / "holdout.toml")


def fill_store(store: Store) -> None:
    """Store the shipped paraphrases, their items and their verdicts; a repetition adds nothing."""
    pairs = _lines("shipped.jsonl")
    shipped = _items({pair["dataset"] for pair in pairs})
    item_ids = {key: item.item_id for key, item in shipped.items()}
    # The day on which they were written, so that all databases hold the same rows.
    created_at = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
    store.writer.add("items", [item_row(item) for item in shipped.values()])
    paraphrase_rows = []
    for pair in pairs:
        item_id = item_ids.get((pair["dataset"], pair["item_key"]))
        if item_id is not None:
            row = {
                name: pair[name]
                for name in ("pair_id", "dataset", "original", "paraphrase", "generator")
            }
            paraphrase_rows.append(row | {"item_id": item_id, "created_at": created_at})
    store.writer.add("paraphrases", paraphrase_rows)
    pair_by_id = {pair["pair_id"]: pair for pair in pairs}
    store.writer.add(
        "verdicts",
        [_verdict(row, pair_by_id[row["pair_id"]], created_at) for row in _lines("verdicts.jsonl")],
    )
    store.writer.flush()


def fill_answers(store: Store) -> None:
    """Store recorded answers of the pocket model to the demo studies, because asking takes minutes.

    `python -m tests.lab.pocket answers` recorded them and left out one in sixteen on purpose, so
    that a first start shows the model at work. Where the checkpoint is another one, a run asks for
    all of them.
    """
    if POCKET_ANSWERS.is_file():
        add_answers(store, POCKET_ANSWERS)


def declare(store: Store, demos: Sequence[Study]) -> None:
    """Store the studies as not started, so that the page keeps this order however they run."""
    for study in demos:
        store.writer.add("studies", [study_row(study, NOT_STARTED, "")])
    store.writer.flush()


def _verdict(row: dict, pair: dict, created_at: dt.datetime) -> dict:
    columns = (
        "pair_id",
        "reviewer",
        "reviewer_kind",
        "meaning",
        "difficulty",
        "solution_path",
        "note",
    )
    return {name: row[name] for name in columns} | {
        "verdict_id": digest(row["pair_id"], row["reviewer"], "shipped"),
        "original_hash": digest(pair["original"]),
        "paraphrase_hash": digest(pair["paraphrase"]),
        "rule_version": RULE_VERSION,
        "undoes": None,
        "created_at": created_at,
    }


def _items(datasets: set[str]) -> dict[tuple[str, str], Item]:
    from flipcore.datasets import load_report

    items = {}
    for dataset in datasets:
        for item in load_report(ItemSource(dataset)).items:
            # The id is DATASET/KEY@HASH.
            item_key = item.item_id.removeprefix(f"{item.dataset}/").rpartition("@")[0]
            items[dataset, item_key] = item
    return items


def _lines(name: str) -> list[dict]:
    path = PARAPHRASES / name
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines if line.strip()]
