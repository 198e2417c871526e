"""Databases of pinned cases: filled step by step, and what every query then answers."""

import contextlib
import datetime as dt
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from flipcore.annotation.judge_labels import label_row
from flipcore.annotation.key_review import key_verdict_row
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.runs.demo import fill_store
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store import archiving, export, merge, packing, rows, uploads
from flipcore.store.connection import Store
from flipcore.store.judgements import KEY_VERDICTS, OUTPUT_LABELS, PAIR_VERDICTS
from flipcore.store.queries import budgets, decisions, holdout, judgements, locks, review, studies, vectors
from flipcore.store.queries.readout_rows import as_texts
from flipcore.store.schema import tables
from tests.pinned import KEPT, find, plain
from tests.stores import empty_store

READER = "tests.annotation.judging:reader"
WHOLE = Study(
    "whole",
    (ItemSource("flipscope_choice", role="target", n=4), ItemSource("flipscope_problems", role="retro", n=3)),
    (Part("identity"), Part("option_order", {"n": 2}), Part("paraphrase", {"unreviewed": True}), Part("numeric_resample")),
    (Part("regex"), Part("first_token"), Part("judge")),
    (ModelUse("simulated-noisy", n_samples=2),),
    judge=READER,
    confirmatory_share=0.4,
    budget_usd=2.0,
)
TINY = Study(
    "tiny",
    (ItemSource("flipscope_choice", n=3), ItemSource("flipscope_problems", role="control", n=2)),
    (Part("identity"), Part("option_order", {"n": 2})),
    (Part("regex"), Part("answer_loss")),
    (ModelUse("simulated-noisy", n_samples=2), ModelUse("simulated-brittle")),
)
STUDIES = {"whole": WHOLE, "tiny": TINY}
LOGS = {
    "answers.csv": "id,question,model,sample,target,output,score\n"
    + "".join(
        f"{i},How many is {i}?,m-{m},{s},{i},It is {i + (i + s) % 2}.,{(i + s + 1) % 2}\n"
        for m in (1, 2)
        for i in range(4)
        for s in (0, 1)
    ),
    "grades.csv": "id,prompt,output,grade\n1,Tell me.,Once.,4\n2,Tell more.,,2\n3,Say it.,I cannot help with that.,5\n",
}
# what a moment, a machine or the code decides
LEFT_OUT = (
    "plan_hash code_version latency_s since act_id decision_id budget_id question_id event_id "
    "version_id chain created opened toml"
).split()
FEW_ROWS = 8
MANY_LETTERS = 120
MOMENT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def fill(store: Store, steps: Sequence[Sequence[Any]], folder: Path) -> list[Any]:
    """Take the steps, each a name and its arguments; return what they gave."""
    return [plain(STEPS[name](store, folder, *arguments)) for name, *arguments in steps]


def _run(store: Store, folder: Path, name: str) -> Any:
    return runner.run(STUDIES[name], store).state


def _import(store: Store, folder: Path, name: str, *words: str) -> Any:
    path = folder / "logs" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(LOGS[name], encoding="utf-8")
    return store_logs(survey([path], corrections_of(words), on_read=lambda _: None), store)


def _judge(store: Store, folder: Path) -> Any:
    """Store judgements of three people, one of them taken back."""
    pairs = review.pairs(store)[:6]
    answers = {"meaning": "yes", "difficulty": "yes", "solution_path": "yes"}
    verdicts = []
    for number, pair in enumerate(pairs):
        moment = MOMENT + dt.timedelta(minutes=number)
        verdicts.append(verdict_row(pair, "Ada", answers, "a note", created_at=moment))
        if number % 2:
            later = moment + dt.timedelta(seconds=1)
            verdicts.append(verdict_row(pair, "Bea", answers | {"meaning": "no"}, created_at=later))
    judgements.keep(store, PAIR_VERDICTS, verdicts)
    moment = MOMENT + dt.timedelta(hours=1)
    judgements.keep(store, PAIR_VERDICTS, [PAIR_VERDICTS.undo(verdicts[0], created_at=moment)])
    items = holdout.role_items(store, WHOLE.study_id, "target")[:2]
    judgements.keep(store, KEY_VERDICTS, [key_verdict_row(item, "Ada", "ambiguous") for item in items])
    return len(verdicts)


def _label(store: Store, folder: Path) -> Any:
    sql = """
    SELECT DISTINCT s.call_id, s.item_id FROM readout_sources s JOIN study_items i USING (study_id, item_id)
    WHERE extractor = 'regex' AND NOT i.confirmatory AND i.role = 'retro' ORDER BY ALL LIMIT 4
    """
    labels = []
    for call_id, item_id in store.rows(sql):
        text = {"call_id": call_id, "item_id": item_id, "kind": "number", "options": (), "text": "5"}
        labels.append(label_row(text, "Ada", "5"))
    judgements.keep(store, OUTPUT_LABELS, labels)
    return len(labels)


def _decide(store: Store, folder: Path) -> Any:
    study_id = WHOLE.study_id
    for sentence in ("First so.", "Then otherwise."):
        decisions.keep_decision(
            store,
            study_id,
            "decomposition",
            "Explore",
            sentence,
            {"level": 0.9},
            "Ada",
            query="study=x&part=y",
            evidence={"calls": 2},
            resolution="keep  it",
        )
    decisions.keep_question(store, study_id, "score", "Why is that?", "Bea")
    question = decisions.open_questions(store)["question_id"][0]
    decisions.keep_question(store, study_id, "score", "Because.", "Ada", settles=question)
    decisions.keep_question(store, study_id, "score", "And this?", "Ada")
    return None


def _lock(store: Store, folder: Path) -> Any:
    locks.keep_lock(store, WHOLE.study_id, "decomposition", {"level": 0.95}, "Ada")


def _spend(store: Store, folder: Path) -> Any:
    budgets.set_budget(store, WHOLE.study_id, 3.5)
    purchases = []
    for number, (cost, bound) in enumerate(((0.25, 0.3), (0.5, 0.4), (0.125, 0.125))):
        row = {"purchase_id": str(number), "study_id": WHOLE.study_id, "call_id": f"c{number}"}
        purchases.append(row | {"cost_usd": cost, "bound_usd": bound, "created_at": rows.now()})
    store.writer.add("purchases", purchases).result(30)


def _merge(store: Store, folder: Path, *steps: Sequence[Any]) -> Any:
    path = Path(tempfile.mkdtemp(dir=folder)) / "other.duckdb"
    theirs = empty_store(path)
    with_one_thread(theirs)
    fill(theirs, steps, folder)
    theirs.close()
    try:
        merged = merge.merge([path], store)
        return [merged.sentences(), merged.added, merged.duplicates, merged.skipped]
    finally:
        shutil.rmtree(path.parent)


def _export(store: Store, folder: Path, name: str, form: str) -> Any:
    paths = export.export(store, STUDIES[name].study_id, folder / "export", form)
    said = {}
    for path in paths:
        frame = pd.read_csv(path) if form == "csv" else pd.read_parquet(path)
        said[path.name] = shown(frame)
    return said


def _archive(store: Store, folder: Path, action: str, name: str = "tiny") -> Any:
    archive = getattr(archiving, action)(store, STUDIES[name].study_id)
    return {"tables": sorted(archive.files), "sentence": archive.sentence().replace(str(folder), "FOLDER")}


def _uploads(store: Store, folder: Path, *files: Sequence[str]) -> Any:
    folder_of_files, paths = uploads.keep_files([(name, text.encode()) for name, text in files])
    single = [uploads.keep_upload(name, text.encode()).name for name, text in files]
    return [folder_of_files.name, [path.relative_to(folder_of_files).as_posix() for path in paths], single]


def _aside(store: Store, folder: Path, share: float) -> Any:
    ids = [item for (item,) in store.rows("SELECT item_id FROM items ORDER BY item_id")]
    return holdout.keep_aside(store, "sets", ids[:6], ids[6:10], share)


def _delete(store: Store, folder: Path, name: str) -> Any:
    studies.delete_study(store, STUDIES[name].study_id)


def _fail(store: Store, folder: Path, n: int) -> Any:
    """Have the first calls fail, as a server's would."""
    sql = """
    UPDATE completions SET status = 'failed', text = '', error = 'gone'
    WHERE call_id IN (SELECT call_id FROM completions ORDER BY call_id LIMIT $n)
    """

    def mark_as_failed(connection: Any) -> None:
        connection.execute(sql, {"n": n})

    store.writer.transact(mark_as_failed, changes=None).result(30)


def _plugins(store: Store, folder: Path) -> Any:
    """Have a study name a plug-in, and another one none, as earlier releases did."""
    named = [{"kind": "axis", "name": "shout", "package": "flip-shout", "version": "1.0"}]
    sql = "UPDATE studies SET plugins = $plugins WHERE name = $name"

    def name_them(connection: Any) -> None:
        connection.execute(sql, {"plugins": json.dumps(named), "name": "tiny"})
        connection.execute(sql, {"plugins": None, "name": "whole"})

    store.writer.transact(name_them, changes=None).result(30)


def _vectors(store: Store, folder: Path) -> Any:
    vectors.keep(store, "words", "1", {"a": [0.5, 1.0], "b": [0.0, 2.0]})
    return vectors.vectors(store, "words", "1", ["a", "b", "c"])


def _problems(store: Store, folder: Path) -> Any:
    sentences = [sentence.replace(str(folder), "FOLDER") for sentence in archiving.problems(store)]
    return [sentences, archiving.no_problem_sentence(store)]


def _table(store: Store, name: str) -> Any:
    columns = ", ".join(column for column in tables()[name].names if not _is_left_out(column))
    return shown(store.frame(f"SELECT {columns} FROM {name} ORDER BY ALL"))


STEPS: dict[str, Callable[..., Any]] = {
    "run": _run,
    "import": _import,
    "demo": lambda store, folder: fill_store(store),
    "judge": _judge,
    "label": _label,
    "decide": _decide,
    "lock": _lock,
    "spend": _spend,
    "merge": _merge,
    "export": _export,
    "archive": _archive,
    "uploads": _uploads,
    "aside": _aside,
    "delete": _delete,
    "fail": _fail,
    "plugins": _plugins,
    "vectors": _vectors,
    "problems": _problems,
    "pack": lambda store, folder, name: packing.pack(store, STUDIES[name].study_id),
    "back up": lambda store, folder: archiving.back_up(store).suffix,
    "tables": lambda store, folder, *names: {name: _table(store, name) for name in names},
    "ask": lambda store, folder, name, *arguments: answer(store, name, *arguments),
    "ask with": lambda store, folder, name, arguments, options: answer(store, name, *arguments, **options),
}


def with_one_thread(store: Store) -> None:
    """Have the database work with one thread: rows without an order then come in one order."""
    with store.own_cursor() as cursor:
        cursor.execute("SET threads = 1")


@contextlib.contextmanager
def opened(steps: Sequence[Sequence[Any]]) -> Iterator[tuple[Store, Path]]:
    """Open a copy of the database that these steps fill, built once per process."""
    key = json.dumps(steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIPSCOPE_FOLDERS", os.pathsep.join([tempfile.gettempdir(), str(Path(__file__).parents[2])]))
        patch.setenv("FLIPSCOPE_CALLABLES", "tests.annotation.judging")
        folder = Path(tempfile.mkdtemp(prefix="pinned-"))
        patch.setenv("FLIPSCOPE_DB", str(folder / "flips.duckdb"))
        try:
            if key not in KEPT:
                store = empty_store(folder / "flips.duckdb")
                with_one_thread(store)
                try:
                    fill(store, steps, folder)
                finally:
                    store.close()
                KEPT[key] = (folder / "flips.duckdb").read_bytes()
            (folder / "flips.duckdb").write_bytes(KEPT[key])
            store = Store.open(folder / "flips.duckdb")
            with_one_thread(store)
            try:
                yield store, folder
            finally:
                store.close()
        finally:
            shutil.rmtree(folder)


def after(first: Sequence[Sequence[Any]], then: Sequence[Sequence[Any]]) -> Any:
    """Return what further steps give after the first ones."""
    with opened(first) as (store, folder):
        results = []
        for step in then:
            try:
                results.append(fill(store, [step], folder)[0])
            except BadInput as error:
                results.append({"error": str(error).replace(str(folder), "FOLDER")})
        return results


def asked(first: Sequence[Sequence[Any]], query: str, *arguments: Any, **options: Any) -> Any:
    """Return what a query answers after these steps."""
    with opened(first) as (store, _):
        return answer(store, query, *arguments, **options)


def answer(store: Store, query: str, *arguments: Any, **options: Any) -> Any:
    """Return a query's answer; WHOLE and TINY stand for the ids of the studies."""
    filled = [_argument(store, value) for value in arguments]
    named = {name: _argument(store, value) for name, value in options.items()}
    name = query if ":" in query else f"flipcore.store.queries.{query.replace('.', ':')}"
    result = find(name)(store, *filled, **named)
    # its rows come in any order
    return shown(result.sort_values(list(result.columns)) if query == "audit.calls" else result)


def _argument(store: Store, value: Any) -> Any:
    """Return an argument: "WHOLE" is a study's id, "SELECT …" the first column of its rows."""
    if isinstance(value, str) and value.upper() == value and value.lower() in STUDIES:
        return STUDIES[value.lower()].study_id
    if value == "STUDY":
        return WHOLE
    if isinstance(value, str) and value.startswith("SELECT "):
        return [row[0] for row in store.rows(value)]
    if isinstance(value, str) and value.startswith("FIRST "):
        return store.rows(f"SELECT {value.removeprefix('FIRST ')}")[0][0]
    if isinstance(value, str) and value.startswith("LOCK OF "):
        return locks.locks(store, STUDIES[value.removeprefix("LOCK OF ").lower()].study_id)[0]
    return list(value) if isinstance(value, tuple) else value


def shown(value: Any) -> Any:
    """Return a result as JSON has it; of many rows the first, and a digest of each column."""
    if isinstance(value, pd.DataFrame):
        frame = as_texts(value) if any(kind == "category" for kind in value.dtypes.astype(str)) else value
        frame = frame[[name for name in frame.columns if not _is_left_out(str(name))]]
        cells = frame.astype(object).where(frame.notna(), None)
        columns = {str(name): [_shortened(plain(cell)) for cell in cells[name]] for name in cells.columns}
        if len(frame) <= FEW_ROWS:
            return columns
        return {name: [*column[:2], len(column), _digest(column)] for name, column in columns.items()}
    if isinstance(value, Mapping):
        return {str(key): shown(part) for key, part in value.items() if not _is_left_out(str(key))}
    if isinstance(value, set | frozenset):
        return shown(sorted(value, key=str))
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        parts = [shown(part) for part in value]
        return parts if len(parts) <= 2 * FEW_ROWS else [*parts[:2], len(parts), _digest(parts)]
    if isinstance(value, Iterator):
        return shown(list(value))
    return _shortened(_without_moments(plain(value)))


def _shortened(value: Any) -> Any:
    """Return a long text as its beginning and a digest."""
    if isinstance(value, str) and len(value) > MANY_LETTERS:
        return f"{value[: MANY_LETTERS // 2]} … {_digest(value)}"
    if isinstance(value, dict):
        return {key: _shortened(part) for key, part in value.items()}
    return [_shortened(part) for part in value] if isinstance(value, list) else value


def _without_moments(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_moments(part) for key, part in value.items() if not _is_left_out(key)}
    return [_without_moments(part) for part in value] if isinstance(value, list) else value


def _is_left_out(name: str) -> bool:
    return name in LEFT_OUT or name.endswith("_at")


def _digest(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, default=str).encode()).hexdigest()[:12]
