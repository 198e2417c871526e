"""Second judges and judges that are contestants, and JudgeBench's judge in both orders."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest

from flipcore.annotation.gates import UNCOMPARED_JUDGE, UNPASSED_JUDGE
from flipcore.reports import audit as audit_report
from flipcore.reports.read_by_people import family_of, judges_of
from flipcore.stats.base.gate_rules import position_bias


@pytest.mark.parametrize(
    "model, family",
    [
        ("openai/gpt-4o-mini", "gpt"),
        ("o1-mini-2024-09-12", "gpt"),
        ("gpt-4o-2024-05-13", "gpt"),
        ("meta-llama/Meta-Llama-3-8B", "llama"),
        ("gemma3:4b", "gemma"),
        ("pocket-4bit", "pocket"),
        ("tests.annotation.judging:reader", "tests.annotation.judging:reader"),
    ],
)
def test_families_are_read_from_names(model, family):
    assert family_of(model) == family


def frame():
    rows = [
        {"model": model, "item_id": f"q{i}", "variant_id": f"v{i}", "sample": 0, "extractor": name, "status": "ok"}
        | {"answer": "1" if name == "judge v2" and i < 6 else "0", "family": f"q{i}"}
        for model in ("gpt-4o", "other")
        for name in ("judge", "judge_backwards", "judge v2", "regex")
        for i in range(30)
    ]
    return pd.DataFrame(rows)


def labelled(kind: int = 0):
    return [
        {"extractor": "judge", "model": model, "family": f"q{i}", "label_is_right": i % 2 == 0}
        | {"is_correct": i % 2 == 0 or (model == "gpt-4o" and i < kind)}
        for model in ("gpt-4o", "other")
        for i in range(30)
    ]


def test_two_judges_are_compared_and_the_turned_one_is_no_second():
    (pair,) = judges_of(frame(), [], {}, ["gpt-4o", "other"]).pairs
    assert (pair.first, pair.second, pair.n) == ("judge", "judge v2", 60)
    assert pair.same.value == pytest.approx(0.8) and pair.same.low < 0.8 < pair.same.high
    assert pair.sentence.startswith("Judge and judge v2 read 0.80 [") and " of 60 outputs alike, kappa " in pair.sentence


def test_a_judge_of_a_contestants_family_is_named_and_measured_against_people():
    models = ["gpt-4o", "other"]
    found = judges_of(frame(), labelled(10), {"judge": "o1-mini"}, models)
    (one,) = found.contestants
    assert one.own_models == ("gpt-4o",) and "judges its own family (gpt-4o)" in one.sentence
    assert one.preference.own_outputs.value == pytest.approx(5 / 30) and one.preference.other_outputs.value == 0
    assert "Apart: +16.7 points [" in one.sentence and "(n = 30)" in one.sentence
    assert {row.quantity for row in found.rows()} >= {"two judges read alike", "judge above people, apart"}
    assert json.dumps(found.as_dict(), allow_nan=False)
    (alone,) = judges_of(frame(), [], {"judge": "gpt-4o"}, models).contestants
    assert alone.preference is None and "answers here itself. Label outputs of these models" in alone.sentence
    assert judges_of(frame(), labelled(), {"judge": "claude-3"}, models).contestants == ()


@pytest.mark.stand_in("stats/base/test_gate_rules.py::test_position_bias_counts_changes_and_unreadable_answers_flip")
def test_the_judge_of_judgebench_gives_one_verdict_in_both_orders_in_686(shared_data):
    file = shared_data / "judges" / "judgebench_gpt-4o_by_o1-mini.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    place, turned = {"A>B": 0, "B>A": 1, "A=B": None}, {"A>B": 1, "B>A": 0, "A=B": None}  # of the first order, None for a tie
    first, second = zip(
        *((place[a["decision"]], turned[b["decision"]]) for a, b in (row["judgments"] for row in rows)), strict=True
    )
    bias = position_bias(first, second)
    assert 1 - bias.flip_rate.value == pytest.approx(0.686, abs=5e-4) and bias.flip_rate.n == 350
    assert (bias.n_first, bias.n_last) == (58, 18) and bias.p < 0.001 and "favours the first option" in bias.sentence()


def test_an_audit_tells_a_judge_that_failed_its_check_from_one_that_nobody_checked(monkeypatch):
    closed = {"judge": "Too few labels.", "judge v2": "Nobody labelled an output."}
    monkeypatch.setattr(audit_report, "closed_gates", lambda *_, **__: closed)
    monkeypatch.setattr(audit_report, "labelled_readouts", lambda *_: [{"extractor": "judge"}])
    source = SimpleNamespace(columns={})
    why_not = audit_report._unchecked(None, SimpleNamespace(study_id="s", items=[source]), ["judge", "judge v2", "regex"])
    assert why_not == {"judge": UNPASSED_JUDGE, "judge v2": UNCOMPARED_JUDGE}
    source.columns["people"] = "human_score"
    assert audit_report.why_unchecked(SimpleNamespace(items=[source])) == UNPASSED_JUDGE
    monkeypatch.setattr(audit_report, "closed_gates", lambda *_, **__: {})
    assert audit_report._unchecked(None, SimpleNamespace(study_id="s", items=[source]), ["regex"]) == {}
