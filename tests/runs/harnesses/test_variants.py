"""Planned prompts go out to another harness, and what it wrote comes back as the same study, readout by readout."""

import json

import pytest

from flipcore.__main__ import parser
from flipcore.core.errors import BadInput
from flipcore.core.paths import ROOT
from flipcore.core.study import ItemSource, ModelUse, OwnPrompt, Part, Study
from flipcore.reports.locks import locked
from flipcore.runs import runner
from flipcore.runs.harnesses.import_answers import store_survey
from flipcore.runs.harnesses.writing import HARNESSES, write_variants, zipped_variants
from flipcore.runs.log_survey import survey
from flipcore.runs.plan import plan
from flipcore.runs.rereading import reread
from flipcore.store.archiving import problems
from flipcore.store.connection import Store
from flipcore.store.merge import merge
from flipcore.store.queries import locks, studies
from tests.datasets.recorded import harness_files as written

pytestmark = pytest.mark.usefixtures("allowed_folders")


def study_of(**changes):
    declared = dict(
        name="asked elsewhere",
        items=(ItemSource("flipscope_choice", n=5), ItemSource("flipscope_problems", n=3)),
        axes=(Part("identity"), Part("option_order", {"n": 3})),
        extractors=(Part("regex"), Part("pattern", {"expression": r"\(?([A-D])\)?|(\d+)", "group": "0"})),
        models=(ModelUse("simulated-artifact-prone", max_tokens=64),),
    )
    return Study(**declared | changes)


@pytest.fixture
def stores(tmp_path):
    opened = [Store.open(tmp_path / name / "flips.duckdb") for name in ("own", "other")]
    yield opened
    for store in opened:
        store.close()


def answers(store):
    """(prompt, sample) -> text and how it ended, as the study's own run got them."""
    rows = store.rows("SELECT request->>'$.prompt', sample, text, finish_reason FROM completions")
    return {(prompt, sample): (text, ended) for prompt, sample, text, ended in rows}


def answered(folder, texts):
    """The JSONL with each answer put in, as any program would."""
    lines = []
    for line in (folder / "prompts.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        row["response"], row["finish_reason"] = texts[row["messages"][-1]["content"], row["metadata"]["flipscope_sample"]]
        lines.append(row)
    return lines


def readings(store, study_id):
    frame = studies.readouts(store, study_id, everything=True)
    columns = ["item_id", "axis", "variant", "sample", "extractor", "status", "answer", "is_correct"]
    return frame[columns].sort_values(columns[:5]).reset_index(drop=True)


@pytest.mark.slow
def test_answers_from_elsewhere_give_the_readouts_of_an_own_run(tmp_path, stores):
    own, other = stores
    study = study_of()
    assert runner.run(study, own).state == "done"
    wrote = write_variants(other, study, "jsonl", tmp_path / "out")
    rows = answered(tmp_path / "out", answers(own))
    assert len(rows) == wrote.n_prompts == 5 * (3 + 1) + 3 * 2
    path = written.lines(tmp_path / "out" / "answers.jsonl", rows)
    found = survey([path])
    assert found.marks == {study.study_id: len(rows)} and found.n_refused == 0
    assert store_survey(found, other) == study.study_id
    assert readings(other, study.study_id).equals(readings(own, study.study_id))
    (row,) = studies.studies(other).to_dict("records")
    assert row["state"] == "done" and "26 of 26 prompts are answered" in row["message"]
    before = other.rows("SELECT count(*) FROM completions")
    store_survey(survey([path]), other)
    assert other.rows("SELECT count(*) FROM completions") == before


@pytest.mark.slow
def test_an_inspect_log_and_an_lm_eval_log_carry_the_marks_back(tmp_path, stores):
    own, other = stores
    study = study_of(name="both harnesses")
    runner.run(study, own)
    texts = answers(own)
    write_variants(other, study, "inspect", tmp_path / "i")
    samples = []
    for line in (tmp_path / "i" / "dataset.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text, ended = texts[row["input"], row["flipscope_sample"]]
        message = {"role": "assistant", "content": text}
        marks = {key: value for key, value in row.items() if key.startswith("flipscope_")}
        samples.append(
            written.inspect_sample(row["id"], text=text, input=row["input"], target=row["target"], metadata=marks)
            | {"choices": None, "attachments": {}, "messages": [{"role": "user", "content": row["input"]}, message]}
            | {"output": {"choices": [{"message": message, "stop_reason": ended}]}}
        )
    header = written.inspect_header(0, len(samples))
    header["plan"]["config"]["temperature"] = 0.0
    log = written.inspect_eval(tmp_path / "planned.eval", samples, header)
    store_survey(survey([log]), other)
    assert readings(other, study.study_id).equals(readings(own, study.study_id))
    write_variants(other, study, "lm-eval", tmp_path / "l")
    rows = []
    for number, line in enumerate((tmp_path / "l" / "dataset.jsonl").read_text(encoding="utf-8").splitlines()):
        doc = json.loads(line)
        text = texts[doc["prompt"], doc["flipscope_sample"]][0]
        arguments = [[doc["prompt"], {"until": [], "temperature": 0.0}]]
        rows.append(written.lm_eval_row(number, text, text, False, "none", doc=doc, target=doc["target"], arguments=arguments))
    path = written.lines(tmp_path / "samples_flipscope_variants_2025-01-01.jsonl", rows)
    with pytest.raises(BadInput, match="holds answers of simulated-artifact-prone from elsewhere"):
        store_survey(survey([path]), other)
    with pytest.raises(BadInput, match="not in this database"):
        store_survey(survey([path]), Store.open(tmp_path / "third" / "flips.duckdb"))


@pytest.mark.slow
def test_items_that_are_set_aside_are_in_no_file_before_a_lock(tmp_path, stores):
    own, _ = stores
    study = study_of(name="half aside", confirmatory_share=0.5)
    hidden = [one.item for one in plan(study, own).items if one.confirmatory]
    assert hidden
    for harness in ("inspect", "lm-eval", "jsonl"):
        wrote = write_variants(own, study, harness, tmp_path / harness)
        text = "".join(path.read_text(encoding="utf-8") for path in wrote.files)
        assert f"{len(hidden):,} items are set aside" in wrote.sentence
        assert not any(item.item_id in text or json.dumps(item.question)[1:-1] in text for item in hidden)
    runner.run(study, own)  # a lock fixes readouts, so it is refused before the study has ended
    locks.keep_lock(own, study.study_id, "decomposition", {"level": 0.95}, "somebody")
    text = write_variants(own, study, "jsonl", tmp_path / "locked").files[0].read_text(encoding="utf-8")
    assert all(json.dumps(item.question)[1:-1] in text for item in hidden)


@pytest.mark.slow
def test_a_lock_before_the_first_answer_counts_what_comes_first_and_shows_it_when_all_of_it_is_there(tmp_path, stores):
    own, other = stores
    study = study_of(name="locked first", confirmatory_share=0.5)
    runner.run(study, own)
    texts = answers(own)
    write_variants(other, study, "jsonl", tmp_path / "open")
    lock = locks.keep_lock(other, study.study_id, "decomposition", {"level": 0.95}, "Ada")  # while it is planned
    write_variants(other, study, "jsonl", tmp_path / "all")
    rows = answered(tmp_path / "all", texts)

    def comes_in(rows):
        store_survey(survey([written.lines(tmp_path / "answers.jsonl", rows)]), other)
        return locked(other, study.study_id, "decomposition")

    missing = next(one.item.question for one in plan(study, other).items if one.confirmatory)
    comes_in([row for row in rows if missing not in row["messages"][-1]["content"]])
    with pytest.raises(BadInput, match=r"Locked before the first answer: \d of \d answers are here"):
        locks.sight(other, study.study_id, lock)
    claim = comes_in(rows)
    assert (
        claim.is_made and "stored before any answer of these models to them was here" in claim.text
    )  # not: before any was asked
    assert "Nothing has changed since" in claim.detail
    before = studies.readouts(other, study.study_id, lock=lock).astype(str).to_csv()
    own_lock = locks.keep_lock(own, study.study_id, "decomposition", {"level": 0.95}, "Ada")
    assert before == studies.readouts(own, study.study_id, lock=own_lock).astype(str).to_csv()
    reread(other, study.study_id, "pattern", {"expression": r"([A-Z])"})
    assert before == studies.readouts(other, study.study_id, lock=lock).astype(str).to_csv()
    assert "came after the lock" in locked(other, study.study_id, "decomposition").detail
    assert problems(other) == []


@pytest.mark.slow
def test_what_was_set_aside_comes_in_a_log_of_its_own_after_the_open_items_were_looked_at(tmp_path, stores):
    own, other = stores
    study = study_of(name="open first", confirmatory_share=0.5)
    runner.run(study, own)
    for folder in ("open", "all"):
        write_variants(other, study, "jsonl", tmp_path / folder)
        rows = answered(tmp_path / folder, answers(own))
        store_survey(survey([written.lines(tmp_path / folder / "answers.jsonl", rows)]), other)
        if folder == "open":
            lock = locks.keep_lock(other, study.study_id, "decomposition", {"level": 0.95}, "Ada")
    (row,) = studies.studies(other).to_dict("records")
    assert row["state"] == "done" and "26 of 26 prompts are answered" in row["message"]
    assert "items keep the answers of an earlier log" in row["message"]
    assert locked(other, study.study_id, "decomposition").is_made
    n_aside = sum(one.confirmatory for one in plan(study, own).items)
    assert studies.readouts(other, study.study_id, lock=lock)["item_id"].nunique() == n_aside


@pytest.mark.slow
def test_answers_from_elsewhere_do_not_join_those_that_were_asked_from_here(tmp_path, stores):
    own, other = stores
    study = study_of(name="two deployments")
    for store in stores:
        runner.run(study, store)
    write_variants(own, study, "jsonl", tmp_path / "out")
    item = plan(study, own).items[0].item
    rows = [row for row in answered(tmp_path / "out", answers(own)) if item.question in row["messages"][-1]["content"]]
    assert rows

    def forget(connection):
        for table in ("readouts", "readout_sources"):
            connection.execute(f"DELETE FROM {table} WHERE item_id = $item", {"item": item.item_id})

    other.writer.transact(forget).result(10)  # as if the run had been cancelled before this item
    with pytest.raises(BadInput, match="holds answers of simulated-artifact-prone from elsewhere already"):
        store_survey(survey([written.lines(tmp_path / "answers.jsonl", rows)]), other)


@pytest.mark.slow
def test_answers_that_are_older_than_a_lock_take_its_word_away(tmp_path, stores):
    own, other = stores
    study = study_of(name="answered before", confirmatory_share=0.5)
    runner.run(study, own)
    own.close()
    write_variants(other, study, "jsonl", tmp_path / "open")
    locks.keep_lock(other, study.study_id, "decomposition", {"level": 0.95}, "Ada")
    merge([own.path], other)
    claim = locked(other, study.study_id, "decomposition")
    assert not claim.is_made and "older than this lock" in claim.text + claim.detail


@pytest.mark.slow
def test_an_answer_to_another_prompt_or_temperature_is_refused(tmp_path, stores):
    own, other = stores
    study = study_of(name="misfits")
    runner.run(study, own)
    write_variants(other, study, "jsonl", tmp_path)
    rows = answered(tmp_path, answers(own))
    rows[0]["messages"][-1]["content"] += " Think step by step."
    rows[1]["temperature"] = 0.7
    rows[2]["metadata"]["flipscope_sample"] = 9
    rows += [dict(rows[3])]
    rows[4]["finish_reason"] = None
    store_survey(survey([written.lines(tmp_path / "a.jsonl", rows)]), other)
    (row,) = studies.studies(other).to_dict("records")
    assert row["state"] == "incomplete"
    assert "23 of 26 prompts are answered" in row["message"] and "Refused: 3. The first: Line 1 " in row["message"]
    assert "1 further answers" in row["message"]
    assert (
        "does not say how answers ended" in row["message"]
    )  # as lm-eval's logs, so that a cut answer is read like a whole one
    assert set(readings(other, study.study_id)["status"]) >= {"ok", "absent"}


@pytest.mark.slow
def test_examples_as_turns_go_out_as_messages_and_come_back_as_the_same_prompt(tmp_path, stores):
    own, other = stores
    prompt = OwnPrompt(template="{{ question }}\n{{ choices }}\nReply:", n_examples=2, as_turns=True)
    study = study_of(name="turns", items=(ItemSource("flipscope_choice", n=5),), prompt=prompt)
    runner.run(study, own)
    write_variants(other, study, "jsonl", tmp_path / "out")
    texts, rows = answers(own), []
    for line in (tmp_path / "out" / "prompts.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        assert [one["role"] for one in row["messages"]] == ["user", "assistant", "user", "assistant", "user"]
        whole = "".join(one["content"] for one in row["messages"])
        row["response"], row["finish_reason"] = texts[whole, row["metadata"]["flipscope_sample"]]
        rows.append(row)
    store_survey(survey([written.lines(tmp_path / "answers.jsonl", rows)]), other)
    assert readings(other, study.study_id).equals(readings(own, study.study_id))
    with pytest.raises(BadInput, match="lm-eval would send each prompt as one message"):
        write_variants(other, study, "lm-eval", tmp_path / "l")


@pytest.mark.slow
def test_an_inspect_log_of_turns_comes_back_with_its_failed_call(tmp_path, stores):
    _, other = stores
    prompt = OwnPrompt(template="{{ question }}\n{{ choices }}\nReply:", n_examples=2, as_turns=True)
    study = study_of(name="turns", items=(ItemSource("flipscope_choice", n=5),), prompt=prompt)
    write_variants(other, study, "inspect", tmp_path / "i")
    samples = []
    for number, line in enumerate((tmp_path / "i" / "dataset.jsonl").read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        marks = {key: value for key, value in row.items() if key.startswith("flipscope_")}
        message = {"role": "assistant", "content": "A"}
        sample = written.inspect_sample(row["id"], text="A", input=row["input"], target=row["target"], metadata=marks)
        sample |= {"choices": None, "attachments": {}, "messages": [*row["input"], message]}
        sample |= {"output": {"choices": [{"message": message, "stop_reason": "stop"}]}}
        if number == 0:  # no answer: the last message of an assistant is an example's
            sample |= {"messages": row["input"], "output": {"choices": [], "completion": ""}, "error": {"message": "offline"}}
        samples.append(sample)
    header = written.inspect_header(0, len(samples))
    header["plan"]["config"]["temperature"] = 0.0
    store_survey(survey([written.inspect_eval(tmp_path / "planned.eval", samples, header)]), other)
    row = studies.studies(other).iloc[0]
    assert row["state"] == "incomplete" and "1 failed." in row["message"] and "Refused" not in row["message"]


def test_what_cannot_be_written_out_gets_a_sentence(tmp_path, stores):
    own, _ = stores
    with pytest.raises(BadInput, match="Add the extractor regex"):
        write_variants(own, study_of(extractors=(Part("first_token"),)), "jsonl", tmp_path)
    with pytest.raises(BadInput, match="was imported, so it planned no prompts"):
        write_variants(own, study_of(protocol=Part("recorded")), "jsonl", tmp_path)
    with pytest.raises(BadInput, match="Use single_shot"):
        write_variants(own, study_of(protocol=Part("rotation")), "jsonl", tmp_path)
    two = study_of(models=(ModelUse("simulated-clean"), ModelUse("simulated-noisy")))
    with pytest.raises(BadInput, match="choose one of simulated-clean, simulated-noisy with --model"):
        write_variants(own, two, "jsonl", tmp_path)
    packed, sentence = zipped_variants(own, two, "inspect", "simulated-noisy")
    assert packed[:2] == b"PK" and "prompts on 8 items for simulated-noisy" in sentence


def test_the_folder_that_the_command_line_writes_by_default_is_ignored_by_git():
    folder = parser().parse_args(["variants", "x", "--for", HARNESSES[0]]).folder
    assert f"/{folder}/" in (ROOT / ".gitignore").read_text().splitlines()
