"""A finished study of any size: a small one is run, its rows are copied in SQL under the names that the large one's would have."""

import json
import shutil
from pathlib import Path

import duckdb
import pyarrow as pa

from flipcore.core.records import digest
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load_report
from flipcore.models import model_cards, open_backend
from flipcore.runs import runner
from flipcore.runs.plan import plan_inputs, plan_of
from flipcore.runs.runner import ItemRuns
from flipcore.store import rows
from flipcore.store.connection import Store

MODEL = "simulated-noisy"
N_RUN = 100  # items that are run
N_ORDERS, N_SAMPLES = 4, 5
A_CALLS = N_ORDERS * N_SAMPLES  # of an item
_COPIED = {  # by which of its names a table's rows are copied
    "study_items": ("item_id",),
    "variants": ("variant_id", "item_id"),
    "study_variants": ("item_id", "variant_id"),
    "study_calls": ("call_id",),
    "readouts": ("item_id", "variant_id"),
    "readout_sources": ("item_id", "variant_id", "call_id"),
    "item_runs": ("item_id",),
}


def declared(folder: Path) -> Study:
    columns = {"question": "question", "options": "options", "target": "answer", "key": "id"}
    source = ItemSource("file", path=str(folder / "items.jsonl"), columns=columns)
    return Study(
        "copied",
        (source,),
        (Part("option_order", {"n": N_ORDERS}),),
        (Part("regex"),),
        (ModelUse(MODEL, n_samples=N_SAMPLES, temperature=1.0),),
    )


def write_items(folder: Path, n_items: int) -> None:
    options = ["tin", "oak", "rye", "owl"]
    with (folder / "items.jsonl").open("w", encoding="utf-8") as stream:
        for i in range(n_items):
            stream.write(json.dumps({"id": i, "question": f"Question {i}?", "options": options, "answer": i % 4}) + "\n")


def copied(folder: Path, n_calls: int, n_files: int = 1) -> tuple[Study, list[Path]]:
    """A study of `n_calls` calls that has ended, in so many files with an equal part of its items each (and the items that were
    run in every one). One file knows that it holds the whole."""
    n_items = n_calls // A_CALLS
    study = declared(folder)
    write_items(folder, N_RUN)
    base = folder / "run.duckdb"
    store = Store.open(base)
    last = runner.run(study, store)
    assert last.n_done == N_RUN * A_CALLS, last
    store.close()
    write_items(folder, n_items)
    items = load_report(study.items[0]).items
    files = []
    copies = range(1, n_items // N_RUN)
    for i in range(n_files):
        files.append(folder / f"part-{i}.duckdb")
        shutil.copyfile(base, files[-1])
        _copy(files[-1], items, copies[i * len(copies) // n_files : (i + 1) * len(copies) // n_files])
    if n_files == 1:
        _end(files[0], study)
    return study, files


def _copy(path: Path, items: list, copies: range) -> None:
    with duckdb.connect(str(path)) as database:
        new_items = [(items[i].item_id, k, items[k * N_RUN + i].item_id) for k in copies for i in range(N_RUN)]
        new_calls = list(_calls(database, copies))
        variants = database.execute("SELECT variant_id FROM variants").fetchall()
        new_variants = [(old, k, digest(old, k)) for k in copies for (old,) in variants]
        for name, new in (("item", new_items), ("call", [one[:3] for one in new_calls]), ("variant", new_variants)):
            old, k, ids = zip(*new, strict=True)
            _table(database, f"new_{name}", pa.table({"old": old, "k": k, "new": ids}))
        _table(database, "requests", pa.table({"id": [one[2] for one in new_calls], "asked": [one[3] for one in new_calls]}))
        _insert(database, "items", ("item_id",), "question || ' (' || copies.k || ')' AS question")
        _insert(database, "completions", ("call_id",), "(SELECT asked FROM requests WHERE id = call_id.new) AS request")
        for table, names in _COPIED.items():
            _insert(database, table, names)


def _calls(database: duckdb.DuckDBPyConnection, copies: range):
    """(call, copy, the copy's id, its request): an id is the hash of what is asked, so each copy asks in words of its own."""
    for old, model, revision, request, sample, parent_id in database.execute(
        "SELECT call_id, model, revision, request::VARCHAR, sample, parent_id FROM completions"
    ).fetchall():
        base = json.loads(request)
        for k in copies:
            asked = base | {"prompt": f"{base['prompt']} ({k})"}
            yield old, k, digest(model, revision, asked, sample, parent_id), json.dumps(asked)


def _table(database: duckdb.DuckDBPyConnection, name: str, content: pa.Table) -> None:
    database.register("incoming", content)
    database.execute(f"CREATE TEMP TABLE {name} AS FROM incoming")
    database.unregister("incoming")


def _insert(database: duckdb.DuckDBPyConnection, table: str, names: tuple[str, ...], change: str = "") -> None:
    kinds = {name: name.removesuffix("_id") for name in names}
    joins = " ".join(
        f"JOIN new_{kind} AS {name} ON {name}.old = t.{name} AND {name}.k = copies.k" for name, kind in kinds.items()
    )
    changes = ", ".join([*(f"{name}.new AS {name}" for name in names), *filter(None, [change])])
    database.execute(
        f"INSERT INTO {table} SELECT t.* REPLACE ({changes}) FROM {table} t, (SELECT DISTINCT k FROM new_item) copies {joins}"
    )


def _end(path: Path, study: Study) -> None:
    """What a run of the whole would have stored at its end."""
    store = Store.open(path)
    inputs, cards = plan_inputs(study, store), model_cards()
    connection = store.own_cursor()
    of_study = runner.study_hash(study, [open_backend(MODEL, cards)])
    hashes = [(one.item.item_id, runner.item_hash(of_study, one, MODEL)) for one in plan_of(inputs).items]
    incoming = pa.table({"item_id": [one for one, _ in hashes], "hash": [one for _, one in hashes]})
    connection.register("incoming", incoming)
    connection.execute("UPDATE item_runs SET plan_hash = hash FROM incoming i WHERE i.item_id = item_runs.item_id")
    whole = ItemRuns(inputs, cards, store, is_whole=True)
    end = rows.study_row(study, "done", "copied", n_calls=len(hashes) * A_CALLS, plan_hash=whole._whole_hash(len(hashes)))
    store.writer.add("studies", [end]).result(60)
    assert ItemRuns(inputs, cards, store, is_whole=True).stored_end() is not None
    connection.close()
    store.close()
