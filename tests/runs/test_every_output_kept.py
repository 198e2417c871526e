"""An import keeps every output: whatever the order of the rows, the samples they say, and the prompts that they share."""

import hashlib
import json
import random

import pyarrow as pa
import pyarrow.parquet
import pytest

from flipcore.__main__ import main
from flipcore.datasets.recorded.columns import Recording
from flipcore.datasets.recorded.formats import READERS
from flipcore.datasets.recorded.log_documents import DocumentIndex, Documents
from flipcore.datasets.recorded.log_records import LogReadout, LogRecord
from flipcore.datasets.recorded.log_rows import Builder, Joining
from flipcore.runs import log_import
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import READ_TEXT, store_logs
from flipcore.runs.log_survey import survey, tables_in
from flipcore.store import migrations
from flipcore.store.connection import Store
from tests.datasets.recorded import harness_files as made
from tests.datasets.recorded.tables import imported as imported_table

pytestmark = pytest.mark.usefixtures("allowed_folders")


def imported(store, paths, *words):
    paths = paths if isinstance(paths, list) else [paths]
    study_id = store_logs(survey(paths, corrections_of(words, of_tables=bool(tables_in(paths, words)))), store)
    return study_id, *store.rows("SELECT state, message FROM studies WHERE study_id = $id", id=study_id)[0]


def texts(store, study_id, extractor):
    """(question, sample, text) of every readout, the text being that of its own call."""
    sql = (
        "SELECT i.question, r.sample, c.text FROM readout_sources r JOIN items i USING (item_id) JOIN completions c "
        "USING (call_id) WHERE r.study_id = $id AND r.extractor = $extractor ORDER BY ALL"
    )
    return store.rows(sql, id=study_id, extractor=extractor)


def rows_of(records, axes=None):
    documents, placed = Documents(), DocumentIndex()
    for record in records:
        placed.add(documents.place(record, 0))
    builder = Builder(Joining({"t": "text"}, axes=axes or {}), placed)
    return [builder.entry(record, 0, "recorded-1", record.model) for record in records]


def any_records(seed):
    """Rows as the worst of logs: few prompts for many items, samples that are missing, said twice or not said."""
    draw = random.Random(seed)
    named = draw.random() < 0.5
    items = [(f"{i}", f"question {draw.choice((i, 0))}") for i in range(draw.randint(1, 4))]
    records = []
    for _ in range(draw.randint(1, 25)):
        item, question = draw.choice(items)
        axis, variant = draw.choice([("", ""), ("case", "base"), ("case", "upper"), ("case", "lower")]) if named else ("", "")
        names = draw.choice([("strict",), ("loose",), ("strict", "loose"), ()])
        records.append(
            LogRecord(
                f"row {len(records)}",
                "t",
                item,
                question,
                draw.choice(("Answer: ", f"{question}: ", "Say: ")),
                draw.choice(("a", "b")),
                sample=draw.choice((0, 0, 1, 2, 5, 1000, None)),
                axis=axis,
                variant=variant,
                text=draw.choice(("yes", "no", "perhaps")),
                readouts=tuple(LogReadout(name, "yes") for name in names),
            )
        )
    return records


def check_own_texts(seed):
    records = any_records(seed)
    calls, readouts = {}, {}
    for record, row in zip(records, rows_of(records, {"case": "identity"} if seed % 3 == 0 else None), strict=True):
        (call, completion) = row.calls[0]
        assert completion.text == record.text
        output = (row.item.item_id, call.model, row.variant.axis, row.variant.variant_id, row.sample)
        assert calls.setdefault(call.call_id, (output, record.text)) == (output, record.text), seed
        for one in row.readouts:
            key = (*output, one.extractor)
            assert key not in readouts, f"a later row takes the place of an earlier one: seed {seed}"
            readouts[key] = record.text
    assert len(readouts) == sum(len(record.readouts) for record in records), seed


@pytest.mark.slow
def test_every_row_stands_over_its_own_text_and_no_readout_over_another():
    for seed in range(150):
        check_own_texts(seed)


def test_two_filters_of_one_output_are_one_output_and_equal_rows_are_two():
    def record(i, name, text="yes"):
        return LogRecord(f"row {i}", "t", "1", "q", "p", "m", text=text, readouts=(LogReadout(name, "yes"),))

    rows = rows_of([record(1, "strict"), record(2, "strict"), record(3, "loose"), record(4, "loose"), record(5, "loose", "no")])
    assert [(row.sample, row.is_new) for row in rows] == [(0, True), (1, True), (0, False), (1, False), (2, True)]


def test_the_order_of_rows_decides_no_sample_that_a_log_says():
    records = [
        LogRecord(f"row {k}", "t", "1", "q", "p", "m", sample=k, text=f"{k}", readouts=(LogReadout("r", "x"),))
        for k in range(9)
    ]
    for seed in range(20):
        random.Random(seed).shuffle(records)
        assert all(row.sample == int(record.text) and row.is_new for record, row in zip(records, rows_of(records), strict=True))


def test_samples_that_finished_in_any_order_keep_their_texts(tmp_path, store):
    samples = [made.inspect_sample(i, k, f"{i}.{k} ANSWER: A") for i in range(1, 6) for k in range(1, 5)]
    random.Random(1).shuffle(samples)
    del samples[3]
    study_id, state, message = imported(store, made.inspect_eval(tmp_path / "a.eval", samples, made.inspect_header(1, 19)))
    wanted = sorted((f"Which is {one['id']}?", one["epoch"] - 1, one["messages"][1]["content"]) for one in samples)
    assert texts(store, study_id, "choice") == texts(store, study_id, READ_TEXT) == wanted
    assert state == "done" and message.endswith("Read again, all 19 outputs are stored as written.")


def test_two_items_of_one_prompt_have_an_output_each(tmp_path, store):
    rows = [
        made.lm_eval_row(i, f"for {i}", f"{i}", True, arguments=made.lm_eval_row(0, "", "", 1)["arguments"]) for i in range(30)
    ]
    study_id, _, _ = imported(store, made.lines(tmp_path / "samples_t.jsonl", rows), "model=m")
    assert [text for _, _, text in texts(store, study_id, "strict-match")] == [
        f"for {q[8:].split()[0]}" for q, _, _ in texts(store, study_id, "strict-match")
    ]
    assert len(texts(store, study_id, "strict-match")) == 30


def _shuffled(path, seed=3):
    """The same rows in another order; the first stays where it says what the file is."""
    first, *rest = path.read_text().splitlines()
    random.Random(seed).shuffle(rest)
    path.write_text("\n".join([first, *rest]) + "\n")
    return path


def _twice(path):
    path.write_text(2 * path.read_text())
    return path


FILES = {
    "lm_eval": lambda folder: made.lm_eval(folder / "run").parent,
    "lm_eval, shuffled": lambda folder: _shuffled(made.lm_eval(folder / "run")).parent,
    "lm_eval, every row twice": lambda folder: _twice(made.lm_eval(folder / "run")).parent,
    "lm_eval, scores": lambda folder: _shuffled(made.lm_eval_scored(folder / "samples_x_2025-01-01.jsonl")),
    "inspect": lambda folder: made.chunked(folder / "b.eval"),
    "eee": lambda folder: made.eee(folder / "run"),
    "helm": lambda folder: made.helm(folder / "run"),
    "lighteval": lambda folder: made.lighteval(folder / "details_t_2025-01-01.parquet"),
    "lighteval, newest": lambda folder: made.lighteval_newest(folder / "details_t_2025-01-01.parquet"),
    "zeroeval": lambda folder: made.zeroeval(folder / "m.json"),
    "promptfoo": lambda folder: made.promptfoo(folder / "out.json"),
    "openai_evals": lambda folder: _shuffled(made.openai_evals(folder / "events.jsonl")),
    "openai_evals, graded": lambda folder: made.openai_graded(folder / "events.jsonl"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_format_is_stored_as_written(name, tmp_path, store):
    path = FILES[name](tmp_path) or tmp_path
    study_id, state, message = imported(store, path)
    assert state == "done" and "stored as written" in message
    found = survey([path])
    outputs = {}
    for record in found.records():
        outputs.setdefault((record.item, record.prompt, record.text), 0)
    sql = "SELECT count(*), count(DISTINCT text) FROM study_calls JOIN completions USING (call_id) WHERE study_id = $id"
    [(n, n_texts)] = store.rows(sql, id=study_id)
    n_scores = max(len(record.continuations) for record in found.records()) or 1
    assert n >= len(outputs) and n_texts == len({record.text or "" for record in found.records()})
    assert n % n_scores == 0
    [(n_without,)] = store.rows("SELECT count(*) FROM readout_sources WHERE call_id NOT IN (SELECT call_id FROM completions)")
    assert not n_without
    if "every row twice" in name:
        assert n == 2 * 6


def _grouped(outputs):
    """Item -> (question, its texts in order of their samples)."""
    by_item = {}
    for item, question, sample, text in outputs:
        by_item.setdefault(item, (question, {}))[1][sample] = text
    return {item: (question, [texts[k] for k in sorted(texts)]) for item, (question, texts) in by_item.items()}


def _as_lm_eval(path, outputs):
    rows = [
        made.lm_eval_row(
            item,
            text,
            "1",
            True,
            doc={"question": question, "answer": "#### 1"},
            target="#### 1",
            arguments={"gen_args_0": {"arg_0": question, "arg_1": {"until": ["Q:"]}}},
            doc_hash=hashlib.sha256(question.encode()).hexdigest(),
        )
        for item, question, _, text in outputs
    ]
    return made.lines(path / "samples_t_2025-01-01.jsonl", rows)


def _as_inspect(path, outputs):
    samples = [
        made.inspect_sample(item, k + 1, text, input=question, choices=None, target="1", attachments={})
        | {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": text}]}
        for item, question, k, text in outputs
    ]
    return made.inspect_eval(path / "a.eval", samples, made.inspect_header(1, len(samples)))


def _as_eee(path, outputs):
    (row,) = map(json.loads, made.eee(path / "run", n=1).read_text().splitlines())
    rows = [
        row
        | {"sample_id": f"q{item}", "input": {"raw": question, "reference": ["1"]}, "output": {"raw": [text]}}
        | {"metadata": {"sample": str(k)}}
        for item, question, k, text in outputs
    ]
    made.lines(path / "run" / "x_samples.jsonl", rows)
    return path / "run"


def _as_helm(path, outputs):
    states = [
        {
            "instance": {
                "id": f"id{item}",
                "split": "test",
                "input": {"text": question},
                "references": [{"output": {"text": "1"}, "tags": ["correct"]}],
            },
            "train_trial_index": 0,
            "request": {"model": "org/m", "prompt": question},
            "result": {"success": True, "completions": [{"text": text} for text in texts]},
        }
        for item, (question, texts) in _grouped(outputs).items()
    ]
    folder = made.helm(path / "run")
    (folder / "per_instance_stats.json").unlink()
    (folder / "scenario_state.json").write_text(
        json.dumps({"adapter_spec": {"method": "generation"}, "request_states": states}), encoding="utf-8"
    )
    return folder


def _as_lighteval(path, outputs):
    rows = [
        {
            "doc": {"query": question, "choices": ["1"], "gold_index": [0], "id": str(item)},
            "model_response": {"input": question, "logprobs": [], "text": texts},
            "metric": {"em": 1.0},
        }
        for item, (question, texts) in _grouped(outputs).items()
    ]
    pa.parquet.write_table(pa.Table.from_pylist(rows), path / "details_t_2025-01-01.parquet")
    return path / "details_t_2025-01-01.parquet"


def _as_zeroeval(path, outputs):
    rows = [
        {
            "session_id": f"s{item}",
            "id": f"s{item}",
            "question": question,
            "chat_history": [question],
            "output": texts,
            "generator": "org/m",
            "answer": "# 1",
            "dataset": "sums",
        }
        for item, (question, texts) in _grouped(outputs).items()
    ]
    (path / "m.json").write_text(json.dumps(rows), encoding="utf-8")
    return path / "m.json"


def _as_promptfoo(path, outputs):
    """Each repeat of a test has a number of its own there."""
    results = [
        {
            "promptIdx": 0,
            "testIdx": number,
            "provider": {"id": "openai:m"},
            "prompt": {"raw": question},
            "testCase": {"vars": {"q": question}},
            "success": True,
            "response": {"output": text},
        }
        for number, (_, question, _, text) in enumerate(outputs)
    ]
    random.Random(len(results)).shuffle(results)
    (path / "out.json").write_text(json.dumps({"evalId": "e", "results": {"results": results}}), encoding="utf-8")
    return path / "out.json"


def _as_openai_evals(path, outputs):
    rows = [{"spec": {"completion_fns": ["m"], "eval_name": "caps.dev.v0", "base_eval": "caps", "run_id": "r"}}]
    for number, (item, question, _, text) in enumerate(outputs):
        common = {"run_id": "r", "event_id": number, "sample_id": f"caps.{item}"}
        rows.append(common | {"type": "sampling", "data": {"prompt": question, "sampled": [text]}})
        rows.append(common | {"type": "match", "data": {"correct": True, "expected": "1", "picked": "1"}})
    return made.lines(path / "events.jsonl", rows)


def _as_table(path, outputs):
    rows = [{"item": item, "prompt": q, "sample": k, "response": text, "target": 1} for item, q, k, text in outputs]
    return made.lines(path / "outputs.jsonl", rows)


def _as_tau_bench(path, outputs):
    rows = [
        {
            "task_id": item,
            "reward": 1.0,
            "info": {"task": {"instruction": question}},
            "traj": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": text}],
            "trial": sample,
        }
        for item, question, sample, text in outputs
    ]
    (path / "trials.json").write_text(json.dumps(rows), encoding="utf-8")
    return path / "trials.json"


WRITERS = {
    "table": _as_table,
    "tau-bench": _as_tau_bench,
    "lm-eval": _as_lm_eval,
    "inspect": _as_inspect,
    "every_eval_ever": _as_eee,
    "helm": _as_helm,
    "lighteval": _as_lighteval,
    "zeroeval": _as_zeroeval,
    "promptfoo": _as_promptfoo,
    "openai_evals": _as_openai_evals,
}


def any_outputs(seed):
    """(item, question, sample, text) in any order: items that share a question, texts that come again, epochs that are missing."""
    draw = random.Random(seed)
    outputs = [
        (item, f"What is {draw.randrange(3)}?", sample, f"{draw.randrange(5)}: it is 1")
        for item in range(draw.randint(2, 9))
        for sample in draw.sample(range(4), draw.randint(1, 4))
    ]
    questions = {item: question for item, question, _, _ in outputs}
    outputs = [(item, questions[item], sample, text) for item, _, sample, text in outputs]
    draw.shuffle(outputs)
    return outputs


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", WRITERS)
def test_every_format_keeps_any_rows(name, seed, tmp_path, store):
    outputs = any_outputs(seed)
    words = ["item=item", "sample=sample"] if name == "table" else ["kind=number"]
    study_id, state, message = imported(store, WRITERS[name](tmp_path, outputs), *words)
    assert state == "done" and message.endswith(f"all {len(outputs):,} outputs are stored as written.")
    assert sorted((q.removeprefix("q: "), text) for q, _, text in texts(store, study_id, READ_TEXT)) == sorted(
        (q, t) for _, q, _, t in outputs
    )
    [(n_items,)] = store.rows("SELECT count(*) FROM study_items WHERE study_id = $id", id=study_id)
    assert n_items == (len(outputs) if name == "promptfoo" else len({item for item, *_ in outputs}))


def test_every_format_is_tried():
    assert {reader.name for reader in READERS} ^ set(WRITERS) == {"planned", "table"}  # joins the study that planned it


@pytest.mark.slow
def test_a_row_that_is_not_stored_is_counted_and_named(tmp_path, store, monkeypatch, capsys):
    take = log_import._add_row

    def forgetful(batch, row, position, **words):
        take(batch, row, position, **words)
        if position == 3:
            batch.calls.rows.popitem()

    path = _shuffled(made.lm_eval(tmp_path / "run")).parent
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "command.duckdb"))
    assert main(["import", str(path)]) == 0 and "all 6 outputs are stored as written." in capsys.readouterr().out
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "forgetful.duckdb"))
    monkeypatch.setattr(log_import, "_add_row", forgetful)
    assert main(["import", str(path)]) == 1 and "not stored as the files hold them" in capsys.readouterr().out
    _, state, message = imported(store, path)
    assert (
        state == "incomplete"
        and "rows are not stored as the files hold them; the first: Line 2 of run/samples_gsm8k" in message
    )


@pytest.mark.slow
def test_the_same_file_read_otherwise_takes_no_text_of_another_study(tmp_path, store):
    """Under other corrections the items come in another order, so that the call of a shared prompt would be the other's."""
    arguments = made.lm_eval_row(0, "", "", 1)["arguments"]
    for name in "ab":
        rows = [made.lm_eval_row(i, f"{name} {i}", "1", True, arguments=arguments) for i in range(3)]
        for row in rows:
            row["doc_hash"], row["doc"]["question"] = f"{name}{row['doc_id']}" + "0" * 40, f"{name} {row['doc_id']}?"
        made.lines(tmp_path / f"samples_{name}_2025-01-01.jsonl", rows)
    files = [tmp_path / f"samples_{name}_2025-01-01.jsonl" for name in "ab"]
    (tmp_path / "both.jsonl").write_text("".join(file.read_text() for file in files))
    first, _, _ = imported(store, tmp_path / "both.jsonl", "model=m")
    before = texts(store, first, "strict-match")
    for words in (("name=again",), ("prompt:both.jsonl=base", "name=other")):
        other, state, _ = imported(store, tmp_path / "both.jsonl", "model=m", *words)
        assert state == "done" and texts(store, other, "strict-match") == before == texts(store, first, "strict-match")


@pytest.mark.slow
def test_a_study_that_lost_texts_is_found_and_read_again(tmp_path):
    samples = [made.inspect_sample(i, k, f"{i}.{k} ANSWER: A") for i in (1, 2) for k in (1, 2)]
    log, path = made.inspect_eval(tmp_path / "a.eval", samples, made.inspect_header(1, 4)), tmp_path / "flips.duckdb"
    opened = Store.open(path)
    study_id, _, _ = imported(opened, log)
    whole = texts(opened, study_id, "choice")
    opened.writer.transact(  # as an earlier release left it: one text is not there, and one serves two samples
        lambda connection: [
            connection.execute(sql)
            for sql in (
                "DELETE FROM completions WHERE text LIKE '1.2%'",
                "UPDATE readout_sources SET call_id = (SELECT call_id FROM completions WHERE text LIKE '2.2%') "
                "WHERE call_id = (SELECT call_id FROM completions WHERE text LIKE '2.1%')",
                "UPDATE store_info SET value = '4' WHERE key = 'schema'",
            )
        ]
    ).result()
    opened.close()
    opened = Store.open(path)
    try:
        [(state, message)] = opened.rows("SELECT state, message FROM studies")
        assert state == "incomplete" and message.startswith("3 of 4 outputs have no text of their own")
        again, state, message = imported(opened, log)
        assert again == study_id and state == "done" and message.endswith("Read again, all 4 outputs are stored as written.")
        assert texts(opened, study_id, "choice") == texts(opened, study_id, READ_TEXT) == whole
    finally:
        opened.close()
    assert migrations.SCHEMA_VERSION >= 5


@pytest.mark.slow
def test_a_study_whose_rows_were_taken_for_one_another_is_read_again_too(tmp_path):
    """An earlier release kept one of two outputs of an equal question, and nothing stored says that there was another."""
    rows = [made.lm_eval_row(i % 3, f"That makes {i}", str(i), False) for i in range(5)]
    made.lm_eval(tmp_path / "log", n=1)
    made.lines(next((tmp_path / "log").glob("samples*")), rows)
    opened = Store.open(tmp_path / "flips.duckdb")
    study_id, _, message = imported(opened, tmp_path / "log")
    whole = texts(opened, study_id, "strict-match")
    assert len(whole) == 5 and message.endswith("Read again, all 5 outputs are stored as written.")
    opened.writer.transact(
        lambda connection: [
            connection.execute(sql)
            for sql in (
                "DELETE FROM completions WHERE sample > 0",
                "DELETE FROM readout_sources WHERE sample > 0",
                "DELETE FROM readouts WHERE sample > 0",
                "UPDATE studies SET message = 'Imported: 5 rows of 1 file.'",
                "UPDATE store_info SET value = '4' WHERE key = 'schema'",
            )
        ]
    ).result()
    opened.close()
    opened = Store.open(tmp_path / "flips.duckdb")
    try:
        assert len(texts(opened, study_id, "strict-match")) == 3
        [(state, message)] = opened.rows("SELECT state, message FROM studies")
        assert state == "done" and message.startswith(
            "Imported: 5 rows of 1 file. An earlier Flipscope imported it and did not"
        )
        again, state, message = imported(opened, tmp_path / "log")
        assert again == study_id and state == "done" and message.endswith("Read again, all 5 outputs are stored as written.")
        assert texts(opened, study_id, "strict-match") == whole
    finally:
        opened.close()


@pytest.mark.slow
def test_a_table_read_by_another_column_leaves_the_first_study_its_texts(tmp_path, store):
    rows = [{"q": f"Question {i % 3}?", "first": f"one {i}", "second": f"two {i}", "gold": f"one {i}"} for i in range(12)]
    path = made.lines(tmp_path / "outputs.jsonl", rows)

    def texts_by(column):
        recording = Recording("made", "m", "q", text=column, target="gold", answers="text")
        study_id = store_logs(imported_table(path, recording), store)
        sql = "SELECT text FROM completions JOIN study_calls USING (call_id) WHERE study_id = $id ORDER BY text"
        return study_id, [text for (text,) in store.rows(sql, id=study_id)]

    first, before = texts_by("first")
    assert before == sorted(row["first"] for row in rows)
    _, other = texts_by("second")
    assert other == sorted(row["second"] for row in rows) and texts_by("first") == (first, before)
    messages = [message for (message,) in store.rows("SELECT message FROM studies")]
    assert len(messages) == 2 and all(one.endswith("Read again, all 12 outputs are stored as written.") for one in messages)
