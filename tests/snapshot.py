"""Everything that Flipscope says of the demo studies, as text files: `python -m tests.snapshot FOLDER`, before a change and after it;
`diff -r` then shows every difference.

The four studies of a first start run on the pocket model, a log and a table of outputs are imported. Stored are: the rows of every
table of the database; what every command prints, with its exit code and its help; the files that reports, exports, datasets and
variants consist of; and everything that every page sends to the browser, each of its parts and modes opened. What differs from run
to run (moments, durations, temporary paths) is masked.
"""

import argparse
import base64
import contextlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HOME = Path(tempfile.mkdtemp(prefix="flipscope-snapshot-"))
os.environ |= {
    "FLIPSCOPE_HOME": str(HOME / "home"),
    "FLIPSCOPE_DB": str(HOME / "flips.duckdb"),
    "FLIPSCOPE_FOLDERS": str(HOME),
    "COLUMNS": "120",  # the width of help texts
}

import flipcore  # noqa: E402, F401 -- after its folders are named; before scipy, which then keeps to one thread

MASKS = (
    (re.compile(re.escape(str(HOME))), "HOME"),
    (re.compile(re.escape(str(ROOT))), "ROOT"),
    (re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([.,]\d+)?( UTC|[+-]\d\d:?\d\d|Z)?"), "MOMENT"),
    (re.compile(r"\b(today|yesterday|just now|\d+ (seconds?|minutes?|hours?) ago)\b"), "AGO"),
    (re.compile(r'(?<="retrieved_timestamp": ")[0-9.]+'), "MOMENT"),
    (re.compile(r"\$\$(ID|WIDGET)-[0-9a-f]+"), r"$$\1-HASH"),
)
NOT_SAID = ("js_content", "css_content", "html_content", "stack_trace", "deferred_file_id")  # files, and names of one run
MAX_LOOKS = 60  # at a page that computes, one a second
PARTS = 12  # of a page: choices that a segmented control offers
COMMANDS = (
    "demo run models stats report publish match import audit reread variants plugins access merge export archive restore"
).split()


def masked(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, word in MASKS:
        text = pattern.sub(word, text)
    return text


def keep(path: Path, text: str) -> None:
    """Writes the masked text, markup and long JSON with a line an element, so that a difference is one line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".html":
        text = text.replace(">", ">\n").replace("},", "},\n")
    path.write_text(masked(text), encoding="utf-8")


def ran(*words: object) -> str:
    """What a command prints and how it ends."""
    from flipcore.__main__ import main

    out, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        try:
            code = main([str(word) for word in words])
        except SystemExit as ended:
            code = ended.code
    return f"{out.getvalue()}\n--- told\n{told.getvalue().replace(chr(13), chr(10))}\n--- exit {code}\n"


def fill() -> list[str]:
    """Runs the demo studies and imports a log and a table; the studies' ids."""
    from flipcore.runs import demo, runner
    from flipcore.store.connection import Store
    from flipcore.store.queries import studies
    from tests.datasets.recorded import harness_files

    store = Store.open()
    demo.fill_store(store)
    demo.fill_answers(store)
    for study in demo.demo_studies():
        runner.run(study, store)
    store.close()
    for model, right in (("m-1", 4), ("m-2", 5)):
        (HOME / "logs" / model).mkdir(parents=True)
        harness_files.lm_eval(HOME / "logs" / model, model, n=6, n_right=right)
    rows = [
        {"question": f"What is {k} + {k}?", "answer": str(2 * k), "axis": axis, "model": model, "response": f"#### {2 * k + wrong}"}
        for k in range(12) for model in ("a", "b") for axis in ("identity", "typos")
        for wrong in [int(axis == "typos" and k % 4 == 0)]
    ]  # fmt: skip
    (HOME / "table.jsonl").write_text("\n".join(map(json.dumps, rows)))
    os.chdir(HOME)
    keep(OUT / "commands" / "import_log.txt", ran("import", "logs", "--name", "A log"))
    keep(OUT / "commands" / "import_table_dry.txt", ran("import", "table.jsonl", "--name", "A table", "--dry-run"))
    keep(OUT / "commands" / "import_table.txt", ran("import", "table.jsonl", "--name", "A table"))
    store = Store.open()
    ids = list(studies.studies(store).sort_values("name")["study_id"])
    store.close()
    return ids


def tables(_: list[str]) -> None:
    """The rows of every table, in the order of their texts; what measures time is masked."""
    import duckdb

    with duckdb.connect(os.environ["FLIPSCOPE_DB"], read_only=True) as base:
        for schema, name in base.execute(
            "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
        ).fetchall():
            found = base.execute(f'SELECT CAST(COLUMNS(*) AS VARCHAR) FROM "{schema}"."{name}"')
            columns = [column[0] for column in found.description]
            timed = [i for i, column in enumerate(columns) if re.search("latency|seconds|duration|_ms$|_s$", column)]
            lines = [_row(row, timed) for row in found.fetchall()]
            keep(OUT / "tables" / f"{schema}.{name}.txt", "\n".join([str(columns), *sorted(map(masked, lines))]))


def _row(row: tuple[str | None, ...], timed: list[int]) -> str:
    return " | ".join("TIMED" if i in timed and cell is not None else str(cell) for i, cell in enumerate(row))


def commands(ids: list[str]) -> None:
    """What every command says of every study, and the files that it writes."""
    for name in COMMANDS:
        keep(OUT / "help" / f"{name}.txt", ran(name, "--help"))
    keep(OUT / "help" / "all.txt", ran("--help"))
    for name, words in {
        "models": ["models"],
        "plugins": ["plugins", "--all"],
        "plugin_tables": ["plugins", "--tables"],
        "no_such_study": ["stats", "none"],
        "no_such_file": ["import", "none.jsonl"],
        "no_such_toml": ["run", "none.toml"],
        "access": ["access", "list"],
        "merge_nothing": ["merge", "none.duckdb"],
    }.items():
        keep(OUT / "commands" / f"{name}.txt", ran(*words))
    for study in ids:
        place = OUT / "commands" / study
        for name in ("stats", "audit", "match"):
            keep(place / f"{name}.txt", ran(name, study))
        keep(place / "stats.json", ran("stats", study, "--json"))
        keep(place / "stats_first_token.json", ran("stats", study, "--json", "--reference", "first_token"))
        keep(place / "judge_price.txt", ran("reread", study, "--judge", "simulated-brittle", "--price"))
        keep(place / "archive_check.txt", ran("archive", study, "--check"))
        folder = HOME / "out" / study
        folder.mkdir(parents=True)
        keep(place / "report.txt", ran("report", study, "--out", folder / "report.html"))
        keep(place / "publish.txt", ran("publish", study, "--folder", folder / "dataset"))
        for form in ("csv", "parquet", "every-eval-ever"):
            keep(place / f"export_{form}.txt", ran("export", study, "--format", form, "--folder", folder / form))
        for harness in ("inspect", "lm-eval", "jsonl"):
            keep(place / f"variants_{harness}.txt", ran("variants", study, "--for", harness, "--folder", folder / harness))
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                keep(OUT / "files" / study / path.relative_to(folder), _as_text(path))


def _as_text(path: Path) -> str:
    import pandas as pd

    if path.suffix in (".parquet", ".csv"):
        frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, dtype=str)
        timed = [name for name in frame if re.search("latency|seconds|duration|_ms$|_s$", str(name))]
        return frame.assign(**dict.fromkeys(timed, "TIMED")).to_csv(index=False)
    return path.read_bytes().decode("utf-8", "backslashreplace")


def changing_commands(ids: list[str]) -> None:
    """What commands say that change what is stored, last."""
    for study in ids:
        place = OUT / "commands" / study
        keep(place / "reread.txt", ran("reread", study, "--extractor", "pattern", "--set", r"expression=(\d+)"))
        keep(place / "archive.txt", ran("archive", study))
        keep(place / "archive_check_after.txt", ran("archive", study, "--check"))
        keep(place / "stats_after.txt", ran("stats", study))
        keep(place / "restore.txt", ran("restore", study))
    keep(OUT / "commands" / "access_status.txt", ran("access", "status"))
    keep(OUT / "commands" / "demo_again.txt", ran("demo"))
    keep(OUT / "commands" / "models_add.txt", ran("models", "add", "own", "--preset", "vllm", "--model", "m"))
    keep(OUT / "commands" / "models_again.txt", ran("models"))


def pages(ids: list[str]) -> None:
    """What every page sends to the browser for every study, its parts and modes opened one by one."""
    from flipcore.runs import demo
    from tests.pages.opening import STUDIES, clear_caches, few_permutations, opened

    places = sorted(path.parent.name for path in (ROOT / "pages").glob("*/page.py"))
    of_study = [name for name in places if name not in ("studies", "new_study", "models", "glossary", "access", "survey")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("flipcore.runs.background.Registry.watch_inbox", lambda self: None)
        patch.setattr("flipcore.runs.background.Registry.start", lambda self, study: None)
        patch.setattr(demo, "fill_store", lambda store: None)
        few_permutations(patch)
        clear_caches()
        for name in places:
            links = [{"study": one, "sets": f"study:{one}"} for one in ids] if name in of_study else [{}]
            for link in links:
                page = STUDIES if name == "studies" else f"{name}/page.py"
                app = opened(page, **link)
                base = OUT / "pages" / name / link.get("study", "page")
                keep(base.with_suffix(".txt"), _sent(app))
                for key, choice in _choices(app):
                    app = opened(page, **link)
                    if not (control := app.segmented_control(key=key)).disabled:
                        control.set_value(choice).run()
                        keep(base / f"{key} {choice}.txt".replace("/", "-"), _sent(app))
        clear_caches()


def _choices(app) -> list[tuple[str, str]]:
    return [
        (control.key, choice)
        for control in app.segmented_control
        if control.key and not control.disabled and len(control.options) <= PARTS
        for choice in control.options
        if choice != control.value
    ]


def _sent(app) -> str:
    """Every block of the page in its order: what it is and all that it holds, once nothing of it is still being computed."""
    for _ in range(MAX_LOOKS):
        if "s so far" not in "\n".join(_lines(app._tree)):
            break
        time.sleep(1)
        app.run()
    return "\n".join(_lines(app._tree)) + "".join(f"\nEXCEPTION {one.value}" for one in app.exception)


def _lines(block, depth: int = 0) -> Iterator[str]:
    proto = getattr(block, "proto", None)
    yield f"{'  ' * depth}[{getattr(block, 'type', '?')}]"
    if proto is not None:
        try:
            yield from _fields(proto, depth + 1)
        except AttributeError:
            yield f"{'  ' * (depth + 1)}{proto}"
    for child in getattr(block, "children", {}).values():
        yield from _lines(child, depth + 1)


def _fields(proto, depth: int) -> Iterator[str]:
    for field, value in proto.ListFields():
        if field.name in NOT_SAID:
            continue
        repeated = not isinstance(value, str | bytes | int | float | bool) and not hasattr(value, "ListFields")
        for one in value if repeated and not hasattr(value, "items") else [value]:
            lead = f"{'  ' * depth}{field.name}: "
            if hasattr(one, "ListFields"):
                yield lead
                yield from _fields(one, depth + 1)
            else:
                yield lead + _plain(one)


def _plain(value: object) -> str:
    if isinstance(value, bytes):
        return _arrow(value)
    text = str(dict(value)) if hasattr(value, "items") else str(value)
    if text[:1] in "[{":
        with contextlib.suppress(ValueError):
            return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    return text


def _arrow(value: bytes) -> str:
    import pyarrow as pa

    try:
        return "\n" + pa.ipc.open_stream(value).read_all().to_pandas().to_csv()
    except (pa.ArrowInvalid, OSError):
        return base64.b64encode(value).decode()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.snapshot", description="What Flipscope says of the demo studies.")
    parser.add_argument("folder", type=Path, help="a new folder, or an empty one")
    OUT = parser.parse_args().folder.resolve()
    if OUT.exists() and any(OUT.iterdir()):
        sys.exit(f"{OUT} is not empty. Choose another folder.")
    warnings.simplefilter("ignore")
    begun = time.monotonic()
    study_ids = fill()
    for work in (tables, commands, pages, changing_commands):
        work(study_ids)
        n_files = sum(one.is_file() for one in OUT.rglob("*"))
        print(f"{work.__name__}: after {time.monotonic() - begun:.0f} s, {n_files:,} files", flush=True)
    os.chdir(ROOT)
    shutil.rmtree(HOME)
