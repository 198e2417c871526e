"""The content of a fresh clone: the shipped paraphrases with their verdicts, and a small study on
the pocket model."""

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
    """data/demo.toml; on simulated models as long as there is no pocket checkpoint."""
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
    """Return what runs on first start, the one that is shown first last: a ranking, memorization
    and a holdout where the pocket model is there, and flips."""
    flips = demo_study()
    pocket = any(use.name == "pocket" for use in flips.models)
    files = ("ranking.toml", "holdout.toml", "memory.toml") if pocket else ()
    return [*(Study.read(DATA / name) for name in files), flips]


def example_holdout() -> Study:
    """data/holdout.toml: the pocket model on problems that it read and on others that it never
    did."""
    return Study.read(DATA / "holdout.toml")


def fill_store(store: Store) -> None:
    """Put the shipped paraphrases, their items and their verdicts into the store; doing it again
    changes nothing."""
    pairs = _lines("shipped.jsonl")
    shipped = _items({pair["dataset"] for pair in pairs})
    items = {key: item.item_id for key, item in shipped.items()}
    created_at = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
    store.writer.add("items", [item_row(item) for item in shipped.values()])
    paraphrase_rows = []
    for pair in pairs:
        item_id = items.get((pair["dataset"], pair["item_key"]))
        if item_id is not None:
            row = {
                name: pair[name]
                for name in ("pair_id", "dataset", "original", "paraphrase", "generator")
            }
            paraphrase_rows.append(row | {"item_id": item_id, "created_at": created_at})
    store.writer.add("paraphrases", paraphrase_rows)
    texts = {pair["pair_id"]: pair for pair in pairs}
    store.writer.add(
        "verdicts",
        [_verdict(row, texts[row["pair_id"]], created_at) for row in _lines("verdicts.jsonl")],
    )
    store.writer.flush()


def fill_answers(store: Store) -> None:
    """Put fifteen in sixteen of the pocket model's answers to the demo studies into the store, as
    they were recorded (`python -m tests.lab.pocket answers`): asking them takes minutes. A run asks
    the rest, and all of them where the checkpoint is another one."""
    if POCKET_ANSWERS.is_file():
        add_answers(store, POCKET_ANSWERS)


def declare(store: Store, demos: Sequence[Study]) -> None:
    """Store the studies as not begun, so that they stand on the page in this order, newest last, in
    whichever they are asked."""
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
            items[dataset, item.item_id.split("/", 1)[1].rsplit("@", 1)[0]] = item
    return items


def _lines(name: str) -> list[dict]:
    path = PARAPHRASES / name
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines if line.strip()]
