"""One question under several ids is one cluster, on every way from an import to a number."""

import numpy as np
import pandas as pd
import pytest

from flipcore.core.records import Item
from flipcore.reports.audit import audit
from flipcore.reports.log_scores import task_scores
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import ReadScores, survey
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.guarded import CLUSTERS_LIKE_SEEN
from flipcore.stats.holdout.entries import one_per_source, paired_rows, source_groups
from flipcore.stats.memory.members import members
from flipcore.store import packing
from flipcore.store.queries import exchange, judges, packed_readouts, scores, studies
from flipcore.store.queries.locks import sight
from flipcore.text.same_question import NO_QUESTION, joined_clusters, question_key
from tests.datasets.recorded import harness_files

pytestmark = pytest.mark.usefixtures("allowed_folders")
N_QUESTIONS, N_IDS = 12, 3


def test_questions_are_the_same_whatever_their_case_spaces_and_order_of_options():
    assert question_key("How  many?", ["b", "A"]) == question_key("how many?", ["a", "B "])
    assert question_key("How many?", ["a"]) != question_key("How many?", ["b"])
    assert question_key("", ["a"]) is None and question_key(NO_QUESTION) is None


def test_clusters_with_a_question_in_common_are_one_over_any_number_of_steps():
    assert joined_clusters("abcde", ["1", "1", "2", None, None]) == ["a", "a", "c", "d", "e"]
    assert joined_clusters(["s", "s", "t", "t", "u"], ["1", "2", "2", "3", "3"]) == ["s"] * 5


def write_log(path, **asked):
    """A log in which each question stands under three ids; `asked` sets fields of all samples."""
    samples = []
    for i in range(N_QUESTIONS * N_IDS):
        question = f"How much is {i // N_IDS} and nothing?"
        messages = [{"role": "user", "content": question}, {"role": "assistant", "content": "A"}]
        grades = {"exact": {"value": int(i // N_IDS % 3 > 0), "answer": "A"}, "loose": {"value": 1, "answer": "A"}}
        fields = {"input": question, "messages": messages, "attachments": {}, "scores": grades} | asked
        samples.append(harness_files.inspect_sample(i, **fields))
    scores = [{"name": name, "scorer": name, "metrics": {}} for name in ("exact", "loose")]
    header = harness_files.inspect_header(0, 1)
    return harness_files.inspect_eval(path, samples, header | {"results": {"scores": scores}})


@pytest.fixture
def study_id(store, tmp_path):
    return store_logs(survey([write_log(tmp_path / "log.eval")]), store)


def n_clusters(frame) -> tuple[int, int]:
    return frame["item_id"].nunique(), frame["family"].nunique()


@pytest.mark.slow
def test_every_way_counts_questions_and_not_ids(store, study_id, tmp_path):
    study = studies.declared(store, study_id)
    frame = studies.readouts(store, study_id)
    assert packing.pack(store, study_id)
    packed = packed_readouts.readouts(store, study_id, sight(store, study_id, None), "all")
    calls = [call for (call,) in store.rows("SELECT call_id FROM study_calls WHERE study_id = $s", s=study_id)]
    read = ReadScores({})
    looked_at = survey([write_log(tmp_path / "again.eval")], scores=read)
    ways = {
        "readouts": frame,
        "packed readouts": packed,
        "items": studies.study_items(store, study_id),
        "scores": scores.scores(store, study_id, list(study.scorer_names)),
        "exchange": pd.DataFrame(exchange.rows_to_export(store, study_id)),
        "outputs that people label": pd.DataFrame(judges.readouts_of(store, study_id, calls)),
        "a file that is only looked at": pd.DataFrame(read.scores(looked_at, str)),
    }
    assert {way: n_clusters(rows) for way, rows in ways.items()} == dict.fromkeys(ways, (36, 12))


@pytest.mark.slow
def test_numbers_of_a_log_count_its_questions(store, study_id):
    [score, _] = task_scores(store, study_id, studies.declared(store, study_id))
    assert (score.n_items, score.mean.n) == (36, 12)
    pairs = [finding.claim.detail for finding in audit(store, study_id).findings if finding.about == "readouts"]
    assert pairs and all(CLUSTERS_LIKE_SEEN in detail for detail in pairs)


def test_a_passage_that_only_the_prompt_shows_keeps_questions_apart(store, tmp_path):
    samples = []
    for i in range(20):
        texts = [{"role": "user", "content": f"Passage {i}. What is it about?"}, {"role": "assistant", "content": "A"}]
        fields = {"input": "What is it about?", "messages": texts, "attachments": {}}
        samples.append(harness_files.inspect_sample(i, **fields))
    log = harness_files.inspect_eval(tmp_path / "log.eval", samples, harness_files.inspect_header(0, 20))
    study_id = store_logs(survey([log]), store)
    assert n_clusters(studies.readouts(store, study_id)) == (20, 20)


@pytest.mark.slow
def test_equal_texts_with_other_right_answers_are_kept_apart(store, tmp_path):
    text = [{"role": "user", "content": "Find the flag."}, {"role": "assistant", "content": "x"}]
    fields = {"input": "Find the flag.", "messages": text, "attachments": {}, "choices": None}
    samples = [harness_files.inspect_sample(i, target=f"flag {i}", **fields) for i in range(20)]
    log = harness_files.inspect_eval(tmp_path / "log.eval", samples, harness_files.inspect_header(0, 20))
    read = ReadScores({})
    looked_at = survey([log], scores=read)
    assert n_clusters(pd.DataFrame(read.scores(looked_at, str))) == (20, 20)
    assert n_clusters(studies.readouts(store, store_logs(looked_at, store))) == (20, 20)


def item(name, question, source=None):
    return Item(name, "made", "text", question, source_id=source)


def test_equal_questions_of_one_set_are_one_source_and_of_two_sets_are_not():
    target = [item("a1", "One?"), item("a2", "one? "), item("b", "Two?")]
    retro = [item("r1", "Three?", "a2"), item("r2", "Two?"), item("r3", "three?")]
    assert source_groups(target, retro) == ["a1", "a1", "b", "a1", "r2", "a1"]
    assert [len(side) for side in one_per_source(target, retro)[:2]] == [2, 2]
    assert paired_rows(target, retro) is None


def test_equal_questions_are_one_template_of_memory_whatever_they_were_made_from():
    items = pd.DataFrame(
        {
            "item_id": ["a", "b", "c"],
            "question": ["Same?", "same?", "Other?"],
            "options": [[], [], []],
            "meta": [{"family": "x"}, {"family": "y"}, {"family": "z"}],
            "family": ["a", "b", "c"],
        }
    )
    assert members(items).family == {"a": "x", "b": "x", "c": "z"}


@pytest.mark.slow
def test_a_score_of_questions_under_five_ids_holds_as_often_as_it_says():
    """A model answers a question alike under all of its ids; by ids the interval misses in a third of worlds."""
    rng, missed = np.random.default_rng(0), {"ids": 0, "questions": 0}
    ids = [f"{question}-{k}" for question in range(40) for k in range(5)]
    questions = [name.split("-")[0] for name in ids]
    for _ in range(400):
        right = np.repeat(rng.random(40) < 0.7, 5).astype(float)
        for unit, clusters in (("ids", ids), ("questions", joined_clusters(ids, questions))):
            interval = accuracy(right, clusters)
            missed[unit] += not interval.low <= 0.7 <= interval.high
    assert missed["ids"] > 0.25 * 400
    assert missed["questions"] < 0.07 * 400
