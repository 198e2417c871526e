"""Tables that lie beside each other: which are of one task, and what tells them apart."""

import json
from pathlib import Path

import pytest

from flipcore.datasets.reading.log_files import sources
from flipcore.datasets.recorded.table_names import names_of_tables
from flipcore.reports.audit import audit
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.audit import prompts

pytestmark = pytest.mark.usefixtures("allowed_folders")

QUESTIONS = [(f"What is {n} plus {n + 17}?", str(2 * n + 17)) for n in range(12)]


def rows(model: str = "", questions=QUESTIONS, wrong: int = 0) -> list[dict]:
    """A table of answers, the first `wrong` of them wrong."""
    return [
        {"id": n, "question": question, "answer": right, "response": f"The answer is {-1 if n < wrong else right}."}
        | ({"model": model} if model else {})
        for n, (question, right) in enumerate(questions)
    ]


def folder_of(tmp_path: Path, tables: dict[str, list[dict]]) -> Path:
    """The tables as files of a folder."""
    for name, table in tables.items():
        path = tmp_path / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")
    return tmp_path / "results"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({"gpt-4": "", "llama-3": ""}, {"gpt-4", "llama-3"}, id="a file a model"),
        pytest.param({"eval_gpt-4_v2": "", "eval_llama_v2": ""}, {"gpt-4", "llama"}, id="words that all share say nothing"),
        pytest.param({"gpt-4/outputs": "", "llama/outputs": ""}, {"gpt-4", "llama"}, id="a folder a model"),
        pytest.param(
            {"cot/gpt-4": "", "cot/llama": "", "direct/gpt-4": ""},
            {"cot/gpt-4", "cot/llama", "direct/gpt-4"},
            id="a folder a condition, a file a model",
        ),
        pytest.param(
            {"rag/a_20250601_202535": "gpt-4", "no-rag/a_20250529_101112": "gpt-4", "rag/b_20250601_202536": "llama"},
            {"gpt-4 (rag)", "gpt-4 (no-rag)", "llama (rag)"},
            id="conditions of a named model",
        ),
        pytest.param({"gpt-4_cot": "gpt-4", "gpt-4_direct": "gpt-4"}, {"gpt-4 (cot)", "gpt-4 (direct)"}, id="by file"),
        pytest.param({"run1": "", "run2": ""}, {"recorded model"}, id="runs of no name"),
        pytest.param({"seed_1/gpt-4": "gpt-4", "seed_2/gpt-4": "gpt-4"}, {"gpt-4"}, id="runs of a model"),
        pytest.param({"out_20250601_202535": "m", "out_20250602_202535": "m"}, {"m"}, id="the same on two days"),
        pytest.param({"1/gpt-4": "", "2/gpt-4": "", "1/llama": ""}, {"gpt-4", "llama"}, id="numbered folders are runs"),
    ],
)
def test_tables_of_the_same_questions_are_one_task_and_their_files_say_who_answered(tmp_path, files, expected):
    folder = folder_of(tmp_path, {f"{name}.jsonl": rows(model) for name, model in files.items()})
    seen = survey([folder])
    assert set(seen.models) == expected
    assert len(seen.kinds) == 1


def test_tables_of_other_questions_keep_their_own_names(tmp_path):
    other = [(f"How far is it to the town number {n} from here?", str(n)) for n in range(12)]
    folder = folder_of(tmp_path, {"sums.jsonl": rows(), "towns.jsonl": rows(questions=other)})
    assert names_of_tables(sources([folder])) == {}
    assert set(survey([folder]).kinds) == {"sums", "towns"}


def test_a_count_or_a_few_right_answers_make_no_two_tables_alike(tmp_path):
    asked = {task: [(f"{task} {n}?", right) for n, right in enumerate("1234")] for task in ("sums", "towns")}
    few = folder_of(tmp_path / "few", {f"{task}.jsonl": rows(questions=one) for task, one in asked.items()})
    assert names_of_tables(sources([few])) == {}
    asked = {task: [(f"{task} {n}?", str(n)) for n in range(20)] for task in ("sums", "towns")}
    counted = folder_of(tmp_path / "counted", {f"{task}.jsonl": rows(questions=one) for task, one in asked.items()})
    assert names_of_tables(sources([counted])) == {}
    letters = {f"{n}.jsonl": [{"shown": f"{n} {k}", "gold": "ABCA"[k % 4], "response": "A"} for k in range(20)] for n in "xy"}
    assert len(names_of_tables(sources([folder_of(tmp_path / "keys", letters)]))) == 2


def test_two_tasks_of_one_folder_are_called_by_the_beginning_of_their_names(tmp_path):
    other = [(f"How far is it to the town number {n} from here?", str(n)) for n in range(12)]
    tables = {
        f"{task}_{model}.jsonl": rows(questions=asked)
        for task, asked in (("sums", QUESTIONS), ("towns", other))
        for model in "xy"
    }
    folder = folder_of(tmp_path, tables)
    assert {(one.task, one.model) for one in names_of_tables(sources([folder])).values()} == {
        (task, model) for task in ("sums", "towns") for model in "xy"
    }


@pytest.mark.parametrize("models", [("x",), ("x", "y")])
def test_a_folder_a_task_whose_files_have_one_name_and_a_nearly_constant_column_says_nothing(tmp_path, models):
    """As MMMU publishes its outputs: without questions, the right answers by letter, and a kind that is the same in all rows but one."""
    keys = {"art": "ABCDCBADBCAABDCD", "music": "DCABADCBBADCCABD"}
    tables = {
        f"{model}/{task}/output.jsonl": [
            {"id": f"{task}_{n}", "kind": "open" if n == 9 else "choice", "answer": one, "response": one}
            for n, one in enumerate(key)
        ]
        for task, key in keys.items()
        for model in models
    }
    seen = survey([folder_of(tmp_path, tables)])
    assert set(seen.kinds) == {"art", "music"} and set(seen.models) == ({"x", "y"} if len(models) > 1 else {"recorded model"})


def test_what_tells_files_apart_is_known_where_a_table_asks_alone(tmp_path):
    other = [(f"How far is it to the town number {n} from here?", str(n)) for n in range(12)]
    folder = folder_of(tmp_path, {"sums/7b.jsonl": rows(), "sums/70b.jsonl": rows(), "towns/70b.jsonl": rows(questions=other)})
    alone = names_of_tables(sources([folder]))["results/towns/70b.jsonl"]
    assert (alone.task, alone.model) == ("towns", "70b")
    named = {"rag/a.jsonl": rows("m"), "plain/b.jsonl": rows("m"), "plain/c.jsonl": rows("n", questions=other)}
    (folder / "more").mkdir()
    for name, table in named.items():
        folder_of(tmp_path, {f"more/{name}": table})
    assert set(survey([folder / "more"]).models) == {"m (rag)", "m (plain)", "n (plain)"}


def test_a_table_of_several_models_names_them_itself(tmp_path):
    folder = folder_of(tmp_path, {"both.jsonl": rows("a") + rows("b"), "more.jsonl": rows("c"), "rest.jsonl": rows("d")})
    assert set(survey([folder]).models) == {"a", "b", "c", "d"} and len(survey([folder]).kinds) == 1


# Of the longer one the rows that are looked at are all of the first model.
SLOW_CASES = [pytest.param(*case, marks=pytest.mark.slow) for case in ((240, "model"), (12, "Model"), (240, "Model"))]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "column"), [(12, "model"), *SLOW_CASES])
def test_each_row_keeps_its_model_beside_the_condition_of_its_file(tmp_path, store, n, column):
    """Two files of two models each: the second model's rows were once the first's, as its second run."""
    asked = [(f"What is {k} plus {k + 17}?", str(2 * k + 17)) for k in range(n)]
    tables = {f"{name}.jsonl": rows("a", asked) + rows("b", asked, wrong=n) for name in ("cot", "direct")}
    tables = {
        name: [{column if key == "model" else key: one for key, one in row.items()} for row in table]
        for name, table in tables.items()
    }
    frame = studies.readouts(store, store_logs(survey([folder_of(tmp_path, tables)]), store), everything=True)
    right = frame.groupby(frame["model"].astype(str))["is_correct"].mean().to_dict()
    assert right == {"a (cot)": 1, "a (direct)": 1, "b (cot)": 0, "b (direct)": 0} and set(frame["sample"]) == {0}


@pytest.mark.slow
def test_models_of_a_table_without_ids_were_asked_the_same_questions(tmp_path, store):
    table = [{key: one for key, one in row.items() if key != "id"} for row in rows("a") + rows("b")]
    frame = studies.readouts(store, store_logs(survey([folder_of(tmp_path, {"x.jsonl": table})]), store), everything=True)
    assert frame["item_id"].nunique() == len(QUESTIONS) and len(frame) == 2 * len(QUESTIONS)


def test_shuffled_tables_are_known_by_their_questions(tmp_path):
    long = [(f"A question that is long enough to be known by its text, number {n}", str(n)) for n in range(12)]
    folder = folder_of(tmp_path, {"x.jsonl": rows(questions=long), "y.jsonl": rows(questions=long[::-1])})
    assert {one.model for one in names_of_tables(sources([folder])).values()} == {"x", "y"}


@pytest.mark.slow
def test_the_name_of_a_study_of_many_tables_is_short(tmp_path):
    tables = {
        f"a_rather_long_name_of_a_table_of_outputs_{n}.jsonl": rows(questions=[(f"{q} ({n})", r) for q, r in QUESTIONS[n:]])
        for n in range(8)
    }
    assert len(survey([folder_of(tmp_path, tables)]).name) < 200


def test_outputs_that_stand_again_with_labels_are_read_once(tmp_path):
    labels = [row | {"human_label": row["answer"]} for row in rows()]
    folder = folder_of(tmp_path, {"test.jsonl": rows(), "test.jsonl_labeled.jsonl": labels, "test_other.jsonl": rows(wrong=3)})
    seen = survey([folder])
    assert [file.source.name for file in seen.files] == ["results/test.jsonl_labeled.jsonl", "results/test_other.jsonl"]
    assert "results/test.jsonl holds less of the same rows, and is left out." in seen.sentences()


@pytest.mark.slow
@pytest.mark.parametrize("first", ["oak", "tin"])
def test_a_prompt_that_is_the_base_of_one_model_and_a_version_of_another_stays_both(tmp_path, first):
    """In whichever order the files are read."""
    question = "Which of these woods is it that grows there, number {}?\nA. {}\nB. {}\n"
    orders = [("elm", "fir"), ("fir", "elm")]

    def table(*shown):
        return [
            {"original_question": f"Which of these woods is it that grows there, number {n}?"}
            | {
                f"shuffle_{k}": {"question": question.format(n, *order), "scores": {order[0]: 2.0, order[1]: 1.0}}
                for k, order in enumerate(shown)
            }
            for n in range(12)
        ]

    several = {first: table(*orders), "oak" if first == "tin" else "tin": table(orders[1])}
    folder = folder_of(tmp_path, {f"{model}/test.jsonl": several[model] for model in sorted(several)})
    store = Store.open(":memory:")
    frame = studies.readouts(store, store_logs(survey([folder]), store))
    store.close()
    place = ["model", "item_id", "axis", "variant", "sample", "extractor"]
    assert not frame.duplicated(place).any() and set(frame["model"]) == {"oak", "tin"}
    assert frame.groupby(["model", "variant"], observed=True)["item_id"].nunique().to_list() == [12, 12, 12]


@pytest.mark.slow
def test_models_that_were_each_asked_in_a_wording_of_their_own_are_no_change_on_the_way(tmp_path):
    def table(start):
        return [
            {
                "id": n,
                "question": f"What is {n} plus {n + 17}?",
                "prompt": f"{start} What is {n} plus {n + 17}?",
                "response": "One.",
            }
            | {"answer": str(2 * n + 17)}
            for n in range(400)
        ]

    folder = folder_of(tmp_path, {"oak/a.jsonl": table("Please answer:"), "tin/a.jsonl": table("You know this.")})
    store = Store.open(":memory:")
    study_id = store_logs(survey([folder]), store)
    starts = {str(one)[:6] for one in prompts(store, study_id)["prompt"]}
    said = [one.about for one in audit(store, study_id).findings]
    store.close()
    assert len(starts) == 1 and "wordings" not in said


def test_two_tables_of_scores_on_the_same_named_items_are_two_models(tmp_path):
    """Ids that only count, 0 to 19, may be those of two tasks."""
    named = [{"id": f"q{i}", "score": i % 2} for i in range(20)]
    folder_of(tmp_path, {"named/old.jsonl": named, "named/new.jsonl": named})
    counted = [row | {"id": i} for i, row in enumerate(named)]
    others = [row | {"score": int(row["id"] % 3 > 0)} for row in counted]
    folder_of(tmp_path, {"counted/old.jsonl": counted, "counted/new.jsonl": others})
    assert sorted(survey([tmp_path / "results" / "named"]).models) == ["new", "old"]
    assert len(survey([tmp_path / "results" / "counted"]).kinds) == 2
