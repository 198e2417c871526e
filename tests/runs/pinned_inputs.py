"""Inputs of pinned cases of imports and runs: files as texts, and what a database then holds."""

import contextlib
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from flipcore.core.records import Call, Completion, Request
from flipcore.models.cards import ModelCard
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import scores_read, store_logs, study_of
from flipcore.runs.log_survey import ReadScores, Survey, first_rows, survey
from flipcore.runs.progress import Pace, Progress, Speed
from flipcore.store.connection import Store
from tests.pinned import plain
from tests.stores import empty_store

# What a moment or a machine decides.
LEFT_OUT = ("created_at", "started_at", "ended_at", "code_version", "latency_s", "since", "act_id")
TABLES = (
    "studies study_items items variants study_variants completions readouts readout_sources item_runs purchases paraphrases"
).split()


@contextlib.contextmanager
def folder_of(files: Mapping[str, Any]) -> Iterator[Path]:
    """Write the files: a text as it is, a list as lines of JSON, a dictionary of members as a zip."""
    with tempfile.TemporaryDirectory(prefix="pinned-") as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIPSCOPE_FOLDERS", os.pathsep.join([tempfile.gettempdir()]))
        folder = Path(name)
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                (folder / path).write_text(content, encoding="utf-8")
            elif isinstance(content, Mapping) and path.endswith(".eval"):
                with zipfile.ZipFile(folder / path, "w") as packed:
                    for member, value in content.items():
                        # with its moment as a zip has it by default: the revision is a hash of the file
                        packed.writestr(zipfile.ZipInfo(member), json.dumps(value))
            elif isinstance(content, Mapping):
                (folder / path).write_text(json.dumps(content), encoding="utf-8")
            else:
                lines = "".join(json.dumps(row) + "\n" for row in content)
                (folder / path).write_text(lines, encoding="utf-8")
        yield folder


def without_folder(value: Any, folder: Path) -> Any:
    """Return the value as JSON, without the name of the folder."""
    return json.loads(json.dumps(plain(value)).replace(str(folder), "FOLDER"))


def surveyed(files: Mapping[str, Any], corrections: Sequence[str] = (), *, is_open: bool = False) -> dict[str, Any]:
    """Return what a survey of the files counts, and the study that they would be."""
    with folder_of(files) as folder:
        try:
            read, found = _survey(folder, corrections, is_open=is_open)
            result = {
                "sentences": found.sentences(),
                "name": found.name,
                "rows": found.n_rows,
                "refusals": found.refusals,
                "models": found.models,
                "readouts": found.readouts,
                "axes": found.axes,
                "samples": found.n_samples,
                "facts": found.facts,
                "reported": found.reported,
                "questions": [question.about for question in found.questions],
                "is_plain": found.is_plain,
                "is_whole": read.is_whole,
                "scores": _score_table(scores_read(found, read)),
                "previews": first_rows([folder], found.corrections, 2),
                "study": study_of(found).study_id,
                "scorers": study_of(found).scorers,
            }
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        return without_folder(result, folder)


def _survey(folder: Path, words: Sequence[str], *, is_open: bool) -> tuple[ReadScores, Survey]:
    of_tables = any(word.partition("=")[0] in ("item", "score", "question") for word in words)
    corrections = corrections_of(words, of_tables=of_tables)
    read = ReadScores(corrections)
    on_read = (lambda _: None) if is_open else None
    return read, survey([folder], corrections, scores=read, on_read=on_read)


def _score_table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [" ".join(str(value) for value in row.values()) for row in rows]


def imported(
    files: Mapping[str, Any], corrections: Sequence[str] = (), tables: Sequence[str] = (), *, times: int = 1
) -> dict[str, Any]:
    """Import the files, and return the rows of some tables of the database."""
    with folder_of(files) as folder:
        store = empty_store(folder.parent / f"{folder.name}.duckdb")
        try:
            for _ in range(times):
                _, found = _survey(folder, corrections, is_open=True)
                store_logs(found, store)
            result: Any = rows_of(store, tables or TABLES)
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        finally:
            store.close()
            (folder.parent / f"{folder.name}.duckdb").unlink()
        return without_folder(result, folder)


def rows_of(store: Store, tables: Sequence[str] = TABLES) -> dict[str, Any]:
    """Return the rows of the tables, a text per row; NULL is "-", and an empty text is ""."""
    rows: dict[str, Any] = {}
    for table in tables:
        frame = store.frame(f"SELECT * FROM {table}")
        frame = frame[[name for name in frame.columns if name not in LEFT_OUT]]
        lines = []
        for row in frame.astype(object).where(frame.notna(), None).to_dict("records"):
            lines.append(" | ".join("-" if value is None else str(plain(value)) for value in row.values()))
        rows[table] = sorted(lines)
    return rows


def call(prompt: str = "What?", system: str = "", continuation: str = "", max_tokens: int = 16) -> Call:
    """Return a call to a model."""
    request = Request("generate", prompt, system=system, continuation=continuation, max_tokens=max_tokens)
    return Call("c", "m", request)


def calls(*parts: Mapping[str, Any]) -> list[Call]:
    """Return several calls."""
    return [call(**part) for part in parts]


def card(**fields: Any) -> ModelCard:
    """Return the card of a model."""
    return ModelCard(**({"name": "m", "backend": "openai", "model": "m"} | fields))


def completions(*parts: Mapping[str, Any]) -> list[Completion]:
    """Return completions with these counts."""
    return [Completion("c", "ok", **part) for part in parts]


def rates(*counts: Sequence[float]) -> list[float]:
    """Return the speed after each count of answered calls, at its second."""
    speed = Speed()
    return [speed.update(seconds, int(n)) for seconds, n in counts]


def paces(n_calls: int, *counts: Sequence[float]) -> list[Any]:
    """Return rate and time left after (seconds, calls done, calls reused)."""
    pace, results = Pace(), []
    for seconds, n_done, n_reused in counts:
        progress = Progress(n_calls=n_calls, n_done=int(n_done), n_reused=int(n_reused))
        pace.measure(progress, seconds)
        results.append([progress.rate_per_s, progress.eta_s])
    return results
