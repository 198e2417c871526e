"""Set aside means the question and its answers: the same questions in another file stay unseen, and a lock says who showed them."""

import csv
import json
import shutil
from dataclasses import replace

import pytest

from flipcore.claims.locks import locked_claim
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.runs.plan import plan
from flipcore.store.connection import Store
from flipcore.store.merge import merge
from flipcore.store.queries import holdout, locks, studies
from tests.stores import store_with

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")

STUDY = Study(
    name="half set aside",
    items=(ItemSource("flipscope_choice", n=24),),
    axes=(Part("identity"),),
    extractors=(Part("regex"),),
    models=(ModelUse("simulated-brittle"),),
    confirmatory_share=0.5,
)
S = STUDY.study_id


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("same"), STUDY)


@pytest.fixture
def store(filled, tmp_path):
    opened = Store.open(shutil.copy(filled, tmp_path / "flips.duckdb"))
    yield opened
    opened.close()


def questions(store, where="confirmatory"):
    sql = (
        f"SELECT question, options, target, item_id FROM study_items JOIN items USING (item_id) WHERE study_id = $s AND {where}"
    )
    return store.rows(sql + " ORDER BY item_id", s=S)


def written_otherwise(store, path, how):
    """The file of all the study's questions under no ids, as somebody else may have it."""
    rows = []
    for question, options, target, item_id in questions(store, "true"):
        options = list(options)
        if how == "other case and spaces":
            question, options = f"  {question.upper()} \n", [f"{one} " for one in options]
        if how == "options turned":
            options, target = options[::-1], str(len(options) - 1 - int(target))
        if how == "the whole prompt":
            parts = store.rows("SELECT parts FROM variants WHERE item_id = $i LIMIT 1", i=item_id)[0][0]
            question = "".join(text for _, text in json.loads(parts))
        row = {"question": question} | ({} if "prompt" in how or "without" in how else {"options": json.dumps(options)})
        rows.append(row | {"answer": target})
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


HOW = ["the same file", "other case and spaces", "options turned", "without options", "the whole prompt"]


@pytest.mark.slow
@pytest.mark.parametrize("how", [pytest.param(how, marks=pytest.mark.slow if how == "the same file" else ()) for how in HOW])
def test_the_same_questions_under_other_ids_stay_unseen_until_a_lock(store, tmp_path, how):
    written_otherwise(store, tmp_path / "again.csv", how)
    source = ItemSource("file", path=str(tmp_path / "again.csv"))
    other = replace(STUDY, name="uploaded", items=(source,), confirmatory_share=0.0)
    runner.run(other, store)
    n = len(questions(store))
    assert n > 5 and not {i for *_, i in questions(store)} & {
        i for (i,) in store.rows("SELECT item_id FROM study_items WHERE study_id = $s", s=other.study_id)
    }
    assert len(studies.study_items(store, other.study_id)) == 24 - n
    assert studies.readouts(store, other.study_id)["item_id"].nunique() == 24 - n
    assert locks.hidden_by(store, other.study_id) == {"half set aside": n}
    ids = [i for (i,) in store.rows("SELECT item_id FROM study_items WHERE study_id = $s", s=other.study_id)]
    assert len(holdout.items(store, ids)) == 24 - n
    locks.keep_lock(store, S, "decomposition", {}, "Ada")
    assert len(studies.study_items(store, other.study_id)) == 24


@pytest.mark.slow
def test_other_options_are_another_question(store, tmp_path):
    with (tmp_path / "other.csv").open("w", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question", "options", "answer"])
        for question, *_ in questions(store):
            writer.writerow([question, json.dumps(["never", "always", "sometimes"]), "1"])
    source = ItemSource("file", path=str(tmp_path / "other.csv"))
    other = replace(STUDY, name="other options", items=(source,), confirmatory_share=0.0)
    runner.run(other, store)
    assert len(studies.study_items(store, other.study_id)) == len(questions(store))


def test_no_prompt_shows_as_an_example_what_is_set_aside_under_another_id(store, tmp_path):
    written_otherwise(store, tmp_path / "again.csv", "the same file")
    source = ItemSource("file", path=str(tmp_path / "again.csv"))
    few = replace(STUDY, name="few", items=(source,), axes=(Part("few_shot", {"n": 4}),), confirmatory_share=0.0)
    aside = [question for question, *_ in questions(store)]
    for one in plan(few, store).items:
        shown = " ".join(v.prompt.text for v in one.variants if v.key != "base")
        assert not [q for q in aside if q in shown and q != one.item.question]


@pytest.mark.slow
def test_a_study_that_names_the_same_questions_twice_shows_none_that_it_sets_aside(store, tmp_path):
    written_otherwise(store, tmp_path / "again.csv", "the same file")
    both = (*STUDY.items, ItemSource("file", path=str(tmp_path / "again.csv")))
    twice = replace(STUDY, name="twice", items=both)
    other = Store.open(tmp_path / "twice.duckdb")
    runner.run(twice, other)
    sql = "SELECT question FROM study_items JOIN items USING (item_id) WHERE confirmatory"
    aside = {question for (question,) in other.rows(sql)}
    assert len(aside) > 8 and not aside & set(studies.study_items(other, twice.study_id)["question"])
    other.close()


@pytest.mark.slow
def test_a_merged_study_of_the_same_questions_stays_unseen(store, tmp_path):
    written_otherwise(store, tmp_path / "again.csv", "the same file")
    source = ItemSource("file", path=str(tmp_path / "again.csv"))
    other = replace(STUDY, name="elsewhere", items=(source,), confirmatory_share=0.0)
    there = Store.open(tmp_path / "there.duckdb")
    runner.run(other, there)
    there.close()
    merge([tmp_path / "there.duckdb"], store)
    n = len(questions(store))
    assert len(studies.study_items(store, other.study_id)) == 24 - n


@pytest.mark.slow
def test_a_lock_names_the_study_that_showed_the_answers_under_another_id(store, tmp_path):
    written_otherwise(store, tmp_path / "again.csv", "the same file")
    source = ItemSource("file", path=str(tmp_path / "again.csv"))
    other = replace(STUDY, name="shown before", items=(source,), confirmatory_share=0.0)
    runner.run(other, store)
    sql = "UPDATE studies SET created_at = '2020-01-01' WHERE study_id = $other"
    store.writer.transact(lambda connection: connection.execute(sql, {"other": other.study_id})).result(10)
    locks.keep_lock(store, S, "decomposition", {}, "Ada")
    (lock,) = locks.locks(store, S)
    n = len(questions(store))
    assert lock["settings"]["state"]["seen"] == [["shown before", n, n]]
    claim = locked_claim(lock, [lock])
    assert not claim.is_made and f"shown before shows them for {n} of the {n} items" in claim.text


@pytest.mark.slow
def test_a_lock_says_that_answers_are_older_than_its_study(store):
    """Another study asked them, and is gone: whoever had it could have read them."""
    again = replace(STUDY, name="again", confirmatory_share=0.6)
    studies.delete_study(store, S)
    runner.run(again, store)
    locks.keep_lock(store, again.study_id, "decomposition", {}, "Ada")
    (lock,) = locks.locks(store, again.study_id)
    assert lock["settings"]["state"]["n_older"] > 5
    assert "are older than this study" in locked_claim(lock, [lock]).text
