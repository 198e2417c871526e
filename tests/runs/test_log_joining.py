"""Which rows of several logs are one item: by hash, by id where the text agrees, else by text; never by file name or order."""

import json

import pytest

from flipcore.core.errors import BadInput
from flipcore.reports.audit import audit
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.queries import studies
from tests.datasets.recorded import harness_files as written

pytestmark = pytest.mark.usefixtures("allowed_folders")


def inspect_log(path, model, samples):
    """An Inspect log of (id, question, options, letter of the right answer, letter answered)."""
    rows = [
        written.inspect_sample(
            key, text=f"ANSWER: {answer}", value="C" if answer == right else "I", input=question, choices=options, target=right
        )
        | {"attachments": {}, "messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}
        | {"scores": {"choice": {"value": "C" if answer == right else "I", "answer": answer}}}
        for key, question, options, right, answer in samples
    ]
    header = written.inspect_header(sum(row["scores"]["choice"]["value"] == "C" for row in rows) / len(rows), len(rows))
    header["eval"]["model"] = model
    return written.inspect_eval(path, rows, header)


def question(k):
    return f"Which tree is number {k}?"


def options(k):
    return [f"oak {k}", f"tin {k}", f"ash {k}"]


def imported(store, paths, *words):
    log_survey = survey(paths, corrections_of(words))
    study_id = store_logs(log_survey, store)
    return log_survey, studies.readouts(store, study_id, everything=True), study_id


@pytest.mark.slow
def test_logs_in_another_order_and_with_a_part_in_common_meet_by_text(tmp_path, store):
    one = inspect_log(tmp_path / "a.eval", "m-1", [(k, question(k), options(k), "A", "A") for k in range(1, 7)])
    other = [(place, f" {question(k).upper()}", options(k), "A", "B") for place, k in enumerate((8, 6, 5, 7, 3), start=1)]
    two = inspect_log(tmp_path / "b.eval", "m-2", other)
    log_survey, frame, study_id = imported(store, [one, two])
    assert frame["item_id"].nunique() == 8
    questions = dict(store.rows("SELECT item_id, question FROM items"))
    for model, rights in (("m-1", {True}), ("m-2", {False})):
        part = frame[(frame["model"] == model) & (frame["extractor"] == "choice")]
        assert set(part["is_correct"]) == rights and part["item_id"].is_unique
    both = frame.groupby("item_id")["model"].nunique()
    assert {questions[item] for item in both.index[both == 2]} == {question(k) for k in (3, 5, 6)}
    said = " ".join(log_survey.sentences())
    assert "5 ids stand for another text than before" in said and "id 1 of woods" in said and "join=id" in said
    assert "3 items have other ids in another file: joined by text" in said
    pairs = [one for one in audit(store, study_id).findings if one.about == "two logs"]
    (claim,) = [one.claim for one in pairs if one.extractor == "choice"]
    # the log's own scorer is the reference, so this is what Ranking says; it was described while a text reading was
    assert "on 3 items" in claim.text and claim.outcome == "not separated"


@pytest.mark.slow
def test_a_user_can_say_that_the_ids_are_right_or_that_only_texts_count(tmp_path, store):
    one = inspect_log(tmp_path / "a.eval", "m-1", [(k, question(k), options(0), "A", "A") for k in (1, 2)])
    two = inspect_log(tmp_path / "b.eval", "m-2", [(k, question(k) + " Think.", options(0), "A", "A") for k in (1, 2)])
    assert imported(store, [one, two])[1]["item_id"].nunique() == 4
    log_survey, frame, _ = imported(store, [one, two], "join=id")
    assert frame["item_id"].nunique() == 2 and not log_survey.joining
    twice = inspect_log(tmp_path / "c.eval", "m-1", [(k, question(1), options(0), "A", "A") for k in (1, 2)])
    assert imported(store, [twice])[1]["item_id"].nunique() == 2
    assert imported(store, [twice], "join=text")[1]["item_id"].nunique() == 1


def test_options_that_another_log_lists_in_another_order_are_the_same_options(tmp_path, store):
    one = inspect_log(tmp_path / "a.eval", "m-1", [(1, question(1), ["oak", "tin", "ash"], "A", "C")])
    two = inspect_log(tmp_path / "b.eval", "m-2", [(9, question(1), ["ash", "oak", "tin"], "B", "A")])
    _, frame, _ = imported(store, [one, two])
    part = frame[frame["extractor"] == "choice"]
    assert part["item_id"].nunique() == 1 and set(part["answer"]) == {"2"} and set(part["is_correct"]) == {False}
    assert store.rows("SELECT options, target FROM items") == [(["oak", "tin", "ash"], "0")]
    assert store.rows("SELECT DISTINCT target FROM variants") == [("0",)]


@pytest.mark.slow
def test_right_answers_that_contradict_each_other_stay_two_items_and_are_said(tmp_path, store):
    one = inspect_log(tmp_path / "a.eval", "m-1", [(1, question(1), options(1), "A", "A")])
    two = inspect_log(tmp_path / "b.eval", "m-2", [(1, question(1), options(1), "B", "A")])
    _, frame, study_id = imported(store, [one, two])
    assert frame["item_id"].nunique() == 2
    assert any(one.about == "contradicting golds" for one in audit(store, study_id).findings)


@pytest.mark.slow
def test_a_question_that_a_log_holds_twice_is_two_items_in_either_order(tmp_path, store):
    rows = [
        (1, question(1), options(1), "A", "A"),
        (2, question(2), options(2), "A", "A"),
        (9, question(1), options(1), "A", "B"),
    ]
    one, two = inspect_log(tmp_path / "a.eval", "m-1", rows), inspect_log(tmp_path / "b.eval", "m-2", rows[::-1])
    _, frame, study_id = imported(store, [one, two])
    part = frame[frame["extractor"] == "choice"].pivot(index="item_id", columns="model", values="answer")
    assert len(part) == 3 and (part["m-1"] == part["m-2"]).all()  # by id, although both texts fit
    assert any(one.about == "repeated items" for one in audit(store, study_id).findings)


@pytest.mark.slow
def test_two_harnesses_meet_on_the_same_questions(tmp_path, store):
    written.lm_eval(tmp_path / "run", n=6)
    rows = [
        written.inspect_sample(f"q{i}", text=str(2 * i), value="C", input=f"What is {i} + {i}?", target=str(2 * i))
        for i in (4, 2)
    ]
    for row in rows:
        row |= {
            "choices": None,
            "attachments": {},
            "messages": [],
            "scores": {"choice": {"value": "C", "answer": row["target"]}},
        }
    log = written.inspect_eval(tmp_path / "i.eval", rows, written.inspect_header(1, 2))
    log_survey, frame, study_id = imported(store, [tmp_path / "run", log])
    assert frame["item_id"].nunique() == 6 and frame.groupby("item_id")["model"].nunique().value_counts().to_dict() == {
        1: 4,
        2: 2,
    }
    assert not [one for one in audit(store, study_id).findings if one.about == "reported score"]


def passages(n_items, n_passages):
    return [
        written.lm_eval_row(
            i,
            "2",
            "2",
            True,
            "none",
            doc={"question": f"{i}?", "passage": f"{i % n_passages} " * 60, "subject": f"s{i % 3}"},
            doc_hash="",
        )
        for i in range(n_items)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "n_passages, words, n_clusters",
    [(12, (), 12), (4, (), 24), (24, (), 24), (12, ("cluster=none",), 24), (12, ("cluster=subject",), 3)],
)
def test_items_on_one_passage_are_one_cluster(tmp_path, store, n_passages, words, n_clusters):
    path = written.lines(tmp_path / "samples_read_2025-01-01.jsonl", passages(24, n_passages))
    log_survey, frame, study_id = imported(store, [path], "model=m", *words)
    assert frame["item_id"].nunique() == 24
    assert studies.readouts(store, study_id)["family"].nunique() == n_clusters
    assert any("share 12 templates or passages" in one for one in log_survey.sentences()) == (n_clusters == 12)
    assert any("share 4 templates or passages, too few" in text for text in log_survey.sentences()) == (n_passages == 4)


@pytest.mark.slow
def test_the_prompts_of_one_document_in_several_tasks_keep_their_reported_scores(tmp_path, store):
    """As lm-eval's african_nlp tasks: one task a prompt, all on the same documents."""
    folder, stamp = tmp_path / "run", "2025-01-01T00-00-00.000001"
    folder.mkdir()
    results = {"results": {}, "versions": {}, "configs": {}, "config": {"model_args": "model=m"}}
    for prompt in (1, 2):
        rows = [
            written.lm_eval_row(
                i, str(2 * i), str(2 * i), i < 3 * prompt, "none", arguments=[[f"Prompt {prompt}: {i}?", {"until": []}]]
            )
            for i in range(6)
        ]
        written.lines(folder / f"samples_sums_{prompt}_{stamp}.jsonl", rows)
        results["results"][f"sums_{prompt}"] = {"exact_match,none": prompt / 2}
    (folder / f"results_{stamp}.json").write_text(json.dumps(results))
    _, frame, study_id = imported(store, [folder])
    assert frame["item_id"].nunique() == 6 and set(frame["axis"]) == {"identity", "prompt"}
    assert not [one.claim.text for one in audit(store, study_id).findings if one.about == "reported score"]


@pytest.mark.slow
def test_axis_harmlessness_role_and_right_answers_are_corrected(tmp_path, store):
    helm = written.helm(tmp_path / "helm")
    _, frame, study_id = imported(store, [helm], "axis:typos=noise", "harmless:noise=no", "role=control", "target=none")
    assert set(frame["axis"]) == {"identity", "noise"} and set(frame["role"]) == {"control"}
    params = dict(store.rows("SELECT key, params FROM study_variants WHERE axis = 'noise'"))
    assert json.loads(params["typos"]) == {"harmless": False} and json.loads(params["base"]) == {}
    assert store.rows("SELECT DISTINCT target FROM items JOIN study_items USING (item_id) WHERE study_id = $s", s=study_id) == [
        (None,)
    ]
    with pytest.raises(BadInput, match="harmless:AXIS|names no axis; write harmless:AXIS=value"):
        corrections_of(["harmless=no"])
    with pytest.raises(BadInput, match="target is one of index, index1, text, none"):
        corrections_of(["target:x=letter"])


@pytest.mark.slow
@pytest.mark.parametrize("how, right", [("index", "2"), ("index1", "1"), ("text", "2")])
def test_how_right_answers_are_written_can_be_said(tmp_path, store, how, right):
    rows = [inspect_sample_with(2, options=["1", "3", "2"])]
    log = written.inspect_eval(tmp_path / f"{how}.eval", rows, written.inspect_header(1, 1))
    imported(store, [log], "kind=choice", f"target={how}")
    assert store.rows("SELECT target FROM items") == [(right,)]


def inspect_sample_with(target, **more):
    return written.inspect_sample(1, target=str(target), choices=more["options"])


def _run(folder, prompt, answers):
    """One lm-eval run without ids in common with others: questions, a prompt, its answers."""
    rows = []
    for i, text in enumerate(answers):
        row = written.lm_eval_row(i, text, text, text == "2", "none")
        row["arguments"] = {"gen_args_0": {"arg_0": f"{prompt} {row['doc']['question']}", "arg_1": {"until": []}}}
        rows.append(row)
    folder.mkdir()
    return written.lines(folder / "samples_sums_2025.jsonl", rows)


def places(frame):
    return set(frame[["axis", "variant"]].itertuples(index=False, name=None))


@pytest.mark.slow
def test_which_prompt_is_the_base_and_what_another_is_called_can_be_said(tmp_path, store):
    files = [_run(tmp_path / name, name, "2233") for name in ("plain", "terse")]
    _, frame, _ = imported(store, files, "model=m")
    assert places(frame) == {("identity", "base"), ("prompt", "base"), ("prompt", "prompt-2")}
    words = ["prompt:terse/samples_sums_2025.jsonl=base"]
    _, frame, study_id = imported(store, [tmp_path / "plain", tmp_path / "terse"], "model=m", *words)
    base = "SELECT parts->>'$[0][1]' FROM variants JOIN study_variants USING (variant_id) WHERE study_id = $s AND key = 'base'"
    assert {text.split()[0] for (text,) in store.rows(base, s=study_id)} == {"terse"}
    words += ["prompt:plain/samples_sums_2025.jsonl=wordy", "axis:prompt=style"]
    log_survey, frame, _ = imported(store, [tmp_path / "plain", tmp_path / "terse"], "model=m", *words)
    assert places(frame) == {("identity", "base"), ("style", "base"), ("style", "wordy")}
    assert log_survey.axes == {"identity": 4, "style": 4}


@pytest.mark.slow
def test_which_sample_a_file_holds_can_be_said(tmp_path, store):
    folders = [_run(tmp_path / name, "Say:", answers).parent for name, answers in (("a", "2222"), ("b", "3333"))]

    def texts(*words):
        _, _, study_id = imported(store, folders, "model=m", *words)
        sql = "SELECT DISTINCT sample, text FROM completions JOIN study_calls USING (call_id) WHERE study_id = $s"
        return dict(store.rows(sql, s=study_id)), store.rows("SELECT message FROM studies WHERE study_id = $s", s=study_id)

    assert texts()[0] == {0: "2", 1: "3"}  # the second run counts on
    assert texts("sample:a/samples_sums_2025.jsonl=1", "sample:b/samples_sums_2025.jsonl=0")[0] == {0: "3", 1: "2"}
    assert texts("sample:b/samples_sums_2025.jsonl=7")[0] == {0: "2", 7: "3"}
    kept, [(message,)] = texts("sample:b/samples_sums_2025.jsonl=0")
    assert kept == {0: "2"} and "4 rows were refused" in message and "which another file holds already" in message


@pytest.mark.slow
def test_each_row_of_a_prompt_can_be_a_further_sample(tmp_path, store):
    path = _run(tmp_path / "a", "Say:", "22")
    path.write_text(path.read_text() + path.read_text().replace('"2"', '"3"'))
    _, frame, _ = imported(store, [path], "model=m")
    assert set(frame["sample"]) == {0, 1}  # another text for the sample that a row says is an output of its own
    path.write_text(path.read_text().replace('"3"', '"2"'))
    _, frame, _ = imported(store, [path], "model=m", "sample=rows")
    assert set(frame["sample"]) == {0, 1}


@pytest.mark.parametrize(
    "word, why",
    [
        ("prompt=base", "names no file; write prompt:FILE=name"),
        ("prompt:a.jsonl=", "gives the prompt no name"),
        ("sample:a.jsonl=two", "write sample:FILE=N with a whole number"),
        ("sample=3", "write sample:FILE=N with a whole number"),
    ],
)
def test_a_wrong_word_for_prompt_or_sample_is_a_sentence(word, why):
    with pytest.raises(BadInput, match=why):
        corrections_of([word])


def test_a_correction_of_a_file_that_is_not_there_is_a_sentence(tmp_path):
    path = _run(tmp_path / "a", "Say:", "22")
    with pytest.raises(BadInput, match=r"'prompt:b.jsonl' names no file that was given; the files are samples_sums_2025.jsonl"):
        survey([path], corrections_of(["prompt:b.jsonl=base"]))


# Results kept in a folder a model: files that are called alike.


def kept_in_folders(root, *folders):
    for right, folder in enumerate(folders):
        (root / folder).mkdir(parents=True)
        rows = [{"id": k, "input": f"What is {k} + 1?", "output": f"It is {k + right}.", "target": k + 1} for k in range(5)]
        written.lines(root / folder / "sums.jsonl", rows)
    (root / "LICENSE").write_text("MIT")
    (root / "README.md").write_text("# Results")
    return root


@pytest.mark.slow
def test_tables_called_alike_in_folders_are_of_the_models_that_the_folders_name(tmp_path, store):
    found = survey([kept_in_folders(tmp_path / "results", "small", "large")])
    assert set(found.models) == {"small", "large"} and found.unread == []
    frame = studies.readouts(store, store_logs(found, store), everything=True)
    assert frame.groupby("model")["is_correct"].mean().to_dict() == {"large": 1.0, "small": 0.0}
    assert frame["item_id"].nunique() == 5


def test_numbered_folders_hold_runs_of_one_model(tmp_path):
    found = survey([kept_in_folders(tmp_path / "results", "run_0", "run_1")])
    assert len(found.models) == 1 and found.n_records == 10


def test_a_folder_s_name_gives_way_to_a_model_that_is_named(tmp_path):
    folder = kept_in_folders(tmp_path / "results", "direct", "cot")
    assert set(survey([folder], corrections_of(["model=davinci"], of_tables=True)).models) == {"davinci"}


def test_folders_of_other_questions_are_tasks_and_no_models(tmp_path):
    for task, start in (("easy", 0), ("hard", 40)):
        (tmp_path / "results" / task).mkdir(parents=True)
        rows = [
            {"id": k, "input": f"What is {start + k * k}?", "output": "It is 3.", "target": start + k * k} for k in range(5)
        ]
        written.lines(tmp_path / "results" / task / "some-model.jsonl", rows)
    found = survey([tmp_path / "results"])
    assert not set(found.models) & {"easy", "hard"} and found.n_records == 10


def lm_eval_samples(path, n_right):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        written.lm_eval_row(i, f"It is {2 * i + (i >= n_right)}", str(2 * i + (i >= n_right)), i < n_right) for i in range(20)
    ]
    return written.lines(path, rows)


@pytest.mark.parametrize(
    "names",
    [("alpha.jsonl", "beta.jsonl"), ("alpha/samples_sums_2026-01-01.jsonl", "beta/samples_sums_2026-01-01.jsonl")],
    ids=["by file", "by folder"],
)
def test_sample_files_without_results_are_models_by_their_files(tmp_path, names):
    for name, n_right in zip(names, (16, 14), strict=True):
        lm_eval_samples(tmp_path / name, n_right)
    log_survey = survey([tmp_path])
    assert list(log_survey.models) == ["alpha", "beta"] and len(log_survey.kinds) == 1
    (said,) = [sentence for about, sentence in log_survey.facts if about == "model by its file"]
    assert "alpha, beta" in said and "--map model=NAME" in said
    assert list(survey([tmp_path], corrections_of(["model=one"])).models) == ["one"]


def test_sample_files_of_several_tasks_are_one_model(tmp_path):
    lm_eval_samples(tmp_path / "samples_sums_2026-01-01.jsonl", 16)
    row = written.lm_eval_row(3, "No.", "No.", True) | {"doc": {"question": "Is it?", "answer": "No."}}
    written.lines(tmp_path / "samples_other_2026-01-01.jsonl", [row])
    assert len(survey([tmp_path]).models) == 1
