"""The recorded answers of the first start are what the shipped checkpoint answers now."""

import json
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from flipcore.core.paths import POCKET_ANSWERS
from flipcore.runs.demo import demo_studies, fill_answers, fill_store
from flipcore.runs.runner import run
from flipcore.store.connection import Store

pytestmark = pytest.mark.usefixtures("allowed_folders")

N_ITEMS, LEAST_RECORDED, MAX_NATS = 3, 0.85, 0.01
SQL = "SELECT call_id, text, finish_reason, tokens, top_logprobs FROM completions"


def asked(path, study, with_recorded):
    """The completions of the first items of a study by call, and the share of its calls that was not asked."""
    store = Store.open(path)
    fill_store(store)
    if with_recorded:
        fill_answers(store)
    progress = run(study, store, items_limit=N_ITEMS)
    answers = {row["call_id"]: row for row in store.rows_of(SQL)}
    store.close()
    return answers, progress.n_reused / progress.n_done


def nats(row):
    """Every log-probability of a completion, by its place."""
    tokens = {(i, text): value for i, (text, value) in enumerate(json.loads(row["tokens"] or "[]"))}
    likeliest = sorted(json.loads(row["top_logprobs"] or "{}").items(), key=lambda pair: -pair[1])[:5]
    return tokens | {("first", text): value for text, value in likeliest}


@pytest.mark.slow
@pytest.mark.parametrize("study", demo_studies(), ids=lambda study: study.items[0].dataset + "-" + study.items[0].role)
def test_a_first_start_asks_few_calls_and_what_is_recorded_would_be_answered_so(tmp_path, study):
    study = replace(study, models=study.models[:1] + study.models[-1:] if len(study.models) > 1 else study.models)
    stored, share = asked(tmp_path / "recorded.duckdb", study, True)
    live, _ = asked(tmp_path / "live.duckdb", study, False)
    assert share > LEAST_RECORDED, "the demo studies or what they ask have changed: python -m tests.lab.pocket answers"
    assert live and set(live) <= set(stored)
    same = [live[one]["text"] == stored[one]["text"] for one in live]
    assert sum(same) >= 0.98 * len(same)  # on another machine a sampled token may fall the other way
    for one, text_is_same in zip(live, same, strict=True):
        here, there = nats(live[one]), nats(stored[one])
        if text_is_same:
            assert here.keys() == there.keys()
            assert all(abs(here[place] - there[place]) < MAX_NATS for place in here)


def test_one_in_sixteen_is_left_to_whoever_starts_it():
    answers = pq.read_table(POCKET_ANSWERS, columns=["call_id", "model", "status"])
    starts = [one[0] for one in answers["call_id"].to_pylist()]
    assert len(starts) > 10_000 and set(starts) == set("123456789abcdef")
    assert set(answers["status"].to_pylist()) == {"ok"}
    assert set(answers["model"].to_pylist()) == {use.name for study in demo_studies() for use in study.models}
