"""Faults of outputs and headers planted in a good log: each is named, and its honest twin is not."""

import json
import math
import random
import statistics
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from flipcore.claims import audit_outputs
from flipcore.claims.audit_input import LENGTHS, OURS, AuditInput
from flipcore.claims.audit_outputs import LEAST_KEYS, LEAST_VOTERS
from flipcore.core import folders
from flipcore.reports.audit import LESS_SURE, WRONG, audit
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store

N_ITEMS = 60
WORDS = "the river runs past a mill and an old house where nobody has lived for many years now".split()


def sentence(draw, n_words=24):
    return " ".join(draw.choice(WORDS) for _ in range(n_words))


def question(item):
    return f"How many stones lie on the bank of river {item} in spring?"


def sample(item, epoch, text, value, **more):
    return {
        "id": f"q{item}",
        "epoch": epoch,
        "input": question(item),
        "target": str(item + 100),
        "messages": [{"role": "user", "content": question(item)}, {"role": "assistant", "content": text, "source": "generate"}],
        "output": {
            "model": "m-1",
            "choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}],
            "completion": text,
        },
        "scores": {"includes": {"value": value, "answer": text}},
        "metadata": {},
    } | more


def samples_of(n_epochs=1, seed=0, share=0.7, same=False, n_words=24):
    """A good log; with `same` each epoch holds the first one's text."""
    draw, samples = random.Random(seed), []
    for item in range(N_ITEMS):
        first = None
        for epoch in range(1, n_epochs + 1):
            is_right = draw.random() < share
            number = item + 100 if is_right else draw.randrange(1000, 1999)
            answer = f"{sentence(draw, n_words)}, so the answer is {number}.", "C" if is_right else "I"
            first = first or answer
            text, value = first if same else answer
            samples.append(sample(item, epoch, text, value))
    return samples


def log_of(samples, n_epochs=1, temperature: float | None = 1.0, max_tokens=None, dataset=None, config=None, **score):
    """A whole log with the headline that its rows give, where `score` does not say otherwise."""
    by_item: dict[str, list[float]] = {}
    for logged in samples:
        value = logged["scores"]["includes"]["value"]
        by_item.setdefault(logged["id"], []).append({"C": 1.0, "I": 0.0}.get(value, value))
    means = [statistics.mean(values) for values in by_item.values()]
    metrics = {"accuracy": statistics.mean(means), "stderr": statistics.stdev(means) / len(means) ** 0.5} | score
    settings = {"temperature": temperature, "max_tokens": max_tokens}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "task": "stones",
            "model": "lab/m-1",
            "dataset": {"name": "stones", "samples": len(by_item)} | (dataset or {}),
            "config": {"epochs": n_epochs} | (config or {}),
        },
        "plan": {"config": {name: value for name, value in settings.items() if value is not None}},
        "results": {
            "total_samples": len(samples),
            "completed_samples": len(samples),
            "scores": [
                {
                    "name": "includes",
                    "scorer": "includes",
                    "metrics": {name: {"name": name, "value": value} for name, value in metrics.items()},
                }
            ],
        },
        "samples": samples,
    }


def abouts(tmp_path, *logs):
    """What the audit says against the logs."""
    for number, log in enumerate(logs):
        (tmp_path / f"{number}.json").write_text(json.dumps(log), encoding="utf-8")
    folders.admit(tmp_path)
    store = Store.open(":memory:")
    try:
        found = audit(store, store_logs(survey([tmp_path]), store))
        return {finding.about: finding.claim.text for finding in found.of_grades(WRONG, LESS_SURE)}
    finally:
        store.close()


def changed(samples, share, change):
    """Each so-manieth sample changed."""
    return [change(logged) if number % share == 0 else logged for number, logged in enumerate(samples)]


def said(logged, text, value="I", **output):
    """The same sample with another text."""
    number = int(logged["id"].removeprefix("q"))
    new = sample(number, logged["epoch"], text, value)
    new["output"] |= output
    return new


def averaged(samples):
    """Each run with the mean of its item's runs."""
    by_item: dict[str, list[float]] = {}
    for logged in samples:
        by_item.setdefault(logged["id"], []).append(float(logged["scores"]["includes"]["value"] == "C"))
    for logged in samples:
        logged["scores"] = {"includes": {"value": statistics.mean(by_item[logged["id"]]), "answer": None}}
    return samples


def with_times(samples, time_of):
    for logged in samples:
        logged["output"]["time"] = time_of(logged)
    return samples


def one_run_an_item(samples):
    return [logged for logged in averaged(samples) if logged["epoch"] == 1]


@pytest.mark.slow
def test_a_clean_log_with_its_true_standard_error_is_not_accused(tmp_path):
    assert not abouts(tmp_path, log_of(samples_of()))


@pytest.mark.slow
def test_clean_epochs_with_their_true_standard_error_are_not_accused(tmp_path):
    assert not abouts(tmp_path, log_of(samples_of(4), 4))


@pytest.mark.slow
def test_cached_epochs_are_heard(tmp_path):
    text = abouts(tmp_path, log_of(samples_of(4, same=True), 4))["cached runs"]
    assert "all 240 runs of 60 items repeat the same text at temperature 1" in text


@pytest.mark.slow
def test_cached_epochs_in_few_words_are_heard_by_their_times(tmp_path):
    samples = with_times(samples_of(3, same=True, n_words=1), lambda logged: 1 + int(logged["id"][1:]) / 7)
    assert "cached runs" in abouts(tmp_path, log_of(samples, 3, temperature=0.0))


@pytest.mark.slow
def test_greedy_epochs_that_repeat_themselves_are_not_accused(tmp_path):
    samples = with_times(samples_of(4, same=True), lambda logged: 1 + logged["epoch"] / 7)
    assert not abouts(tmp_path, log_of(samples, 4, temperature=0.0))


@pytest.mark.slow
def test_epochs_that_agree_in_a_few_words_are_not_accused(tmp_path):
    assert not abouts(tmp_path, log_of(samples_of(4, same=True, n_words=1), 4))


@pytest.mark.slow
def test_averaged_epochs_are_heard(tmp_path):
    text = abouts(tmp_path, log_of(averaged(samples_of(4)), 4))["averaged runs"]
    assert "all 4 runs of an item hold the same score, though their texts differ" in text


@pytest.mark.slow
def test_averages_in_place_of_runs_are_heard(tmp_path):
    assert "averaged runs" in abouts(tmp_path, log_of(one_run_an_item(samples_of(4))))


@pytest.mark.slow
def test_partial_credit_is_not_accused(tmp_path):
    draw = random.Random(3)
    samples = samples_of(4)
    for logged in samples:
        logged["scores"] = {"rubric": {"value": draw.choice([0.0, 0.25, 0.5, 0.75, 1.0]), "answer": None}}
    log = log_of([logged | {"scores": {"includes": logged["scores"]["rubric"]}} for logged in samples], 4)
    log["samples"] = samples
    log["results"]["scores"][0] |= {"name": "rubric", "scorer": "rubric"}
    assert "averaged runs" not in abouts(tmp_path, log)


@pytest.mark.slow
def test_a_third_of_the_standard_error_is_heard(tmp_path):
    samples = samples_of()
    error = log_of(samples)["results"]["scores"][0]["metrics"]["stderr"]["value"]
    found = abouts(tmp_path, log_of(samples, stderr=error / 3))
    assert "reported standard error" in found["reported error"]


@pytest.mark.slow
def test_epochs_counted_as_items_are_heard_in_the_standard_error(tmp_path):
    draw = random.Random(1)
    samples = []
    for item in range(N_ITEMS):
        is_right = draw.random() < 0.6
        for epoch in range(1, 11):
            number = item + 100 if is_right else 1999
            text = f"{sentence(draw)}, so the answer is {number}."
            samples.append(sample(item, epoch, text, "C" if is_right else "I"))
    values = [float(logged["scores"]["includes"]["value"] == "C") for logged in samples]
    error = statistics.stdev(values) / len(values) ** 0.5
    assert "reported error" in abouts(tmp_path, log_of(samples, 10, stderr=error))


def three_models(wrong_keys, hard=(), seed=0):
    """Logs of three models that are right on most items; of `wrong_keys` the key is another."""
    logs = []
    for number in range(3):
        draw = random.Random(f"{seed} {number}")
        samples = []
        for item in range(N_ITEMS):
            true = item + 100
            number_given = true if draw.random() < 0.9 else draw.randrange(1000, 1999)
            if item in hard:  # a trap that takes half of the models
                number_given = 777 if draw.random() < 0.5 else true
            key = 5000 + item if item in wrong_keys else true
            text = str(number_given)
            samples.append(sample(item, 1, text, "C" if number_given == key else "I") | {"target": str(key)})
        log = log_of(samples)
        log["eval"]["model"] = f"lab/m-{number}"
        logs.append(log)
    return logs


@pytest.mark.slow
def test_a_dozen_keys_that_no_answer_agrees_with_are_heard(tmp_path):
    text = abouts(tmp_path, *three_models(range(12)))["keys alone"]
    assert "no answer agrees with the right answer, and all 3 models give one other answer" in text


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_models_that_fall_into_one_trap_are_not_accused_of_wrong_keys(tmp_path, seed):
    assert "keys alone" not in abouts(tmp_path, *three_models((), range(20), seed))


def votes_of(answers_by_item):
    """A log whose item k has the key k, and as many runs of models as `answers_by_item[k]` has answers per model."""
    rows = []
    for number, by_model in enumerate(answers_by_item):
        for model, answers in by_model.items():
            rows += [(model, f"t/{number}", sample, answer) for sample, answer in enumerate(answers)]
    frame = pd.DataFrame(rows, columns=["model", "item_id", "sample", "answer"])
    frame = frame.assign(axis="identity", is_base=True, extractor="match", status="ok", variant_id=frame["item_id"])
    frame["score"] = 0.0
    n = len(answers_by_item)
    items = pd.DataFrame({"item_id": [f"t/{k}" for k in range(n)], "target": [f"key {k}" for k in range(n)]})
    return AuditInput(frame, items, pd.DataFrame())


ALONE = {"a": ["x"], "b": ["x"], "c": ["x"]}
MAJORITY = {"a": ["x"], "b": ["x"], "c": ["y"]}
OF_ONE = {"a": ["x"] * LEAST_VOTERS}
HALF = {"a": ["x", "x"], "b": ["y", "y"]}


@pytest.mark.parametrize(
    ("answers", "n_alone"),
    [
        ([ALONE] * LEAST_KEYS, LEAST_KEYS),
        ([ALONE] * (LEAST_KEYS - 1), 0),
        ([ALONE] * LEAST_KEYS + [MAJORITY] * (LEAST_KEYS - 2) + [HALF] * 9, LEAST_KEYS),
        ([ALONE] * LEAST_KEYS + [MAJORITY] * (LEAST_KEYS - 1), 0),  # models that err alike also split
        ([ALONE] * LEAST_KEYS + [OF_ONE] * (LEAST_KEYS - 2), LEAST_KEYS),  # one model's runs are not all models
        ([ALONE] * (LEAST_KEYS - 1) + [{"a": ["key 4"], "b": ["key 4"], "c": ["key 4"]}], 0),
        ([OF_ONE] * LEAST_KEYS, LEAST_KEYS),
        ([{"a": ["x"] * (LEAST_VOTERS - 1)}] * LEAST_KEYS, 0),
    ],
)
def test_keys_alone_are_named_from_five_on_and_two_more_than_majorities(answers, n_alone):
    log = votes_of(answers)
    found = list(audit_outputs._find_wrong_keys(log, log.frame))
    assert [len(finding.items) for finding in found] == [n_alone] * (n_alone > 0)
    assert all(set(finding.items) == {f"t/{k}" for k in range(n_alone)} for finding in found)


def cuts_of(log):
    return list(audit_outputs._find_silent_cuts(log))


def lengths_of(n_at_limit, n_all=300, max_tokens=64):
    """Outputs of two models, of which so many have all tokens that were allowed."""
    rows = []
    for model in ("m-2", "m-1"):
        for length, n in ((max_tokens, n_at_limit), (max_tokens - 40, n_all - n_at_limit)):
            rows.append((model, max_tokens, "stop", length, length, False, n, n))
    return AuditInput(pd.DataFrame(), pd.DataFrame(), pd.DataFrame(), lengths=pd.DataFrame(rows, columns=LENGTHS))


@pytest.mark.parametrize(
    ("n", "n_all", "is_found"),
    [(3, 20, True), (2, 20, False), (6, 300, True), (5, 300, False), (94, 100, True), (95, 100, False)],
)
def test_outputs_of_the_largest_length_are_cut_from_three_and_two_in_a_hundred_on(n, n_all, is_found):
    assert [finding.model for finding in cuts_of(lengths_of(n, n_all))] == ["m-2", "m-1"] * is_found


def test_one_token_is_the_form_of_an_answer():
    assert not cuts_of(lengths_of(6, max_tokens=1))
    assert cuts_of(lengths_of(6, max_tokens=2))


@pytest.mark.slow
def test_a_part_of_the_items_is_heard(tmp_path):
    log = log_of(samples_of(), dataset={"samples": 1500}, config={"limit": N_ITEMS})
    assert "60 of 1,500 items (the first ones, not a random part)" in abouts(tmp_path, log)["part of the items"]


@pytest.mark.slow
def test_a_limit_that_the_rows_exceed_is_heard(tmp_path):
    log = log_of(samples_of(), dataset={"samples": 1500}, config={"limit": 50})
    assert "the log planned 50 items and holds 60" in abouts(tmp_path, log)["items of no plan"]


@pytest.mark.slow
def test_a_limit_above_the_items_is_not_accused(tmp_path):
    assert not abouts(tmp_path, log_of(samples_of(), config={"limit": 500}))


def with_examples(samples, shown, role):
    """Examples before each question, as a system message or as turns of the conversation."""
    for logged in samples:
        if role == "system":
            text = "\n\n".join(f"Q: {question(item)}\nA: {item + 100}" for item in shown)
            examples = [{"role": "system", "content": text}]
        else:
            examples = []
            for item in shown:
                examples.append({"role": "user", "content": question(item)})
                examples.append({"role": "assistant", "content": str(item + 100)})
        logged["messages"] = [*examples, *logged["messages"]]
    return samples


@pytest.mark.slow
@pytest.mark.parametrize("role", ["system", "user"])
def test_the_tested_item_among_its_examples_is_heard(tmp_path, role):
    found = abouts(tmp_path, log_of(with_examples(samples_of(), (3, 7, 11), role)))
    assert "3 items stand among the examples" in found["own examples"]


@pytest.mark.slow
@pytest.mark.parametrize("role", ["user", pytest.param("system", marks=pytest.mark.slow)])
def test_examples_of_other_items_are_not_accused(tmp_path, role):
    assert not abouts(tmp_path, log_of(with_examples(samples_of(), (903, 907, 911), role)))


REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I cannot assist with this request.",
    "Es tut mir leid, dabei kann ich nicht helfen.",
)


@pytest.mark.slow
def test_refusals_are_heard_by_name(tmp_path):
    """Two of each: one that is not known would lower the count."""
    texts = iter(REFUSALS * 2)
    found = abouts(tmp_path, log_of(changed(samples_of(), 10, lambda logged: said(logged, next(texts)))))
    assert "outputs are refusals (6)" in found["refusals"]


@pytest.mark.slow
def test_a_refusal_that_is_right_is_not_accused(tmp_path):
    refusal = "I'm sorry, but I can't help with that."
    log = log_of(changed(samples_of(), 1, lambda logged: said(logged, refusal, "C")))
    assert "refusals" not in abouts(tmp_path, log)


@pytest.mark.slow
def test_an_answer_that_apologizes_is_no_refusal(tmp_path):
    text = "Sorry, I cannot be sure of the bank, but the answer is 9."
    log = log_of(changed(samples_of(), 10, lambda logged: said(logged, text)))
    assert "refusals" not in abouts(tmp_path, log)


@pytest.mark.slow
def test_empty_answers_are_heard_by_name(tmp_path):
    found = abouts(tmp_path, log_of(changed(samples_of(), 10, lambda logged: said(logged, ""))))
    assert "outputs are empty (6)" in found["empty answers"]


def cut_at(samples, n_chars):
    def cut(logged):
        text = f"{sentence(random.Random(logged['id']), 90)}"[:n_chars]
        return said(logged, text)

    return changed(samples, 6, cut)


@pytest.mark.slow
def test_texts_cut_at_a_number_of_characters_are_heard(tmp_path):
    found = abouts(tmp_path, log_of(cut_at(samples_of(), 300)))
    assert "have exactly 300 characters, which no other exceeds (10)" in found["silent cuts"]


@pytest.mark.slow
def test_texts_that_fill_the_tokens_allowed_are_heard(tmp_path):
    samples = samples_of()
    for number, logged in enumerate(samples):
        logged["output"]["usage"] = {"input_tokens": 9, "output_tokens": 64 if number % 6 == 0 else 30 + number % 9}
    found = abouts(tmp_path, log_of(samples, max_tokens=64))
    assert "have all 64 tokens that were allowed (10)" in found["silent cuts"]


@pytest.mark.slow
def test_texts_of_one_form_are_not_accused_of_being_cut(tmp_path):
    samples = [said(logged, f"{'a' * 250} {int(logged['id'][1:]) + 100}.", "C") for logged in samples_of(share=1.0)]
    samples[0] = said(samples[0], "b" * 300, "I")
    assert "silent cuts" not in abouts(tmp_path, log_of(samples))


def rerun(**change):
    row = {"model": "m", "temperature": 1.0, "n_items": 5, "n_outputs": 1_200, "n_same": 5, "n_timed": 0, "n_chars": 80}
    return AuditInput(pd.DataFrame(), pd.DataFrame(), pd.DataFrame(), reruns=pd.DataFrame([row | change]))


@pytest.mark.parametrize(
    ("change", "setting"),
    [
        ({}, " at temperature 1"),
        ({"temperature": math.nan}, ""),
        ({"n_items": 4, "n_same": 4}, None),
        ({"n_same": 4}, None),
        ({"n_same": 6}, " at temperature 1"),
        ({"n_chars": 79}, None),
        ({"n_chars": 79, "n_timed": 5}, " at temperature 1"),
        ({"n_timed": 4, "n_chars": 79}, None),
        ({"temperature": 0.0}, None),
        ({"temperature": 0.0, "n_timed": 5}, " at temperature 0"),
    ],
)
def test_reruns_look_cached_where_chance_and_greedy_decoding_would_not_repeat_them(change, setting):
    found = list(audit_outputs._find_cached_runs(rerun(**change)))
    if setting is None:
        assert not found
    else:
        (finding,) = found
        assert finding.claim.text == (
            f"m: all 1,200 runs of 5 items repeat the same text{setting}. They look cached, so their agreement says nothing "
            "about noise."
        )
        assert (finding.about, finding.rank, finding.model) == ("cached runs", 83, "m")
        assert finding.claim.detail == "Each repeat took exactly the same time." * (change.get("n_timed") == 5)


def outputs_log(n_calls=10, scores=(0.0, 0.0, 1.0), what="refusal", extractor="choice"):
    """One output per score, of a model that was asked `n_calls` times."""
    keys = [{"model": "m", "item_id": f"t/{i}", "variant_id": f"v{i}", "sample": 0} for i in range(len(scores))]
    outputs = pd.DataFrame([key | {"what": what} for key in keys])
    frame = pd.DataFrame([key | {"extractor": extractor, "score": score} for key, score in zip(keys, scores, strict=True)])
    calls = pd.DataFrame({"model": ["m", "m"], "n": [n_calls - 1, 1]})
    return AuditInput(frame, pd.DataFrame(), calls, outputs=outputs, scorers=("choice",))


@pytest.mark.parametrize(
    ("log", "about", "words", "rank", "detail"),
    [
        ({}, "refusals", "m: 20.0% of its 10 outputs are refusals (2).", 68 * 0.6, "2 of them count as wrong."),
        (
            {"scores": (0.0, 1.0)},
            "refusals",
            "m: 10.0% of its 10 outputs is a refusal (1).",
            68 * 0.55,
            "1 of them count as wrong.",
        ),
        ({"scores": (0.5,), "n_calls": 2}, "refusals", "m: 50.0% of its 2 outputs is a refusal (1).", 68 * 0.75, ""),
        (
            {"what": "empty"},
            "empty answers",
            "m: 30.0% of its 10 outputs are empty (3).",
            69 * 0.65,
            "2 of them count as wrong.",
        ),
        (
            {"what": "empty", "scores": (0.0,)},
            "empty answers",
            "m: 10.0% of its 10 outputs is empty (1).",
            69 * 0.55,
            "1 of them count as wrong.",
        ),
    ],
)
def test_refusals_and_empty_outputs_are_counted_and_rank_by_their_share(log, about, words, rank, detail):
    log = outputs_log(**log)
    (finding,) = audit_outputs._find_refusals_and_empty(log, log.frame)
    assert (finding.about, finding.claim.text, finding.claim.detail) == (about, words, detail)
    assert finding.rank == pytest.approx(rank) and finding.items[0] == "t/0"


def test_refusals_that_are_right_answers_are_not_counted_and_no_outputs_are_no_finding():
    right = outputs_log(scores=(1.0, 1.0))
    assert not list(audit_outputs._find_refusals_and_empty(right, right.frame))
    none = replace(right, outputs=right.outputs[:0])
    assert not list(audit_outputs._find_refusals_and_empty(none, none.frame))


def test_the_leading_scorer_of_the_log_says_what_a_refusal_is_worth():
    log = outputs_log(scores=(1.0,))
    other = log.frame.assign(extractor="a later one", score=0.0)
    frame = pd.concat([other, log.frame, log.frame.assign(extractor=OURS[0], score=0.0)])
    assert not list(audit_outputs._find_refusals_and_empty(log, frame))
    assert audit_outputs._lead_scores(log, frame)["score"].tolist() == [1.0]


def averages_log(scores, n_runs=2, extractor="rubric", n_same=2, n_items=5):
    """Items that hold one score in each of their runs."""
    rows = [
        {"model": "m", "item_id": f"t/{i}", "sample": run, "extractor": extractor, "score": score, "is_base": True}
        for i, score in enumerate(scores)
        for run in range(n_runs)
    ]
    reruns = rerun(n_items=n_items, n_same=n_same).reruns
    return AuditInput(pd.DataFrame(rows), pd.DataFrame(), pd.DataFrame(), reruns=reruns)


def averages_in(log, **changes):
    return list(audit_outputs._find_averaged_runs(log, log.frame.assign(**changes)))


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (
            {},
            "m, rubric: all 2 runs of an item hold the same score, though their texts differ; 5 of 7 lie between 0 and 1. "
            "They are averages.",
        ),
        ({"n_same": 2.5}, None),  # half of the items repeat their texts
        ({"scores": [0.5] * 4 + [1.0, 0.0, 1.0]}, None),  # four in between
        ({"scores": [0.3] * 7}, None),  # no multiple of a half
        ({"scores": [0.51] * 7}, None),
        ({"n_runs": 1, "scores": [0.005] * 7}, None),
        ({"n_runs": 1}, None),
        (
            {"n_runs": 1, "extractor": "task/match"},
            "m, task/match: 5 of 7 scores lie between 0 and 1, though this scorer gives right or wrong. They are averages of runs "
            "that the log does not hold.",
        ),
    ],
)
def test_scores_in_between_are_averages_where_runs_agree_or_a_scorer_gives_right_or_wrong(log, words):
    found = averages_in(averages_log(**{"scores": [0.5] * 5 + [1.0, 0.0]} | log))
    assert [finding.claim.text for finding in found] == [words] * (words is not None)
    assert all(finding.items == tuple(f"t/{i}" for i in range(5)) and finding.rank == 81 for finding in found)


def test_runs_that_differ_ours_and_other_prompts_are_no_averages():
    log = averages_log([0.5] * 5 + [1.0, 0.0])
    assert averages_in(log)
    assert not averages_in(log, score=log.frame["score"].where(log.frame["sample"] == 0, 0.0))
    assert not averages_in(log, is_base=False) and not averages_in(log, extractor=OURS[0])
    assert not averages_in(log, score=log.frame["score"] * 4)  # grades
    (finding,) = averages_in(averages_log([0.5] * 5 + [1.5, 0.0]))
    assert "5 of 6 lie between 0 and 1" in finding.claim.text
    assert not averages_in(replace(log, reruns=log.reruns[:0]))


def test_averages_are_named_in_the_order_of_the_log():
    log = averages_log([0.5] * 11)
    frame = pd.concat([log.frame.assign(model="m-2"), log.frame.assign(model="m-1")])
    reruns = pd.concat([log.reruns.assign(model=model) for model in ("m-1", "m-2")])
    found = list(audit_outputs._find_averaged_runs(replace(log, reruns=reruns), frame))
    assert [finding.model for finding in found] == ["m-2", "m-1"]
    assert found[0].items == tuple(f"t/{i}" for i in range(11))


def test_refusals_of_models_are_named_in_the_order_of_the_log():
    log = outputs_log()
    outputs = pd.concat([log.outputs.assign(model="m-2"), log.outputs.assign(model="m-1")])
    found = audit_outputs._find_refusals_and_empty(replace(log, outputs=outputs), log.frame)
    assert [finding.model for finding in found] == ["m-2", "m-1"]


def piled(n_top=10, n_open=10, n_near=3, n_all=100, column="n_tokens_out", top=64):
    """Texts of the largest length, some of which end open, and texts that are a little shorter."""
    lengths = [(top, True, n_open), (top, False, n_top - n_open), (math.ceil(0.95 * top), True, n_near), (top // 2, False, 50)]
    rows = [{column: length, "ends_open": is_open, "n": n, "n_texts": n} for length, is_open, n in lengths if n]
    ended = pd.DataFrame([{"n_tokens_out": math.nan, "n_chars": math.nan} | row for row in rows])
    return audit_outputs._outputs_at_top_length(ended, n_all)


@pytest.mark.parametrize(
    ("pile", "n"),
    [
        ({}, 10),
        ({"n_open": 5}, 10),
        ({"n_open": 4}, 0),  # most end as they should
        ({"n_near": 9}, 10),
        ({"n_near": 10}, 0),
        ({"n_near": 10, "top": 100}, 0),
        ({"n_top": 5, "n_open": 5}, 5),
        ({"n_top": 4, "n_open": 4}, 0),
        ({"n_all": 500}, 10),
        ({"n_all": 501}, 0),
        ({"n_top": 95, "n_open": 95}, 0),  # the prompt asks for this length
        ({"n_top": 94, "n_open": 94}, 94),
        ({"top": 63}, 0),  # the form of an answer
        ({"column": "n_chars", "top": 200}, 10),
        ({"column": "n_chars", "top": 199}, 0),
    ],
)
def test_texts_that_pile_up_at_the_largest_length_are_cut(pile, n):
    unit = "characters" if "column" in pile else "tokens"
    words = f"have exactly {pile.get('top', 64)} {unit}, which no other exceeds"
    assert piled(**pile) == ((n, words) if n else (0, ""))


def test_silent_cuts_say_how_many_have_all_tokens():
    (first, _) = cuts_of(lengths_of(6, 300))
    assert first.claim.text == (
        "m-2: 2.0% of its 300 outputs have all 64 tokens that were allowed (6), and the log does not say that they were cut off."
    )
    assert first.rank == 71
    assert not cuts_of(AuditInput(pd.DataFrame(), pd.DataFrame(), pd.DataFrame()))


@pytest.mark.parametrize(
    ("answers", "voters", "about"),
    [
        (ALONE, "all 3 models", "keys alone"),
        ({"a": ["x"], "b": ["x", "x"]}, "all 2 models", "keys alone"),
        (OF_ONE, "all its runs", "keys of one model"),
    ],
)
def test_keys_alone_name_their_voters(answers, voters, about):
    log = votes_of([answers] * LEAST_KEYS)
    (finding,) = audit_outputs._find_wrong_keys(log, log.frame)
    assert finding.claim.text == f"On 5 items no answer agrees with the right answer, and {voters} give one other answer."
    assert (finding.about, finding.rank) == (about, 66)


RIGHT_AND_WRONG = pd.Series([1.0, 0.0] * 50)
ERROR = float(RIGHT_AND_WRONG.std(ddof=1) / 10)


@pytest.mark.parametrize(
    ("stated", "scores", "is_found"),
    [
        (0.59 * ERROR, RIGHT_AND_WRONG, True),
        (0.6 * ERROR, RIGHT_AND_WRONG, False),
        (0.0, RIGHT_AND_WRONG, True),
        (-0.01, RIGHT_AND_WRONG, False),
        (None, RIGHT_AND_WRONG, False),
        (0.01, RIGHT_AND_WRONG[:10], True),
        (0.01, RIGHT_AND_WRONG[:9], False),
        (0.0, pd.Series([1.0] * 100), False),
        (0.0, pd.Series([0.5, 0.51] * 50), False),  # a thousandth is rounding
    ],
)
def test_a_standard_error_far_below_that_of_the_rows_is_named(stated, scores, is_found):
    found = audit_outputs.reported_errors({"stderr": stated}, scores, None)
    assert found == ((stated, pytest.approx(scores.std(ddof=1) / len(scores) ** 0.5)) if is_found else None)


def test_the_smaller_standard_error_of_items_and_clusters_counts():
    pairs = pd.Series(np.repeat(np.arange(50), 2))  # of a right and a wrong answer each: they do not vary
    assert audit_outputs.reported_errors({"stderr": 0.4 * ERROR}, RIGHT_AND_WRONG, pairs) is None
    assert audit_outputs.reported_errors({"stderr": 0.4 * ERROR}, RIGHT_AND_WRONG, pd.Series(np.zeros(100))) is not None
    halves = pd.Series([1.0, 1.0, 0.0, 0.0, 1.0, 0.0] * 4)
    pairs = pd.Series(np.repeat(np.arange(12), 2))
    sums = np.array([2, 0, 1] * 4) - 1.0
    by_pairs = float(np.sqrt((sums**2).sum() * 12 / 11) / 24)
    error = min(by_pairs, float(halves.std(ddof=1) / 24**0.5))
    assert audit_outputs.reported_errors({"stderr": 0.3 * error}, halves, pairs) == (0.3 * error, pytest.approx(error))


def test_keys_alone_stand_in_the_order_of_the_log_and_items_without_a_key_are_left_out():
    log = votes_of([ALONE] * 12)
    items = log.items.assign(target=[f"key {k}" for k in range(11)] + [""])
    (finding,) = audit_outputs._find_wrong_keys(replace(log, items=items), log.frame)
    assert finding.items == tuple(f"t/{k}" for k in range(11))
