"""Inputs of pinned cases of imports and runs: files as texts, and what a database then holds."""

import contextlib
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.records import Call, Completion, Request, digest
from flipcore.core.study import Study
from flipcore.models.cards import ModelCard
from flipcore.runs import asking_again, embargo, plan, rereading, runner
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import scores_read, store_logs, study_of
from flipcore.runs.log_survey import ReadScores, Survey, first_rows, survey
from flipcore.runs.progress import Pace, Progress, Speed
from flipcore.runs.truncation import token_limits_sentence
from flipcore.store.connection import Store
from flipcore.store.schema import tables as all_tables
from tests.pinned import plain
from tests.store.pinned_inputs import shown, with_one_thread
from tests.stores import empty_store

# What a moment or a machine decides.
LEFT_OUT = ("created_at", "started_at", "ended_at", "code_version", "latency_s", "since", "act_id")
MEASURED = ("seconds", "rate_per_s", "eta_s", "latency_s")
TABLES = (
    "studies study_items items variants study_variants completions readouts readout_sources item_runs purchases paraphrases"
).split()


@contextlib.contextmanager
def folder_of(files: Mapping[str, Any]) -> Iterator[Path]:
    """Write the files: a text as it is, a list as lines of JSON, a dictionary of members as a zip."""
    with tempfile.TemporaryDirectory(prefix="pinned-") as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIPSCOPE_FOLDERS", tempfile.gettempdir())
        patch.setenv("FLIPSCOPE_CALLABLES", "tests.annotation.judging")
        folder = Path(name) / "logs"
        folder.mkdir()
        patch.setenv("FLIPSCOPE_DB", str(folder / "flips.duckdb"))
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
            read, logs = _survey(folder, corrections, is_open=is_open)
            result = {
                "sentences": logs.sentences(),
                "name": logs.name,
                "rows": logs.n_rows,
                "refusals": logs.refusals,
                "models": logs.models,
                "readouts": logs.readouts,
                "axes": logs.axes,
                "samples": logs.n_samples,
                "facts": logs.facts,
                "reported": logs.reported,
                "questions": [question.about for question in logs.questions],
                "is_plain": logs.is_plain,
                "is_whole": read.is_whole,
                "scores": _score_table(scores_read(logs, read)),
                "previews": first_rows([folder], logs.corrections, 2),
                "study": study_of(logs).study_id,
                "scorers": study_of(logs).scorers,
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
        with_one_thread(store)
        try:
            for _ in range(times):
                _, logs = _survey(folder, corrections, is_open=True)
                store_logs(logs, store)
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


def planned(toml: str, limit: int | None = None) -> dict[str, Any]:
    """Return a study's plan: its items with the keys of their variants, prompts, notes and cost."""
    with folder_of({}):
        study_plan = plan.plan(Study.from_toml(toml), items_limit=limit)
        items = []
        for item_plan in study_plan.items:
            keys = [f"{variant.axis}/{variant.key}" for variant in item_plan.variants]
            mark = "set aside" if item_plan.confirmatory else ""
            items.append([item_plan.item.item_id, item_plan.role, mark, " ".join(keys)])
        last = study_plan.items[-1].variants[-1]
        return {
            "items": items,
            "prompt": [last.prompt.system, *map(list, last.prompt.parts)],
            "prompts": digest(*(variant.prompt.text for part in study_plan.items for variant in part.variants)),
            "notes": study_plan.notes,
            "warnings": study_plan.warnings,
            "projection": plan.projection(study_plan),
            "limits": token_limits_sentence(study_plan.study),
        }


def ran(toml: str, then: Sequence[Sequence[Any]] = (), tables: Sequence[str] = (), *, limit: int | None = None) -> list[Any]:
    """Run a study, or a pilot of `limit` items, then do the rest; return what each step gave."""
    study = Study.from_toml(toml)
    with folder_of({}) as folder:
        store = empty_store(folder / "flips.duckdb")
        with_one_thread(store)
        try:
            results: list[Any] = []
            for name, *arguments in [["run", limit], *then]:
                try:
                    results.append(_without_moments(STEPS[name](store, study, *arguments)))
                except (BadInput, OverBudget) as error:
                    results.append({"error": str(error)})
            results += [[name, shown(_sorted(store, name))] for name in tables]
        finally:
            store.close()
        return results


def _run(store: Store, study: Study, limit: int | None = None) -> Any:
    progress = runner.run(study, store, items_limit=limit, record=limit is None)
    shown_fields = plain(progress)
    shown_fields.pop("rate_per_s", None)
    shown_fields.pop("eta_s", None)
    return shown_fields


def _sorted(store: Store, table: str) -> Any:
    names = [name for name in all_tables()[table].names if name not in LEFT_OUT]
    return store.frame(f"SELECT {', '.join(names)} FROM {table} ORDER BY ALL")


def _draft(store: Store, study: Study, n_items: int | None = None) -> Any:
    ids = [item for (item,) in store.rows("SELECT item_id FROM study_items ORDER BY position")]
    if n_items is None:
        draft = asking_again.draft_again(store, study.study_id)
    else:
        draft = asking_again.draft_with_items(store, study.study_id, ids[:n_items])
    sources = [[source.dataset, source.role, source.n, len(source.where)] for source in draft.study.items]
    return [draft.notes, draft.study.name, sources, draft.study.control, [part.name for part in draft.study.axes]]


def _reread(store: Store, study: Study, extractor: str, *words: str) -> Any:
    params = rereading.params_of(extractor, words)
    name = rereading.reread(store, study.study_id, extractor, params)
    sql = "SELECT status, answer, count(*) AS n FROM readouts WHERE extractor = $name GROUP BY ALL ORDER BY ALL"
    versions = rereading.versions_of(store, study.study_id)
    return [name, list(versions), shown(store.frame(sql, name=name))]


def _judge(store: Store, study: Study, judge: str, extractor: str = "judge") -> Any:
    price = rereading.priced(store, study.study_id, judge, extractor=extractor)
    done = rereading.judge_again(store, study.study_id, judge, extractor=extractor)
    left = rereading.priced(store, study.study_id, judge, extractor=extractor)
    return [price, plain(done), left]


def _remaining(store: Store, study: Study) -> Any:
    return plan.remaining(plan.plan(study, store), store)


def _lose(store: Store, study: Study, n: int) -> None:
    """Lose the first answers, as a run that was killed would not have them."""
    sql = "DELETE FROM completions WHERE call_id IN (SELECT call_id FROM completions ORDER BY call_id LIMIT $n)"

    def delete(connection: Any) -> None:
        connection.execute(sql, {"n": n})

    store.writer.transact(delete, changes=None).result(30)


STEPS: dict[str, Callable[..., Any]] = {
    "run": _run,
    "remaining": _remaining,
    "draft": _draft,
    "reread": _reread,
    "judge": _judge,
    "lose": _lose,
    "embargo": lambda store, study: embargo.under_embargo(store, [i for (i,) in store.rows("SELECT item_id FROM items")]),
}


def _without_moments(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, dict):
        return {key: _without_moments(part) for key, part in value.items() if key not in MEASURED}
    return [_without_moments(part) for part in value] if isinstance(value, list) else value
