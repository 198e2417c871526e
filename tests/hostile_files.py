"""Malformed studies, malformed files and hostile databases: `python -m tests.hostile_files` writes hostile_files.md.

Each case is one seeded mutation. It must end in a result or in a sentence (FlipscopeError); anything else is counted as a fault.
"""

import io
import json
import os
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet

from flipcore.core.errors import FlipscopeError
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load_report
from flipcore.runs import runner
from flipcore.runs.plan import plan
from flipcore.store.connection import Store
from flipcore.store.merge import merge
from flipcore.store.schema import tables
from tests import hostile
from tests.datasets.recorded.tables import imported

TABLE = Path(__file__).with_name("hostile_files.md")
COUNTS = {"studies": 200, "files": 200, "databases": 60}
STUDY = Study(
    "s",
    (ItemSource("flipscope_choice", n=2, where={}),),
    (Part("option_order", {"n": 3}), Part("identity")),
    (Part("regex"), Part("first_token", {"top_k": 5})),
    (ModelUse("simulated-clean"),),
)
_ODD = ("nan", "inf", "-1", "1e400", "9" * 5_000, '""', "[]", "{}", "true", "1979-05-27", "[[[[[[1]]]]]]", "0x1F", '"\\u0000"')
_KEYS = tuple("n seed temperature top_p budget_usd confirmatory_share name params where path categories judge".split())


def outcome(way: Callable[[], object]) -> str:
    """ "result", "sentence", or the fault."""
    try:
        way()
    except FlipscopeError as error:
        said = str(error)
        return "sentence" if 10 < len(said) < 5_000 and "Traceback" not in said else f"a poor sentence: {said[:80]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:80]}"
    return "result"


def study_case(seed: int, folder: Path) -> str:
    rng, text = random.Random(seed), STUDY.to_toml()
    kind = seed % 8
    lines = text.split("\n")
    if kind == 0:
        text = text[: rng.randrange(len(text))]
    elif kind == 1:
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(list("[]{}=\"'\n#\x00é💥")) * rng.randint(1, 9) + text[place:]
    elif kind == 2:
        lines.insert(rng.randrange(len(lines)), f"{rng.choice(_KEYS)} = {rng.choice(_ODD)}")
        text = "\n".join(lines)
    elif kind == 3:
        place = rng.choice([i for i, line in enumerate(lines) if "=" in line])
        lines[place] = f"{lines[place].split('=')[0]}= {rng.choice(_ODD)}"
        text = "\n".join(lines)
    elif kind == 4:
        text = text.replace("simulated-clean", rng.choice(["os:system", "builtins:eval", "../x", "", "pocket\\n", ":"]))
    elif kind == 5:
        text = f"x = {'[' * rng.choice([50, 5_000])}{']' * rng.choice([50, 5_000])}\n{text}"
    elif kind == 6:
        text = text.replace("flipscope_choice", rng.choice(["file", "text", "hub", "mmlu", "nothing", "humaneval"]))
        text = text.replace(
            "n = 2", f"n = 2\npath = {json.dumps(rng.choice(['/etc/passwd', '..', '/', '/dev/zero', '~', 'a' * 4_000]))}"
        )
    else:
        text = text * rng.choice([2, 50]) + json.dumps(rng.choice(list(hostile.TEXTS.values()))[:500])
    (folder / "study.toml").write_text(text, encoding="utf-8", errors="replace")
    return outcome(lambda: plan(Study.read(folder / "study.toml")))


def file_case(seed: int, folder: Path) -> str:
    rng = random.Random(seed)
    rows = [
        {"id": i, "question": f"q{i}?", "options": ["a", "b"], "answer": 0, "prompt": f"q{i}", "response": "A"}
        for i in range(8)
    ]
    suffix = rng.choice([".jsonl", ".json", ".csv", ".parquet", ".txt", ".zip", ".xml", ".jsonl.gz"])
    data = _encoded(rows, suffix)
    kind = seed % 6
    if kind == 0:
        data = data[: rng.randrange(len(data))]
    elif kind == 1:
        spoilt = bytearray(data)
        for _ in range(rng.randint(1, 20)):
            spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
        data = bytes(spoilt)
    elif kind == 2:
        data = os.urandom(rng.randint(0, 2_000)) if rng.random() < 0.5 else b"\x00" * 1_000
    elif kind == 3:
        odd = rng.choice(
            [None, [], {}, 1e308, "x" * 100_000, [[[[1]]]], True, "\ud800", list(hostile.TEXTS.values())[seed % 20]]
        )
        key = rng.choice(list(rows[0]))
        data = "\n".join(json.dumps(row | {key: odd}) for row in rows).encode()
    elif kind == 4:
        data = data.decode("latin-1").encode("utf-16")
    else:
        data = b"[" * 100_000 if rng.random() < 0.5 else json.dumps(hostile.rows()[seed % 20], default=str).encode()
    path = folder / f"case{suffix}"
    path.write_bytes(data)
    columns = {"question": "question", "options": "options", "target": "answer", "target_as": "index", "key": "id"}
    ways = [
        lambda: load_report(ItemSource("file", path=str(path), columns=columns)),
        lambda: load_report(ItemSource("file", path=str(path))),
        lambda: load_report(ItemSource("text", path=str(path))),
        lambda: load_report(ItemSource("gsm8k", path=str(path))),
        lambda: imported(str(path), []),
    ]
    return _worst([outcome(way) for way in ways])


def _encoded(rows: list[dict], suffix: str) -> bytes:
    lines = "\n".join(json.dumps(row) for row in rows)
    if suffix == ".parquet":
        sink = io.BytesIO()
        pa.parquet.write_table(pa.Table.from_pylist(rows), sink)
        return sink.getvalue()
    if suffix == ".zip":
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("../../evil.txt", "A sentence that is long enough. " * 100)
            packed.writestr("a.jsonl", lines)
        return sink.getvalue()
    if suffix == ".json":
        return json.dumps(rows).encode()
    if suffix == ".csv":
        return "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]).encode()
    return lines.encode()


_STATEMENTS = (
    "CREATE OR REPLACE VIEW {view} AS SELECT content FROM read_text('{secret}')",
    "CREATE OR REPLACE VIEW {view} AS SELECT * FROM read_csv('{secret}')",
    "CREATE TABLE {view} AS SELECT 1 AS nothing",
    "CREATE TABLE {view} AS SELECT 'x' AS study_id, [1, 2] AS name, NULL AS toml, 'v' AS code_version, 'done' AS state",
    "CREATE TABLE {view}(x INTEGER, y INTEGER GENERATED ALWAYS AS (x + 1))",
    "CREATE MACRO duckdb_columns() AS TABLE SELECT 'x' AS column_name",
    "UPDATE store_info SET value = '-5'",
    "INSERT INTO studies SELECT i, repeat('x', 100000), 'no toml [[', 'v', 'running', '', NULL, now(), NULL, NULL FROM range(50) t(i)",
    "INSERT INTO study_calls SELECT i, 'nothing' FROM range(1000) t(i)",
    "DROP TABLE completions",
)


def database_case(seed: int, folder: Path, store: Store) -> str:
    rng = random.Random(seed)
    path, secret = folder / f"case-{seed}.duckdb", folder / "secret.txt"
    secret.write_text("hunter2", encoding="utf-8")
    Store.open(path).close()
    if seed % 3 == 0:
        data = bytearray(path.read_bytes())
        for _ in range(rng.choice([1, 10, 1_000])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(bytes(data[: rng.randrange(len(data))] if rng.random() < 0.3 else data))
    else:
        view = rng.choice([name for name in tables() if name != "store_info"])
        with duckdb.connect(str(path)) as connection:
            for statement in rng.sample(_STATEMENTS, 2):
                try:
                    if "{view}" in statement:
                        connection.execute(f"DROP TABLE IF EXISTS {view}")
                    connection.execute(statement.format(view=view, secret=secret))
                except duckdb.Error:
                    continue
    made = outcome(lambda: merge([path], store))
    for table in tables():
        for row in store.rows(
            f"SELECT * EXCLUDE ({_times(table)}) FROM {table}" if _times(table) else f"SELECT * FROM {table}"
        ):
            if "hunter2" in str(row):
                return "a secret was read"
    return made


def _times(table: str) -> str:
    return ", ".join(one.name for one in tables()[table].columns if one.kind.startswith("TIMESTAMP"))


def _worst(found: list[str]) -> str:
    return next((one for one in found if one not in ("result", "sentence")), "sentence" if "sentence" in found else "result")


def counted(what: str, seeds) -> tuple[Counter[str], float]:
    """How many cases ended in a result, a sentence, or each fault; seconds."""
    began, found = time.monotonic(), Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if what == "databases":
            store = Store.open(folder / "here.duckdb")
            runner.run(STUDY, store)
            found.update(database_case(seed, folder, store) for seed in seeds)
            again = runner.run(STUDY, store)
            found.update([] if again.state == "done" and again.n_reused == again.n_done else ["the store was harmed"])
            store.close()
        else:
            case = study_case if what == "studies" else file_case
            found.update(case(seed, folder) for seed in seeds)
    return found, time.monotonic() - began


def main() -> None:
    lines = [
        "# Malformed studies, malformed files, hostile databases",
        "",
        "`python -m tests.hostile_files` writes this table: seeded mutations, each of which ends in a result or in a sentence.",
        "",
        "| what | cases | result | sentence | faults |",
        "|---|---|---|---|---|",
    ]
    for what, n in COUNTS.items():
        found, seconds = counted(what, range(n))
        faults = {why: k for why, k in found.items() if why not in ("result", "sentence")}
        lines.append(f"| {what} | {n} | {found['result']} | {found['sentence']} | {faults or 'none'} |")
        print(lines[-1], f"{seconds:.0f} s", flush=True)
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
