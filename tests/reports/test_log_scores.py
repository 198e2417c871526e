"""A log's own scorer is its score and the reference: by its reducer, task by task, on its own scale."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from flipcore.core.errors import BadInput
from flipcore.reports.audit import audit
from flipcore.reports.log_scores import leading, task_scores
from flipcore.reports.score import score_report
from flipcore.reports.whole_study import whole_study
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.queries import studies
from tests.datasets.recorded import harness_files as made

pytestmark = pytest.mark.usefixtures("allowed_folders")


def sample(i, value, epoch=1, scorer="reward", target="", text="All done.", answer=None, **more):
    """A sample without options; `value` is what the scorer gave."""
    score = {"value": value} | ({"answer": answer} if answer is not None else {})
    question = f"Please do number {i}."
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": text}]
    own = {
        "choices": None,
        "target": target,
        "input": question,
        "messages": messages,
        "attachments": {},
        "scores": {scorer: score},
    }
    return made.inspect_sample(i, epoch, text) | own | more


def header(task, *scores):
    """`scores` are (name, scorer, reducer, value)."""
    rows = [
        {"name": name, "scorer": scorer, "metrics": {"mean": {"name": "mean", "value": value}}}
        | ({"reducer": reducer} if reducer else {})
        for name, scorer, reducer, value in scores
    ]
    one = made.inspect_header(0, 1)
    return one | {"eval": one["eval"] | {"task": task}, "results": {"scores": rows}}


def study_of(store, *paths):
    study_id = store_logs(survey(list(paths)), store)
    return study_id, studies.declared(store, study_id)


def headline(store, study_id):
    return whole_study(store, study_id).flips["openai/m-1"].headline.sentence


def trajectory(i, epoch, reward):
    """An agent's sample: a simulated user speaks, and never in the words of the input."""
    turns = [
        {"role": "system", "content": "The policy."},
        {"role": "user", "content": f"Hello, {i} {epoch}"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "t", "function": "look", "arguments": {"i": i}}]},
        {"role": "tool", "content": "found"},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": f"Bye {i} {epoch}."},
    ]
    return sample(i, reward, epoch, messages=turns, text=f"Bye {i} {epoch}.")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["the whole instruction in many words " * 8, pytest.param("", marks=pytest.mark.slow)])
def test_an_agents_score_is_its_reward_and_its_floor_that_of_outcomes(tmp_path, store, target):
    rewards = [[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0]] * 3
    rows = [trajectory(i, e + 1, r) | {"target": target} for i, item in enumerate(rewards) for e, r in enumerate(item)]
    log = made.inspect_eval(tmp_path / "a.eval", rows, header("airline", ("reward", "reward", "mean", 7 / 16)))
    study_id, study = study_of(store, log)
    (one,) = task_scores(store, study_id, study)
    assert one.mean.value == pytest.approx(7 / 16) and one.n_epochs == 4
    sentence = headline(store, study_id)
    assert sentence.startswith("Right on 44% [") and "12 items, by reward (mean of 4 epochs)" in sentence
    text = audit(store, study_id).text()
    assert "29% [" in text and "of pairs of runs give different scores, by reward" in text  # (3/6 + 4/6) / 4
    assert "text match" not in text and "does not" not in text
    assert store.rows("SELECT DISTINCT axis, key FROM study_variants") == [("identity", "base")]
    [(raw,)] = store.rows("SELECT any_value(raw_reply) FROM completions")
    assert len(json.loads(raw)["messages"]) == 6  # the trajectory is kept beside its last line


@pytest.mark.slow
def test_the_logs_scorer_is_the_reference_where_ours_reads_too(tmp_path, store):
    rows = [sample(i, "CI"[i % 2], scorer="match", target="oak", text="oak", answer="oak") for i in range(12)]
    study_id, _ = study_of(store, made.inspect_eval(tmp_path / "a.eval", rows, header("trees", ("match", "match", None, 0.5))))
    notes = whole_study(store, study_id).flips["openai/m-1"].notes
    sentence = headline(store, study_id)
    assert "Right on 50% [" in sentence and "by match" in sentence
    assert notes == ["Reference extractor: match."]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reducer", "value"),
    [
        pytest.param("pass_at_2", 0.625, marks=pytest.mark.slow),
        ("at_least_2", 0.5),
        pytest.param("max", 0.75, marks=pytest.mark.slow),
        pytest.param("mean", 0.4375, marks=pytest.mark.slow),
    ],
)
def test_the_first_reducer_of_the_log_gives_the_headline(tmp_path, store, reducer, value):
    rewards = [[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0]] * 3
    rows = [sample(i, r, e + 1) for i, item in enumerate(rewards) for e, r in enumerate(item)]
    value = {"pass_at_2": (1 + 0.5 + 5 / 6) / 4}.get(reducer, value)
    head = header("acts", ("reward", "reward", reducer, value), ("reward", "reward", "mode", 0.5))
    study_id, _ = study_of(store, made.inspect_eval(tmp_path / "a.eval", rows, head))
    sentence = headline(store, study_id)
    assert f"Right on {value:.0%} [" in sentence and f"({reducer} of 4 epochs)" in sentence
    assert not [one for one in audit(store, study_id).findings if one.about == "reported score"]


@pytest.mark.slow
def test_tasks_are_never_pooled_and_the_first_scorer_of_each_leads(tmp_path, store):
    def of(task, name, values):
        rows = [sample(f"{task}{i}", value, scorer=name) for i, value in enumerate(values)]
        return made.inspect_eval(tmp_path / f"{task}.eval", rows, header(task, (name, name, None, sum(values) / len(values))))

    study_id, study = study_of(store, of("first", "match", [1] * 9 + [0]), of("second", "model_graded", [1] * 4 + [0] * 6))
    sentence = headline(store, study_id)
    assert "first: right on 90% [" in sentence and "second: right on 40% [" in sentence and "65%" not in sentence
    assert [one.scorer for one in leading(task_scores(store, study_id, study), "openai/m-1")] == ["match", "model_graded"]


@pytest.mark.slow
def test_the_scorer_that_the_log_reports_first_leads_whatever_its_rows_list_first(tmp_path, store):
    rows = [
        sample(i, "C") | {"scores": {"includes": {"value": "C"}, "model_graded_fact": {"value": "IC"[i % 4 == 0]}}}
        for i in range(12)
    ]
    head = header("facts", ("model_graded_fact", "model_graded_fact", None, 0.25), ("includes", "includes", None, 1.0))
    study_id, _ = study_of(store, made.inspect_eval(tmp_path / "a.eval", rows, head))
    sentence = headline(store, study_id)
    assert "Right on 25% [" in sentence and "model_graded_fact" in sentence


@pytest.mark.slow
def test_what_the_log_calls_its_headline_leads_whatever_it_reports_first(tmp_path, store):
    rows = [sample(i, "C") | {"scores": {"includes": {"value": "C"}, "match": {"value": "IC"[i % 4 == 0]}}} for i in range(12)]
    head = header("facts", ("includes", "includes", None, 1.0), ("match", "match", None, 0.25))
    head["results"]["headline"] = {"scorer": "match", "score": "match", "metric": "mean", "reducer": None}
    study_id, _ = study_of(store, made.inspect_eval(tmp_path / "a.eval", rows, head))
    sentence = headline(store, study_id)
    assert "Right on 25% [" in sentence and "by match" in sentence


@pytest.mark.slow
def test_a_metric_of_ones_own_is_said_and_is_no_score_of_rows(tmp_path, store):
    rows = [sample(i, "CI"[i % 2]) for i in range(12)]
    head = header("facts", ("reward", "reward", None, 50.0))
    head["results"]["scores"][0]["metrics"] = {"percent": {"name": "percent", "value": 50.0}}
    study_id, _ = study_of(store, made.inspect_eval(tmp_path / "a.eval", rows, head))
    text = audit(store, study_id).text()
    assert "reward is reported as percent 50.000, which need be no mean" in text and "recomputed" not in text
    assert "Right on 50% [" in headline(store, study_id)


@pytest.mark.slow
def test_grades_keep_their_scale_and_a_grade_of_one_is_not_right(tmp_path, store):
    rows = [sample(i, 1 + i % 5, scorer="grade") for i in range(40)]
    study_id, study = study_of(
        store, made.inspect_eval(tmp_path / "a.eval", rows, header("essays", ("grade", "grade", None, 3.0)))
    )
    (one,) = task_scores(store, study_id, study)
    assert (one.mean.value, one.scale, one.is_share) == (3.0, (1.0, 5.0), False)
    sentence = headline(store, study_id)
    assert "Mean score 3.00 [" in sentence and "on a scale seen from 1 to 5" in sentence
    assert not store.rows("SELECT * FROM readouts WHERE is_correct IS NOT NULL")


def graded(tmp_path, name="essays.eval", n=40, n_epochs=3):
    """An Inspect log of a judge's grades from 1 to 5 beside right and wrong."""
    rng = np.random.default_rng(0)
    values = np.clip(np.round(3.4 + rng.normal(0, 0.8, (n, 1)) + rng.normal(0, 0.7, (n, n_epochs))), 1, 5).astype(int)
    rows = [
        sample(i, int(values[i, e]), e + 1)
        | {"scores": {"grade": {"value": int(values[i, e])}, "match": {"value": "CI"[i % 2]}}}
        for i in range(n)
        for e in range(n_epochs)
    ]
    head = header("essays", ("grade", "grade", "mean", float(values.mean())), ("match", "match", "mean", 0.5))
    return made.inspect_eval(tmp_path / name, rows, head), values


@pytest.mark.slow
def test_grades_have_the_whole_error_bar_on_their_own_scale(tmp_path, store):
    path, values = graded(tmp_path)
    study_id, study = study_of(store, path)
    whole = whole_study(store, study_id)
    (one,), (own, _) = whole.score.models, task_scores(store, study_id, study)
    half = stats.t.ppf(0.975, 39) * values.mean(axis=1).std(ddof=1) / math.sqrt(40)
    assert one.bar.cells.shape == (40, 1) and one.bar.n_runs == 3 and one.published == pytest.approx(values.mean())
    assert one.bar.half_width("questions") == pytest.approx(half)
    assert (one.bar.by_questions.low, one.bar.by_questions.high) == pytest.approx((own.mean.low, own.mean.high))
    assert one.bar.estimate("reruns").has_interval and set(one.extractor_bars) == {"grade"}
    text = whole.text()
    assert f"scores {values.mean():.2f} on a scale from 1 to 5; with other questions " in text and "ther extractor" not in text
    assert "Nobody declared the scale; it is taken to be 1 to 5." in text and "not compared with it: match" in text
    assert whole.as_dict()["score"]["models"][0]["intervals"]["questions"]["half_width"] == pytest.approx(half)
    shares = score_report(studies.readouts(store, study_id), is_recorded=True, reference="match", scorers=study.scorers)
    assert shares.claims[0].text.startswith("openai/m-1: 50% right; with other questions ") and set(
        shares.models[0].extractor_bars
    ) == {"match"}


@pytest.mark.slow
def test_a_declared_scale_bounds_the_limits_and_refuses_what_lies_beyond(tmp_path, store):
    path, _ = graded(tmp_path)
    corrections = corrections_of(["scale:grade=0..10"])
    study_id = store_logs(survey([path], corrections), store)
    text = whole_study(store, study_id).text()
    assert "on a scale from 0 to 10; with other questions " in text and "seen" not in text and "Nobody declared" not in text
    with pytest.raises(BadInput, match="beyond the scale 1..3"):
        store_logs(survey([path], corrections_of(["scale:grade=1..3"])), store)
    for word in ("scale=5", "scale:grade=5..1", "scale=a..b"):
        with pytest.raises(BadInput, match="is no scale"):
            corrections_of([word])


@pytest.mark.slow
def test_a_table_of_grades_in_several_wordings_has_other_wordings_too(tmp_path, store):
    rng = np.random.default_rng(1)
    shift = {"alpha": rng.normal(0.4, 0.3, 6), "beta": rng.normal(0, 0.3, 6)}
    rows = [
        {
            "item": f"q{i}",
            "model": model,
            "prompt_id": f"w{k}",
            "sample": s,
            "score": float(np.clip(3 + i % 3 / 2 + off + e, 1, 5)),
        }
        for model, offs in shift.items()
        for i in range(30)
        for k, off in enumerate(offs)
        for s, e in enumerate(rng.normal(0, 0.3, 2))
    ]
    path = tmp_path / "grades.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    study_id, _ = study_of(store, path)
    report = whole_study(store, study_id).score
    assert [one.bar.cells.shape for one in report.models] == [(30, 6), (30, 6)]
    assert "; with other questions and prompts " in report.claims[0].text
    (pair,) = report.differences
    assert "pp" not in pair.claim.text + pair.claim.detail and "with other questions and prompts" in pair.claim.text


@pytest.mark.slow
def test_a_grade_is_compared_with_no_share_and_contradicts_no_answer(tmp_path, store):
    """Of grades from 0 to 3 those of 0 and 1 were taken for wrong and right, and the rest compared in percentage points."""
    rows = [
        sample(i, "CI"[i % 2], target=f"{2 * i}", text=f"It is {2 * i}")
        | {
            "scores": {
                "match": {"value": "CI"[i % 2], "answer": f"{2 * i + i % 2}"},
                "grade": {"value": i % 4, "answer": f"{2 * i}"},
            }
        }
        for i in range(40)
    ]
    head = header("sums", ("match", "match", None, 0.5), ("grade", "grade", None, 1.5))
    study_id, _ = study_of(store, made.inspect_eval(tmp_path / "a.eval", rows, head))
    sentences = [one.claim.text for one in audit(store, study_id).findings]
    assert not [one for one in sentences if "grade" in one] and any("match" in one for one in sentences)


@pytest.mark.slow
def test_a_scorer_that_gives_several_values_is_read_as_it_is_reported(tmp_path, store):
    rows = [sample(i, {"fluent": 0.5, "right": i % 2}, scorer="aspects") for i in range(12)]
    head = header("texts", ("fluent", "aspects", None, 0.5), ("right", "aspects", None, 0.5))
    study_id, study = study_of(store, made.inspect_eval(tmp_path / "a.eval", rows, head))
    assert [one.scorer for one in task_scores(store, study_id, study)] == ["aspects fluent", "aspects right"]
    assert not [one for one in audit(store, study_id).findings if one.about == "reported score"]


@pytest.mark.slow
def test_several_right_options_are_the_scorers_to_judge(tmp_path, store):
    rows = [
        made.inspect_sample(i, text="ANSWER: A, C", value="CI"[i % 4 == 0])
        | {"target": ["A", "C"], "scores": {"choice": {"value": "CI"[i % 4 == 0], "answer": "A, C" if i % 4 else "A, B"}}}
        for i in range(12)
    ]
    study_id, _ = study_of(
        store, made.inspect_eval(tmp_path / "a.eval", rows, header("multi", ("choice", "choice", None, 0.75)))
    )
    assert "Right on 75% [" in headline(store, study_id)
    assert audit(store, study_id).findings == ()


@pytest.mark.slow
def test_samples_that_ran_out_of_tokens_are_cut_and_wrong_and_no_call_failed(tmp_path, store):
    rows = [
        sample(i, "I", scorer="match", target="oak")
        | {"output": {"model": "m", "choices": [], "completion": ""}, "limit": {"type": "token", "limit": 9}}
        for i in range(12)
    ]
    study_id, _ = study_of(store, made.inspect_eval(tmp_path / "a.eval", rows, header("long", ("match", "match", None, 0.0))))
    assert "Right on 0% [" in headline(store, study_id)
    text = audit(store, study_id).text()
    assert "calls were cut off (12)" in text and "failed" not in text.partition("none failed")[2]


@pytest.mark.slow
def test_a_corpus_measure_is_shown_as_the_log_reports_it(tmp_path, store):
    rows = [
        made.lm_eval_row(
            i, f"word {i}", f"word {i}", True, "none", metrics=["bleu", "exact_match"], bleu=["a", "b"], exact_match=i % 2
        )
        for i in range(12)
    ]
    results = {
        "results": {"prose": {"bleu,none": 0.29, "exact_match,none": 0.5}},
        "versions": {},
        "config": {"model_args": "model=m-1"},
    }
    (tmp_path / "results_2025.json").write_text(json.dumps(results), encoding="utf-8")
    study_id, study = study_of(store, made.lines(tmp_path / "samples_prose_2025.jsonl", rows), tmp_path / "results_2025.json")
    sentence = whole_study(store, study_id).flips["m-1"].headline.sentence
    assert "Mean score 0.29 by bleu, as the log reports it" in sentence and "0.50" not in sentence


@pytest.mark.slow
def test_a_corpus_measure_alone_is_the_headline_and_no_answer_of_a_row(tmp_path, store):
    """The text that a row keeps for BLEU was compared with its target, and called the recomputed score."""
    bleu = {"metrics": ["bleu"], "bleu": ["a", "b"]}
    rows = [made.lm_eval_row(i, f"word {i}", f"word {i}", True, "none", **bleu) for i in range(12)]
    for one in rows:
        del one["exact_match"]
    results = {"results": {"prose": {"bleu,none": 0.29}}, "versions": {}, "config": {"model_args": "model=m-1"}}
    (tmp_path / "results_2025.json").write_text(json.dumps(results), encoding="utf-8")
    study_id, _ = study_of(store, made.lines(tmp_path / "samples_prose_2025.jsonl", rows), tmp_path / "results_2025.json")
    whole = whole_study(store, study_id)
    assert "Mean score 0.29 by bleu, as the log reports it" in whole.flips["m-1"].headline.sentence and whole.score is None
    text = audit(store, study_id).text()
    assert "recomputed" not in text and "holds no row" not in text and "finds no answer" not in text


def trials(rewards):
    """τ-bench's own file: rewards (tasks, trials)."""
    return [
        {
            "task_id": i,
            "trial": k,
            "reward": float(reward),
            "info": {"task": {"instruction": f"You want {i}."}} | ({"error": "The tool broke."} if reward is None else {}),
            "traj": [
                {"role": "system", "content": "The policy."},
                {"role": "user", "content": f"Hello {k}."},
                {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "look", "arguments": "{}"}}]},
                {"role": "tool", "content": "found"},
                {"role": "assistant", "content": f"Bye {i} {k}."},
            ],
        }
        for i, item in enumerate(rewards)
        for k, reward in enumerate(item)
    ]


@pytest.mark.slow
def test_agents_own_result_files_give_pass_hat_k(tmp_path, store):
    path = tmp_path / "trials.json"
    path.write_text(json.dumps(trials([[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0]] * 3)), encoding="utf-8")
    study_id, study = study_of(store, path)
    (one,) = task_scores(store, study_id, study)
    expected = {"pass^1": 7 / 16, "pass^2": (1 + 1 / 6) / 4, "pass^3": 0.25, "pass^4": 0.25, "pass@4": 0.75}
    expected |= {"not always alike": 0.5, "two runs differ": (1 / 2 + 2 / 3) / 4}
    assert {name: round(value.value, 6) for name, value in one.passes} == {name: round(v, 6) for name, v in expected.items()}
    (floor,) = (one.claim.numbers["floor"] for one in audit(store, study_id).findings if one.about == "repeats")
    assert floor.text(3) == one.passes[-1][1].text(3)  # one quantity of one log, said twice, has one interval
    # three digits, as such tables are published: two hid .293 behind .29
    assert "pass^1 43.8% [" in whole_study(store, study_id).text()


@pytest.mark.slow
def test_the_second_generation_of_agents_files_is_read_by_its_layout(tmp_path, store):
    """By tau2-bench's published code; no file of it was at hand."""
    document = {
        "info": {"environment_info": {"domain_name": "retail"}, "agent_info": {"llm": "m-2"}},
        "tasks": [{"id": str(i), "user_scenario": {"instructions": f"Return {i}."}} for i in range(12)],
        "simulations": [
            {
                "id": f"s{i}{k}",
                "task_id": str(i),
                "trial": k,
                "reward_info": {"reward": float(i % 2)},
                "agent_cost": 0.01,
                "termination_reason": "user_stop",
                "messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Done."}],
            }
            for i in range(12)
            for k in range(2)
        ],
    }
    (tmp_path / "retail.json").write_text(json.dumps(document), encoding="utf-8")
    study_id, study = study_of(store, tmp_path / "retail.json")
    (one,) = task_scores(store, study_id, study)
    assert (one.model, one.task, one.mean.value, one.n_epochs) == ("m-2", "retail", 0.5, 2)


@pytest.mark.slow
@pytest.mark.stand_in("test_agents_own_result_files_give_pass_hat_k")
def test_the_public_agents_file_gives_its_published_numbers(shared_data, store):
    study_id, study = study_of(store, shared_data / "agents" / "gpt-4o-airline.json")
    (one,) = task_scores(store, study_id, study)
    passes = [round(value.value, 3) for _, value in one.passes]
    assert one.mean.value == pytest.approx(0.42) and passes[:4] == [0.42, 0.273, 0.22, 0.2]
    said = one.passes_words()
    assert "pass^1 42.0% [" in said and "not always alike 52.0% [" in said and "two runs differ 29.3% [" in said
    assert "29% [" in audit(store, study_id).text()  # the floor of outcomes


@pytest.mark.slow
def test_failed_calls_widen_the_headline_of_a_log(store, tmp_path):
    """Of 100 samples 10 failed: the score may be any between all of them wrong and all right."""
    rows = [sample(i, float(i < 60), answer="x") for i in range(100)]
    for row in rows[90:]:
        row["error"] = {"message": "timeout", "traceback": "", "traceback_ansi": ""}
        row["scores"], row["output"] = {}, {"model": "m", "choices": []}
    path = made.inspect_eval(tmp_path / "a.eval", rows, header("woods", ("reward", "reward", "", 60 / 90)))
    (score,) = task_scores(store, *study_of(store, path))
    assert score.absent == pytest.approx(0.1) and score.mean.value == pytest.approx(60 / 90)
    assert score.mean.low < 0.55 and score.mean.high > 0.75
    assert "10% of calls have no score" in headline(store, study_of(store, path)[0])


def test_items_that_ran_once_are_in_no_pass_at_two():
    """Ten of 120 items ran twice, and pass@2 was 100% of 120 [96.8, 100.0]."""
    import pandas as pd

    from flipcore.reports.log_scores import _passes

    scores = [("a", 1.0), ("a", 0.0), ("b", 0.0), ("b", 0.0), *((f"c{i}", 1.0) for i in range(20))]
    part = pd.DataFrame(scores, columns=["item_id", "score"])
    names = part["item_id"].unique()
    by_name = dict(_passes(part, pd.Series(names, index=names), 2))
    assert (by_name["pass@2"].value, by_name["pass@2"].n) == (0.5, 2)
    assert (by_name["not always alike"].value, by_name["not always alike"].n) == (0.5, 2)
