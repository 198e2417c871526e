"""Logs of other harnesses as studies: recognised by content, with the numbers that the logs report of themselves."""

import gzip
import json
import shutil
import threading
import zipfile
from types import SimpleNamespace

import pyarrow
import pytest

from flipcore import __main__ as command
from flipcore.core.errors import BadInput
from flipcore.runs import log_import
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs, study_of
from flipcore.runs.log_survey import survey
from flipcore.store.queries import studies
from flipcore.store.recorded import memory_mb
from tests.datasets.recorded import harness_files as made
from tests.store.test_connection import memory_limit

pytestmark = pytest.mark.usefixtures("allowed_folders")


def brought_in(store, paths, *words):
    found = survey([paths] if not isinstance(paths, list) else paths, corrections_of(words))
    study_id = store_logs(found, store)
    return found, studies.readouts(store, study_id, everything=True), study_id


def mean(frame, extractor, **where):
    part = frame[frame["extractor"] == extractor]
    for column, value in where.items():
        part = part[part[column] == value]
    right = part["is_correct"].map({True: 1.0, False: 0.0}).astype(float)
    return right.where(right.notna(), part["value"].astype(float)).mean()


@pytest.mark.slow
def test_two_filters_are_two_readouts_of_one_completion(tmp_path, store):
    found, frame, study_id = brought_in(store, made.lm_eval(tmp_path / "run").parent)
    assert [(one.readout, one.value, one.model) for one in found.reported] == [
        ("strict-match", 0.0, "m-1"),
        ("flexible-extract", 4 / 6, "m-1"),
    ]
    assert mean(frame, "strict-match") == 0 and mean(frame, "flexible-extract") == pytest.approx(4 / 6)
    assert mean(frame, "regex") == pytest.approx(4 / 6)  # ours, from the same saved texts
    assert set(frame[frame["extractor"] == "strict-match"]["status"]) == {"unreadable"}
    assert store.rows("SELECT count(*), count(DISTINCT text) FROM completions") == [(6, 6)]


def test_log_likelihoods_are_a_cloze_by_sum_and_by_length(tmp_path, store):
    _, frame, _ = brought_in(store, made.lm_eval_scored(tmp_path / "samples_x_2025-01-01.jsonl"), "model=m")
    answers = {name: set(part["answer"]) for name, part in frame.groupby("extractor")}
    assert answers == {"acc": {"0"}, "acc_norm": {"1"}, "cloze": {"1"}}
    assert (mean(frame, "acc"), mean(frame, "acc_norm"), mean(frame, "cloze")) == (0, 1, 1)
    assert store.rows("SELECT DISTINCT model, json_extract_string(request, '$.kind') FROM completions") == [("m", "score")]


def test_the_perplexity_of_a_whole_text_is_refused_and_said(tmp_path):
    row = made.lm_eval_row(1, "-123.4", "-123.4", True, "none", metrics=["word_perplexity", "bits_per_byte"])
    row |= {"arguments": {"gen_args_0": {"arg_0": "A whole page."}}, "word_perplexity": ["-123.4", "80"]}
    with pytest.raises(BadInput, match="Line 1 of samples_wikitext.jsonl scores a whole text by its perplexity"):
        survey([made.lines(tmp_path / "samples_wikitext.jsonl", [row])])


def test_repeats_are_samples_and_two_runs_count_on(tmp_path, store):
    row = made.lm_eval_row(1, "2", "2", True, resps=[["2", "3"]], filtered_resps=["2"])
    for name in ("a", "b"):
        made.lines(tmp_path / f"samples_{name}.jsonl", [row | {"doc": row["doc"] | {"run": name}}])
    _, frame, _ = brought_in(store, [tmp_path / "samples_a.jsonl", tmp_path / "samples_b.jsonl"], "model=m")
    assert frame["item_id"].nunique() == 1  # joined by the document's hash
    assert sorted(frame[frame["extractor"] == "regex"]["sample"]) == [0, 1, 2, 3]
    assert set(frame["axis"]) == {"identity"}


@pytest.mark.slow
def test_a_file_of_results_with_the_samples_in_it(tmp_path, store):
    samples = made.lm_eval(tmp_path / "run")
    (results,) = samples.parent.glob("results_*.json")
    document = json.loads(results.read_text())
    document["results"]["a group"] = {"exact_match,strict-match": 0.5}  # of several tasks together: it has no rows
    document["samples"] = {"gsm8k": [json.loads(line) for line in samples.read_text().splitlines()]}
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps({"results": document.pop("results")} | document), encoding="utf-8")
    found, frame, _ = brought_in(store, whole)
    of_lines, lines, _ = brought_in(store, samples.parent)
    assert [(one.task, one.readout, one.value, one.model) for one in found.reported] == [
        (one.task, one.readout, one.value, one.model) for one in of_lines.reported
    ]
    columns = ["model", "extractor", "status", "answer", "is_correct"]
    assert frame[columns].to_dict("records") == lines[columns].to_dict("records") and len(frame) > 12


def test_a_file_of_results_alone_says_what_it_goes_with(tmp_path):
    samples = made.lm_eval(tmp_path / "run")
    (results,) = samples.parent.glob("results_*.json")
    with pytest.raises(BadInput, match="holds no outputs: it goes with the log of a harness"):
        survey([results])


def test_options_that_are_shown_as_letters_are_known_by_their_texts(tmp_path, store):
    """GPQA: the harness shuffles the options of each task, so that one question has another letter in each."""
    names = ["one", "two", "three"]
    tasks = {"main": names, "extended": names[::-1]}
    for task, shown in tasks.items():
        doc = {"question": "Which is the second?", "answer": "(B)"} | {f"choice{n}": one for n, one in enumerate(shown, 1)}
        doc["answer"] = f"({'ABC'[shown.index('one')]})"
        row = {
            "doc_id": 0,
            "doc": doc,
            "target": doc["answer"],
            "arguments": {f"gen_args_{n}": {"arg_0": "Q:", "arg_1": f" ({letter})"} for n, letter in enumerate("ABC")},
            "resps": [[["-1.0", "False"]], [["-2.0", "False"]], [["-3.0", "False"]]],
            "filter": "none",
            "metrics": ["acc_norm"],
            "acc_norm": 1.0,
        }
        made.lines(tmp_path / f"samples_{task}.jsonl", [row])
    brought_in(store, tmp_path, "model=m")
    assert sorted(store.rows("SELECT json(options)::VARCHAR, target FROM items")) == [
        ('["one","two","three"]', "0"),
        ('["three","two","one"]', "2"),
    ]


@pytest.mark.slow
def test_two_tables_of_one_model_that_only_count_runs_are_samples(tmp_path, store):
    table = [{"id": n, "question": f"What is {n} + {n}?", "answer": str(2 * n), "response": str(2 * n)} for n in range(5)]
    for run in (1, 2):
        made.lines(tmp_path / f"run{run}.jsonl", table)
    _, frame, _ = brought_in(store, tmp_path)
    own = frame[frame["extractor"] == "regex"]
    assert own["item_id"].nunique() == 5 and sorted(own["sample"]) == [0] * 5 + [1] * 5


@pytest.mark.slow
def test_two_models_meet_on_the_same_items(tmp_path, store):
    made.lm_eval(tmp_path / "one", "m-1", n_right=4)
    made.lm_eval(tmp_path / "two", "m-2", n_right=2)
    _, frame, _ = brought_in(store, tmp_path / "one", "name=x")
    _, both, _ = brought_in(store, [tmp_path / "one", tmp_path / "two"])
    assert both["item_id"].nunique() == frame["item_id"].nunique() == 6
    assert mean(both, "flexible-extract", model="m-2") == pytest.approx(2 / 6)


@pytest.mark.slow
def test_an_inspect_log_whole_chunked_and_never_finished(tmp_path, store):
    samples = [made.inspect_sample(1), made.inspect_sample(1, 2, "ANSWER: B", "I"), made.inspect_sample(2)]
    log = made.inspect_eval(tmp_path / "a.eval", samples, made.inspect_header(2 / 3, 3))
    found, frame, study_id = brought_in(store, log)
    assert mean(frame, "choice") == pytest.approx(found.reported[0].value) == pytest.approx(2 / 3)
    assert set(frame["axis"]) == {"identity"} and frame["sample"].max() == 1
    (text, tokens, finish) = store.rows("SELECT parts->>'$[0][1]', n_tokens_out, finish_reason FROM variants, completions")[0]
    assert text.startswith("Which is ") and "A) oak" in text and tokens == 3 and finish == "stop"
    _, frame, _ = brought_in(store, made.chunked(tmp_path / "b.eval"))
    assert mean(frame, "choice") == 0.5 and frame["item_id"].nunique() == 2
    found, frame, _ = brought_in(store, made.inspect_eval(tmp_path / "c.eval", samples[:1]))
    assert any("never finished" in sentence for sentence in found.sentences()) and len(frame) == 2


def test_an_inspect_document_with_nan_and_its_samples_first(tmp_path, store):
    header = made.inspect_header(float("nan"), 1)
    document = {"samples": [made.inspect_sample(1)]} | header
    (tmp_path / "log.json").write_text(json.dumps(header | document), encoding="utf-8")
    found, frame, _ = brought_in(store, tmp_path / "log.json")
    assert found.reported == [] and mean(frame, "choice") == 1


def test_an_inspect_document_that_breaks_off_keeps_what_stands_before(tmp_path, store):
    document = json.dumps(made.inspect_header(1, 3) | {"samples": [made.inspect_sample(i) for i in (1, 2, 3)]})
    (tmp_path / "log.json").write_text(document[:-60], encoding="utf-8")
    log_survey, frame, _ = brought_in(store, tmp_path / "log.json")
    assert frame["item_id"].nunique() == 2 and any("never finished" in one for one in log_survey.sentences())
    assert any("What stands before that place is used" in one for one in log_survey.sentences())


def test_a_scorer_that_looks_at_the_whole_text_finds_an_answer_in_it(tmp_path, store):
    """Inspect's `includes` gives the completion as its answer: wrong is wrong there, and not unreadable."""
    samples = [made.inspect_sample(i, text=f"It is {i}, I think.", choices=None, target="2") for i in (2, 3)]
    for one, value in zip(samples, "CI", strict=True):
        one["scores"] = {"includes": {"value": value, "answer": one["output"]["choices"][0]["message"]["content"]}}
    _, frame, _ = brought_in(store, made.inspect_eval(tmp_path / "a.eval", samples, made.inspect_header(0.5, 2)))
    part = frame[frame["extractor"] == "includes"]
    assert set(part["status"]) == {"ok"} and sorted(part["is_correct"]) == [False, True]


@pytest.mark.slow
def test_code_and_summaries_are_matched_by_no_text_of_ours(tmp_path, store):
    rows = [
        made.lm_eval_row(i, "return 1", "return 1", True, "none", target="assert f ( ) == 1 " * n) for i, n in enumerate((1, 9))
    ]
    _, frame, _ = brought_in(store, made.lines(tmp_path / "samples_code.jsonl", rows), "model=m", "kind=text")
    assert len(frame[frame["extractor"] == "text_match"]) == 1 and len(frame[frame["extractor"] == "exact_match"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.2.2", "0.3.0"])
def test_every_eval_ever_with_several_right_answers(tmp_path, store, version):
    made.eee(tmp_path / "eee", version)
    found, frame, _ = brought_in(store, tmp_path / "eee")
    assert mean(frame, "pattern") == 0.75 == found.reported[0].value and found.kinds == {"woods": "text"}
    assert set(frame[frame["extractor"] == "pattern"]["answer"]) == {"hague", "ghent"}  # a synonym is no flip


@pytest.mark.slow
def test_a_perturbation_is_an_axis_and_logprob_zero_is_no_probability(tmp_path, store):
    found, frame, study_id = brought_in(store, made.helm(tmp_path / "helm"))
    assert {part.name for part in study_of(found).axes} == {"identity", "typos"}
    typos = frame[(frame["axis"] == "typos") & (frame["extractor"] == "exact_match")]
    assert typos.groupby("variant")["is_correct"].mean().to_dict() == {"base": 1.0, "typos": 0.0}
    assert store.rows("SELECT count(tokens) FROM completions") == [(0,)]


@pytest.mark.slow
@pytest.mark.parametrize("write", [made.lighteval_newest, made.lighteval, made.lighteval_old])
def test_lighteval_of_all_generations(tmp_path, store, write):
    _, frame, _ = brought_in(store, write(tmp_path / "details_woods|0_2025-01-01.parquet"), "model=m")
    assert mean(frame, "acc") == pytest.approx(2 / 3) and sorted(frame[frame["extractor"] == "acc"]["answer"]) == [
        "0",
        "0",
        "1",
    ]


@pytest.mark.slow
def test_zeroeval_promptfoo_and_openai_evals(tmp_path, store):
    _, frame, _ = brought_in(store, made.zeroeval(tmp_path / "m.json"))
    assert mean(frame, "json_answer") == 0.75
    found, frame, study_id = brought_in(store, made.promptfoo(tmp_path / "results.json"))
    changed = frame[(frame["axis"] == "prompt") & (frame["variant"] == "prompt-1")]
    assert mean(changed, "success") == pytest.approx(2 / 3)
    assert store.rows("SELECT count(*) FROM completions WHERE status = 'failed' AND error = 'Rate limit.'") == [(1,)]
    found, frame, _ = brought_in(store, made.openai_evals(tmp_path / "events.jsonl"))
    assert mean(frame, "match") == pytest.approx(2 / 3) == pytest.approx(found.reported[0].value)


def test_providers_of_one_promptfoo_prompt_are_asked_the_same(tmp_path, store):
    """Five providers had five prompts: 19 of 20 questions, and 89% for 90%."""
    path = made.promptfoo_of_providers(tmp_path / "results.json")
    _, frame, _ = brought_in(store, path)
    assert set(frame["axis"]) == {"identity"} and len(frame) == 12
    by_model = {model: round(mean(rows, "success"), 2) for model, rows in frame.groupby("model")}
    assert by_model == {"openai:m-0": 0.0, "openai:m-1": 0.25, "openai:m-2": 0.5}
    other = json.loads(path.read_text(encoding="utf-8"))
    for row in other["results"]["results"]:
        row["promptId"] = "second" if row["promptIdx"] == 2 else "first"
        row["prompt"] = {"raw": f"{row['promptId']}: capital of {row['testIdx']}?"}
    path.write_text(json.dumps(other), encoding="utf-8")
    _, frame, _ = brought_in(store, path)
    assert set(frame.loc[frame["model"] == "openai:m-2", "variant"]) == {"prompt-1"}


def test_the_reply_of_a_grader_is_a_readout_and_no_sample(tmp_path, store):
    found, frame, _ = brought_in(store, made.openai_graded(tmp_path / "events.jsonl"), "kind=text")
    assert [(one.readout, one.value) for one in found.reported] == [("model-graded", pytest.approx(1 / 3))]
    assert mean(frame, "model-graded") == pytest.approx(1 / 3) and set(frame["sample"]) == {0}
    texts = {text for (text,) in store.rows("SELECT text FROM completions")}
    assert texts == {"A line 0.", "A line 1.", "A line 2."}
    assert sorted(frame[frame["extractor"] == "model-graded"]["status"]) == ["ok", "ok", "unreadable"]


def test_a_log_that_holds_the_graders_replies_alone_says_so(tmp_path):
    path = made.openai_graded(tmp_path / "events.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    made.lines(path, [row for row in rows if row.get("event_id", 1) % 3])
    with pytest.raises(BadInput, match="the grader's reply and not the answer that was graded"):
        survey([path])


def test_formats_are_known_by_content_not_by_name(tmp_path, store):
    made.lm_eval(tmp_path / "run")
    with zipfile.ZipFile(tmp_path / "all.dat", "w") as packed:
        for path in sorted((tmp_path / "run").iterdir()):
            packed.write(path, f"run/{path.name}")
    plain, zipped = survey([tmp_path / "run"]), survey([tmp_path / "all.dat"])
    assert zipped.n_records == plain.n_records == 12 and list(zipped.models) == ["m-1"]
    packed = tmp_path / "renamed.txt"
    packed.write_bytes(gzip.compress(next((tmp_path / "run").glob("*.jsonl")).read_bytes()))
    assert survey([packed]).n_records == 12


@pytest.mark.slow
def test_importing_again_adds_nothing_and_a_stopped_import_goes_on(tmp_path, store, monkeypatch):
    monkeypatch.setattr("flipcore.store.recorded.BATCH", 4)
    found = survey([made.lm_eval(tmp_path / "run").parent])
    stop = threading.Event()
    stop.set()
    study_id = store_logs(found, store, stop=stop)
    assert studies.studies(store).iloc[0]["state"] == "cancelled"
    assert 0 < len(studies.readouts(store, study_id, everything=True)) < 18
    assert store_logs(found, store) == study_id
    sizes = [store.rows(f"SELECT count(*) FROM {table}") for table in ("readouts", "completions", "items", "variants")]
    assert sizes[0] == [(18,)] and studies.studies(store).iloc[0]["state"] == "done"
    store_logs(survey([tmp_path / "run"]), store)
    assert sizes == [store.rows(f"SELECT count(*) FROM {table}") for table in ("readouts", "completions", "items", "variants")]


def test_guesses_are_corrected_and_a_wrong_word_is_a_sentence(tmp_path):
    path = made.lm_eval(tmp_path / "run").parent
    found = survey([path], corrections_of(["model:m-1=better", "kind:gsm8k=text", "role=control", "leave=strict-match"]))
    assert list(found.models) == ["better"] and found.kinds == {"gsm8k": "text"}
    assert "strict-match" not in [part.name for part in study_of(found).extractors]
    with pytest.raises(BadInput, match="kind is one of"):
        corrections_of(["kind=poem"])
    with pytest.raises(BadInput, match="corrects nothing"):
        corrections_of(["colour=red"])


@pytest.mark.stand_in("test_two_filters_are_two_readouts_of_one_completion")
@pytest.mark.slow
def test_the_public_logs_give_the_numbers_that_they_report(shared_data, tmp_path, store):
    """Score by score, where a log holds all the rows that its score is made of."""
    n_compared = 0
    folders = [shared_data / "inspect_logs", shared_data / "logs" / "inspect", shared_data / "logs" / "lm-eval"]
    for path in [path for folder in folders for path in sorted(folder.glob("*.*")) if path.suffix in (".eval", ".json")]:
        if path.name.startswith("results_"):
            continue
        found, frame, _ = brought_in(store, path)
        for one in found.reported:
            assert mean(frame, one.readout) == pytest.approx(one.value), path.name
            n_compared += 1
    assert n_compared >= 8
    for name, n, score in (("global_facts", 100, 0.62), ("virology", 166, 99 / 166)):
        _, frame, _ = brought_in(store, shared_data / "logs" / "helm" / f"{name}.json")
        assert frame["item_id"].nunique() == n and mean(frame, "exact_match") == pytest.approx(score)
    _, frame, _ = brought_in(store, shared_data / "logs" / "zeroeval")
    assert frame["item_id"].nunique() == 1319 and mean(frame, "json_answer") == pytest.approx(0.9416, abs=1e-4)


@pytest.mark.slow
@pytest.mark.stand_in("test_log_likelihoods_are_a_cloze_by_sum_and_by_length")
def test_the_public_lm_eval_rows_keep_every_score(shared_data, tmp_path, store):
    copied = tmp_path / "lm"
    shutil.copytree(shared_data / "logs" / "lm-eval", copied)
    _, frame, _ = brought_in(store, copied)
    for path in sorted(copied.glob("samples_*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        stamp = path.stem.rpartition("_")[2]
        results = json.loads((copied / f"results_{stamp}.json").read_text())
        arguments = results["config"]["model_args"]
        for row in rows:
            part = frame[frame["item_id"].str.contains(row["doc_hash"][:12]) & (frame["extractor"] == row["filter"])]
            part = part[[model in str(arguments) for model in part["model"]]]
            assert part["value"].tolist() == [row["exact_match"]]


@pytest.mark.slow
def test_score_rows_of_moved_options_are_versions_and_its_rate_is_checked(tmp_path, store):
    """A model that always says "A": SCORE gives share + (1 - share)(K - 2)/K, true is (1 - share)(K - 2)/K."""
    from flipcore.reports.audit import audit

    rows, letters = [], "ABCD"
    for i in range(8):
        own, original = [f"right {i}" if k == i % 4 else f"wrong {i}{k}" for k in range(4)], i % 4
        for place, label in enumerate(letters):
            options = list(own)
            options[place], options[original] = options[original], options[place]
            doc = {
                "question": f"Which, {i}?",
                "options": options,
                "answer_index": place,
                "question_id": i,
                "always_same_option": label,
                "original_answer_index": original,
            }
            rows.append(
                made.lm_eval_row(
                    i * 4 + place,
                    "The answer is (A)",
                    "A",
                    place == 0,
                    "none",
                    doc=doc,
                    target=label,
                    doc_hash=f"{i}{place}",
                    arguments=[[f"{doc['question']} {options}", {"until": []}]],
                )
            )
    path = made.lines(tmp_path / "samples_score_2025-01-01.jsonl", rows)
    _, frame, study_id = brought_in(store, path, "model=m")
    moved = frame[(frame["axis"] == "option_order") & (frame["extractor"] == "exact_match")]
    assert moved["item_id"].nunique() == 8 and moved.groupby("item_id")["variant"].nunique().tolist() == [4] * 8
    assert moved["is_correct"].mean() == 0.25
    (one,) = [one for one in audit(store, study_id).findings if one.about == "SCORE rate" and one.extractor == "exact_match"]
    assert "is 0.625; 0.375 of the pairs" in one.claim.text


@pytest.mark.slow
def test_a_deleted_study_is_imported_anew(tmp_path, store):
    log_survey = survey([made.lm_eval(tmp_path / "run").parent])
    study_id = store_logs(log_survey, store)
    studies.delete_study(store, study_id)
    assert store_logs(log_survey, store) == study_id and len(studies.readouts(store, study_id, everything=True)) == 18


@pytest.mark.slow
def test_the_database_keeps_to_a_bound_of_memory_while_it_imports(tmp_path, store, monkeypatch):
    monkeypatch.setattr("flipcore.store.recorded.BATCH", 4)
    before, limits = memory_limit(store), set()
    store_logs(survey([made.lm_eval(tmp_path / "run").parent]), store, lambda done: limits.add(memory_limit(store)))
    assert limits == {"476.8 MiB"} and memory_limit(store) == before  # LEAST_MB


@pytest.mark.parametrize(("n_rows", "n_extractors", "megabytes"), [(1, 9, 500), (1_000_000, 1, 500), (1_000_000, 3, 1_000)])
def test_the_bound_of_memory_grows_with_calls_and_readouts(n_rows, n_extractors, megabytes):
    assert memory_mb(n_rows, n_extractors) == megabytes


@pytest.mark.slow
def test_an_interrupted_import_says_so_and_goes_on_behind_its_mark(tmp_path, store, monkeypatch):
    monkeypatch.setattr("flipcore.store.recorded.BATCH", 4)
    log_survey = survey([made.lm_eval(tmp_path / "run").parent])

    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store_logs(log_survey, store, interrupt)
    (row,) = studies.studies(store).to_dict("records")
    assert row["state"] == "cancelled" and "Import the same files again" in row["message"]
    study_id = store_logs(log_survey, store)
    assert len(studies.readouts(store, study_id, everything=True)) == 18


@pytest.mark.slow
def test_a_batch_that_cannot_be_stored_leaves_no_mark(tmp_path, store, monkeypatch):
    from flipcore.runs.import_batch import Batch
    from flipcore.store.recorded import import_mark

    log_survey = survey([made.lm_eval(tmp_path / "run").parent])
    whole = Batch.columns
    broken = {"items": pyarrow.table({"item_id": pyarrow.nulls(1, pyarrow.string())})}
    monkeypatch.setattr(Batch, "columns", lambda batch: whole(batch) | broken)
    with pytest.raises(Exception, match="could not be written"):
        store_logs(log_survey, store)
    study_id = study_of(log_survey).study_id
    assert import_mark(store, study_id) == 0 and store.rows("SELECT count(*) FROM readouts") == [(0,)]
    monkeypatch.setattr(Batch, "columns", whole)
    assert len(studies.readouts(store, store_logs(log_survey, store), everything=True)) == 18


@pytest.mark.slow
def test_long_texts_make_smaller_batches(tmp_path, store, monkeypatch):
    monkeypatch.setattr("flipcore.store.recorded.BATCH_CHARS", 50)
    seen = []
    study_id = store_logs(survey([made.lm_eval(tmp_path / "run").parent]), store, lambda done: seen.append(done.n_done))
    assert len(seen) > 1 and len(studies.readouts(store, study_id, everything=True)) == 18


@pytest.mark.slow
def test_an_interrupted_command_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    from contextlib import contextmanager

    from flipcore.commands import import_outputs as import_command
    from flipcore.core import folders

    @contextmanager
    def interrupted():
        stop = threading.Event()
        stop.set()
        yield stop

    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.setattr("flipcore.store.recorded.BATCH", 4)
    folder = str(made.lm_eval(tmp_path / "run").parent)
    folders.admit(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(import_command, "interruptible", interrupted)
        assert command.main(["import", folder, "--map", "model=m"]) == 130
    assert "Import stopped after 4 of 12 rows. Import the same files again to go on." in capsys.readouterr().out
    assert command.main(["import", folder, "--map", "model=m"]) == 0 and "Stored as" in capsys.readouterr().out


def test_a_file_that_changed_since_it_was_looked_at_is_not_stored(tmp_path, store):
    made.lm_eval(tmp_path / "run")
    log_survey = survey([tmp_path / "run"])
    path = log_survey.files[0].source.path
    path.write_text(path.read_text(encoding="utf-8").replace("doc_id", "doc_id ", 1), encoding="utf-8")
    with pytest.raises(BadInput, match="changed since it was looked at"):
        store_logs(log_survey, store)
    assert store.rows("SELECT count(*) FROM studies") == [(0,)]


# What an import recognises, and what it says of files that are no log.


def test_what_is_no_log_gets_a_sentence(tmp_path):
    pointer = tmp_path / "samples_x.jsonl"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n")
    with pytest.raises(BadInput, match="git-LFS pointer"):
        survey([pointer])
    rows = made.lm_eval(tmp_path / "run")
    cut = rows.read_text().rstrip()[:-40]
    rows.write_text(cut)
    found = survey([rows], corrections_of(["model=m"]))
    assert found.n_records == 11 and found.n_refused == 1 and found.refusals[0].startswith("Line 12 of ")
    with pytest.raises(BadInput, match="no file or folder"):
        survey([tmp_path / "nowhere"])


@pytest.mark.parametrize("shuffle, is_noted", [(True, True), (0, False), (False, False), (None, False)])
def test_a_log_whose_options_were_shuffled_says_what_is_lost(tmp_path, shuffle, is_noted):
    header = made.inspect_header(1, 1)
    header["plan"]["steps"] = [{"solver": "multiple_choice", "params": {"shuffle": shuffle}}]
    log = made.inspect_eval(tmp_path / "a.eval", [made.inspect_sample(1)], header)
    assert any("shuffle=True" in sentence for sentence in survey([log]).sentences()) == is_noted


@pytest.mark.parametrize(
    ("kinds", "mathematics", "names"),
    [
        pytest.param({"a": "choice"}, (), ("text", "words"), id="letters alone"),
        pytest.param({"m": "text"}, ("m",), ("text", "maths"), id="formulas alone"),
        pytest.param({"a": "choice", "m": "text"}, ("m",), ("text", "maths"), id="letters, formulas"),
        pytest.param({"w": "text", "m": "text"}, ("m",), ("text", "words", "maths"), id="words, formulas"),
    ],
)
def test_texts_are_read_by_what_their_tasks_need(kinds, mathematics, names):
    found = SimpleNamespace(kinds=kinds, mathematics=frozenset(mathematics), has_text=True)
    by_name = {"text": log_import.READ_TEXT, "words": log_import.READ_WORDS, "maths": log_import.READ_MATH}
    assert log_import._our_text_extractors(found) == tuple(by_name[name] for name in names)


def test_an_import_goes_batch_by_batch_and_says_which_rows_it_refused(tmp_path, store, monkeypatch):
    monkeypatch.setattr("flipcore.store.recorded.BATCH", 4)
    path = made.lm_eval(tmp_path / "run", n=3)
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"doc_id": 9}\n')
    progress = []
    study_id = store_logs(survey([path.parent]), store, lambda now: progress.append((now.n_done, now.n_all, now.message)))
    assert progress == [(4, 7, ""), (7, 7, "")]
    state, message = log_import.recorded.import_state(store, study_id)
    assert state == "done" and message.startswith(
        "Imported: 6 rows of 1 file. 1 row was refused; the first: Line 7 of run/samples_"
    )
    assert message.endswith(" Read again, all 3 outputs are stored as written.")


@pytest.mark.parametrize(
    ("score", "scale"), [(1.0, {}), (0.0, {}), (1.5, {"low": 0.0, "high": 1.5}), (-0.5, {"low": -0.5, "high": 1.0})]
)
def test_a_scale_is_declared_only_beyond_0_to_1(tmp_path, score, scale):
    rows = [made.lm_eval_row(i, "2", "2", value) for i, value in enumerate((0.0, 1.0, score))]
    study = study_of(survey([made.lines(tmp_path / "samples_x.jsonl", rows)], {"model": "m"}))
    assert study.items[0].options["scorers"] == [{"task": "x", "scorer": "strict-match", "reducer": "mean", **scale}]


@pytest.mark.parametrize(("score", "is_grade"), [(1.0, False), (0.0, False), (1.5, True), (-0.5, True), (-0.5 - 1e-9, True)])
def test_scores_beyond_0_to_1_are_grades(tmp_path, score, is_grade):
    rows = [made.lm_eval_row(i, "2", "2", value) for i, value in enumerate((0.0, 1.0, score))]
    found = survey([made.lines(tmp_path / "samples_x.jsonl", rows)], {"model": "m"})
    assert log_import._joining(found).grades == ({("x", "strict-match")} if is_grade else set())


def test_corrections_of_axes_and_roles_are_those_of_the_rows(tmp_path):
    rows = [made.lm_eval_row(i, "2", "2", 1.0) for i in range(3)]
    path = made.lines(tmp_path / "samples_x.jsonl", rows)
    words = ["axis:tone=politeness", "harmless:politeness=yes", "harmless:order=no"]

    def joining(*more):
        found = survey([path], {"model": "m"})
        found.corrections = dict(word.split("=") for word in (*words, *more))
        return log_import._joining(found)

    assert joining().axes == {"tone": "politeness"} and joining().harmless == {"politeness": True, "order": False}
    assert joining().roles == {} and joining("role=control").roles == {"x": "control"}
    assert joining("role:x=target", "role=control").roles == {"x": "target"}


@pytest.mark.parametrize(
    ("sampling", "kept"),
    [
        ({}, (0.0, 256, 1.0)),
        ({"temperature": 0.5, "max_tokens": 1, "top_p": 0}, (0.5, 1, 0.0)),
        ({"temperature": -0.5, "max_tokens": 0, "top_p": -0.1}, (0.0, 256, 1.0)),
        ({"temperature": "hot", "max_tokens": None, "top_p": 0.9}, (0.0, 256, 0.9)),
    ],
)
def test_a_model_is_declared_with_the_settings_of_its_log(sampling, kept):
    use = log_import._use("m", sampling, 3)
    assert (use.temperature, use.max_tokens, use.top_p, use.n_samples) == (*kept, 3)


def test_what_was_corrected_of_a_table_is_declared_but_not_what_names_the_study(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("question,prediction,answer\n" + "\n".join(f"What is {n}?,{n},{n}" for n in range(20)))
    declared = study_of(survey([path], corrections_of(["kind=text", "name=Mine", "format=table"], of_tables=True)))
    (source,) = declared.items
    assert source.columns["kind"] == "text" and not {"name", "format"} & {*source.columns} and declared.name == "Mine"


def test_a_declared_pair_leads_from_the_benchmark_item_to_its_control():
    pairs = log_import._DeclaredPairs()
    for pair, role, item_id in [
        ("p", "control", "c"),
        ("p", "benchmark", "b"),
        ("p", "benchmark", "later"),
        ("q", "benchmark", "x"),
    ]:
        pairs.add(SimpleNamespace(pair=pair, role=role, item=SimpleNamespace(item_id=item_id)))
    pairs.add(SimpleNamespace(pair="", role="control", item=SimpleNamespace(item_id="alone")))
    assert pairs.control_of == {"b": "c"}


@pytest.mark.parametrize(
    ("word", "names"), [(None, ()), ("", ()), (" m , n,", ("m", "n")), ("n", ("n",)), ("m,other", None), ("other", None)]
)
def test_reference_models_are_models_of_the_logs(word, names):
    found = SimpleNamespace(corrections={} if word is None else {"reference": word}, models={"m": {}, "n": {}})
    if names is None:
        with pytest.raises(BadInput, match=r"is none of the models: m, n\."):
            log_import._references(found)
    else:
        assert log_import._references(found) == names


def test_facts_that_came_with_a_later_release_are_remarks():
    later, *_ = log_import.LATER_FACTS
    found = SimpleNamespace(facts=[("rows doubled", "Twice."), (later, "Odd."), ("rows missing", "One.")])
    assert log_import._fact_options(found) == {
        "facts": [{"about": "rows doubled", "sentence": "Twice."}, {"about": "rows missing", "sentence": "One."}],
        log_import.REMARKS: [{"about": later, "sentence": "Odd."}],
    }
    assert log_import._fact_options(SimpleNamespace(facts=[])) == {}


@pytest.mark.parametrize("is_whole", [True, False])
def test_scores_are_read_only_where_the_rows_alone_tell_them(monkeypatch, is_whole):
    monkeypatch.setattr(log_import, "_own_names", lambda found: ["regex"])
    read = SimpleNamespace(is_whole=is_whole, scores=lambda found, name: [name("regex"), name("acc")])
    assert log_import.scores_read(None, read) == (["regex (log)", "acc"] if is_whole else [])


def test_scorers_stand_as_reported_with_their_scales(monkeypatch):
    """A score without rows is shown as reported; one that is left out is not; grades have a scale."""
    monkeypatch.setattr(log_import, "_own_names", lambda logs: ["regex"])
    monkeypatch.setattr(log_import, "_left_out", lambda logs: {"left"})
    scales = {"acc": (0.0, 1.0), "regex": (0.0, 5.0), "loss": (-2.0, 0.0), "left": (0.0, 1.0), "declared": (0.0, 10.0)}
    logs = SimpleNamespace(
        kinds={"t": "text"},
        scales={"t": scales},
        reported=[
            SimpleNamespace(task="t", readout="f1", reducer=None),
            SimpleNamespace(task="t", readout="acc", reducer="max"),
            SimpleNamespace(task="other", readout="bleu", reducer=None),
        ],
        readouts_in_rows={("t", name) for name in scales},
        scale=lambda task, name: scales.get(name, (0.0, 1.0)),
        declared_scale=lambda name: "0-10" if name == "declared" else "",
    )
    assert log_import._scorers(logs) == [
        {"task": "t", "scorer": "f1", "reducer": "mean", "of_rows": False},
        {"task": "t", "scorer": "acc", "reducer": "max"},
        {"task": "t", "scorer": "regex (log)", "reducer": "mean", "low": 0.0, "high": 5.0},
        {"task": "t", "scorer": "loss", "reducer": "mean", "low": -2.0, "high": 0.0},
        {"task": "t", "scorer": "declared", "reducer": "mean", "low": 0.0, "high": 10.0, "is_declared": True},
    ]
    logs.scales = {}
    logs.reported = [SimpleNamespace(task="t", readout="acc", reducer=None)]
    assert log_import._scorers(logs) == []  # no row has a score
    logs.reported = [SimpleNamespace(task="t", readout="bleu", reducer=None)]
    assert [scorer["scorer"] for scorer in log_import._scorers(logs)] == ["bleu"]  # of all rows together


@pytest.mark.parametrize(("n_before", "rows"), [(0, ["a", None, "c", None]), (1, [None, None, "c", None]), (3, [None] * 4)])
@pytest.mark.parametrize("is_reread", [False, True])
def test_an_import_goes_on_behind_the_rows_that_it_stored(monkeypatch, n_before, rows, is_reread):
    """The second row cannot become an item, the fourth was refused by its reader, and then the file breaks off."""

    def records(number):
        for name in "abc":
            yield SimpleNamespace(name=name, model="m", place=f"a.json:{name}")
        yield "a refusal"
        raise BadInput("It breaks off.")

    def entry(record, number, revision, model):
        if record.name == "b":
            raise BadInput("It has no answer.")
        return record.name

    def wrong(number):
        pytest.fail("The other way of reading was taken.")

    monkeypatch.setattr(log_import, "LogRecord", SimpleNamespace)
    monkeypatch.setattr(log_import, "_joining", lambda logs: None)
    monkeypatch.setattr(log_import, "Builder", lambda *parts: SimpleNamespace(entry=entry))
    file = SimpleNamespace(revision="r", model_of=lambda corrections, model: model)
    readers = {"reread": records, "records_of": wrong} if is_reread else {"reread": wrong, "records_of": records}
    logs = SimpleNamespace(corrections={}, files=[file], placed=None, **readers)
    refusals = SimpleNamespace(sentences=[])
    refusals.add = refusals.sentences.append
    assert list(log_import._log_rows(logs, None, n_before, refusals, is_reread=is_reread)) == rows
    assert refusals.sentences == ["a.json:b It has no answer."]


class Job:
    """An import of batches that end at these rows, of which it is stopped at one, and what it stores and reports."""

    def __init__(self, monkeypatch, ends, *, n_before=0, n_all=9, stopped_at=None):
        self.n_before, self.n_all, self.stopped_at = n_before, n_all, stopped_at
        self.n_outputs, self.reported, self.stored, self.cancelled, self.touched = 0, [], [], [], []
        self.survey = SimpleNamespace(is_plain=False)
        self.store, self.study = SimpleNamespace(touch=self.touched.extend), SimpleNamespace(study_id="s")
        self.sums = SimpleNamespace(add=lambda columns, n_calls, n_sources: None)
        batch = SimpleNamespace(columns=dict, n_calls=1, n_sources=1, n_outputs=2)
        monkeypatch.setattr(log_import, "_batches", lambda job: [(end, batch) for end in ends])

        def store_columns(store, study_id, columns, n_seen, *, has_own_order):
            self.stored.append(n_seen)
            return SimpleNamespace(result=lambda: None)

        monkeypatch.setattr(log_import.recorded, "store_columns", store_columns)

    @property
    def is_stopped(self):
        return self.reported[-1] == self.stopped_at

    def report(self, n_seen):
        self.reported.append(n_seen)

    def cancel(self, n_seen, waiting=None):
        self.cancelled.append(n_seen)


@pytest.mark.parametrize(
    ("ends", "how", "stored", "cancelled"),
    [
        ([3, 6, 9], {}, [3, 6, 9], []),
        ([3, 6, 9, 9], {}, [3, 6, 9], []),  # the last full batch held all rows
        ([3, 6, 9], {"n_before": 3}, [6, 9], []),
        ([3, 6, 9], {"stopped_at": 6}, [3, 6], [6]),
        ([3, 6, 9], {"stopped_at": 3, "n_before": 6}, [], [6]),  # what an earlier import stored stays
        ([3, 6, 9], {"stopped_at": 9}, [3, 6, 9], []),  # nothing is left to be stopped
    ],
)
def test_an_import_stores_batch_by_batch_until_it_is_stopped(monkeypatch, ends, how, stored, cancelled):
    job = Job(monkeypatch, ends, **how)
    assert log_import._store_all(job) is (not cancelled)
    assert job.stored == stored and job.cancelled == cancelled and job.n_outputs == 2 * len(stored)
    assert job.touched == (["s"] if not cancelled else [])


def test_the_second_reading_is_of_the_files_and_not_of_what_the_first_one_kept(tmp_path, store, monkeypatch):
    """A fault in keeping records would compare equal with itself."""
    logs = survey([made.lm_eval(tmp_path / "run", n=2).parent])
    reread = logs.reread

    def with_another_text(number):
        for record in reread(number):
            record.text = f"{record.text} And more."
            yield record

    monkeypatch.setattr(logs, "reread", with_another_text)
    monkeypatch.setattr(log_import.recorded.Sums, "agree", lambda *_: False)
    study_id = store_logs(logs, store)
    (message,) = store.frame("SELECT message FROM studies WHERE study_id = $study_id", study_id=study_id)["message"]
    assert "4 rows are not stored as the files hold them" in message
