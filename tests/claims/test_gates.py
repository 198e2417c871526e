"""What people have not checked enough is shown and enters no claim: on the pages, in the report, on the command line."""

import json
from dataclasses import replace

import pytest

from flipcore import __main__ as command_line
from flipcore.annotation.gates import closed_gates, reasons
from flipcore.annotation.judge_labels import label_row
from flipcore.annotation.paraphrases.random_order import take
from flipcore.claims import gates
from flipcore.core.study import Part
from flipcore.reports.score import score_report
from flipcore.reports.study import study_report
from flipcore.runs import demo, runner
from flipcore.stats.base import gate_rules
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.intervals import wilson
from flipcore.store.connection import Store
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import judgements, judges, review, studies
from tests.annotation.paraphrases.pairs import SAME
from tests.annotation.paraphrases.test_effect import reworded_study
from tests.annotation.paraphrases.test_verdict_messages import message
from tests.annotation.test_judge_labels import STUDY as JUDGED
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    return tmp_path / "flips.duckdb"


def said(study, capsys, *options):
    command_line.main(["stats", *options, study.study_id])
    return capsys.readouterr().out


@pytest.mark.slow
def test_a_judge_that_has_not_passed_enters_no_claim_until_it_has(path, capsys):
    store = Store.open(path)
    runner.run(JUDGED, store)
    shut = closed_gates(store, JUDGED.study_id, {"option_order"}, {"regex", "judge", "judge_backwards"})
    assert reasons(store, JUDGED.study_id) == shut  # whoever asks without naming anything is told the same
    assert set(shut) == {"judge", "judge_backwards"} and "nobody has labelled" in shut["judge"]
    flips = next(iter(study_report(studies.readouts(store, JUDGED.study_id), closed_gates=shut).values()))
    assert "Left out, not reviewed enough: judge" in flips.headline.sentence
    cells = flips.as_dict()["cells"]
    assert not any(one["is_claimed"] for one in cells if one["extractor"] in shut)
    store.close()
    assert "Not claimed: " in said(JUDGED, capsys) and "judge" in said(JUDGED, capsys)
    store = Store.open(path)
    texts = judges.judged_texts(store, JUDGED.study_id)
    judgements.keep(store, OUTPUT_LABELS, [label_row(one, "Ada", one["judged"]) for one in texts])
    assert closed_gates(store, JUDGED.study_id, {"option_order"}, {"judge"}) == {}
    store.close()
    assert "no claim" not in said(JUDGED, capsys) and json.loads(said(JUDGED, capsys, "--json"))["closed"] == {}


@pytest.mark.slow
def test_rewordings_enter_claims_when_their_source_has_passed(path):
    store = Store.open(path)
    demo.fill_store(store)
    runner.run(reworded_study(), store)
    study_id = reworded_study().study_id
    assert "No pair has been reviewed yet" in closed_gates(store, study_id, {"paraphrase"}, ())["paraphrase"]  # but by models
    assert closed_gates(store, study_id, {"option_order"}, {"regex"}) == {}
    assert "not stored here" in closed_gates(store, "no study", {"paraphrase"}, ())["paraphrase"]
    for name in ("Ada", "Bea", "Cem"):
        take(store, name, [message(pair, SAME, n=name) for pair in review.pairs(store)])
    assert closed_gates(store, study_id, {"paraphrase"}, ()) == {}
    store.close()


@pytest.mark.slow
def test_an_axis_that_asked_no_paraphrase_is_said_to_once_with_its_cells(tmp_path):
    """It stood once a reader, named no cell, and spoke of paraphrases that nobody has."""
    store = Store.open(tmp_path / "flips.duckdb")
    study = replace(tiny_study(), axes=(Part("identity"), Part("option_order", {"n": 2}), Part("paraphrase")))
    runner.run(study, store)
    why = "No paraphrase was asked, because these items have none here. Bring some in under Review."
    assert reasons(store, study.study_id) == {"paraphrase": why}
    reports = study_report(studies.readouts(store, study.study_id), closed_gates=reasons(store, study.study_id))
    lines = [line for flips in reports.values() for line in flips.lines()]
    cells = "paraphrase, first token; paraphrase, written answer"
    assert [line.strip() for line in lines if "Not claimed" in line] == [f"Not claimed: {cells}. {why}"]


@pytest.mark.slow
def test_ways_of_asking_are_gated_like_the_paraphrases_in_them(path):
    store = Store.open(path)
    demo.fill_store(store)
    drawn = {"n": 4, "parts": ["option_order", "paraphrase"]}
    study = replace(
        reworded_study(),
        axes=(Part("identity"), Part("paraphrase", {"unreviewed": True}), Part("combined", drawn)),
        name="ways",
    )
    plain = replace(study, axes=(Part("identity"), Part("combined", drawn | {"parts": ["option_order"]})), name="orders")
    for one in (study, plain):
        runner.run(one, store)
    shut = reasons(store, study.study_id)
    assert "No pair has been reviewed yet" in shut["combined"] and "combined" not in reasons(store, plain.study_id)
    report = score_report(studies.readouts(store, study.study_id), closed_gates=shut)
    assert report.random_axes == () and report.notes[0] == f"Left out of the wordings: {shut['combined']}"
    store.close()


def test_a_judge_is_claimed_only_where_its_gate_is_open():
    labels = [0, 1] * 60
    steady = Estimate(0.0, *wilson(0, 60), 0.95, "wilson", 60, None)
    shut = gates.judge_claim(gate_rules.judge_gate(labels, labels, None, steady))
    assert not shut.is_made and shut.assertion is None and shut.outcome == "closed"
    gate = gate_rules.judge_gate(labels, labels, gate_rules.position_bias(labels, labels), steady)
    claim = gates.judge_claim(gate)
    assert claim.is_made and claim.assertion is gates.JUDGE_PASSES and claim.outcome == "open" and claim.text == gate.sentence()
    assert claim.numbers == {"kappa": gate.agreement.estimate, "again": steady}


def test_sources_are_counted_and_claimed_only_where_one_passes():
    some = [gate_rules.paraphrase_gate(60, 60), gate_rules.paraphrase_gate(9, 10)]
    assert (
        gates.sources_claim(some).text == "1 of 2 sources of paraphrases passed the gate." and gates.sources_claim(some).is_made
    )
    none = gates.sources_claim(some[1:])
    assert none.text == "None of 1 source of paraphrases has passed the gate yet." and none.assertion is None


@pytest.mark.slow
def test_a_look_at_an_open_gate_is_claimed_only_where_it_holds_at_any_look():
    often, once = gate_rules.paraphrase_gate(400, 400), gate_rules.paraphrase_gate(47, 50)
    assert gates.looks_claim(often).is_made and gates.looks_claim(often).outcome == "holds"
    assert not gates.looks_claim(once).is_made and gates.looks_claim(once).outcome == "one look"


def test_gates_that_pass_err_in_three_of_a_hundred_and_judges_in_one_of_forty():
    assert [(assertion.error_rate, assertion.sides) for assertion in gates.ASSERTIONS] == [(0.03, 1), (0.03, 1), (0.025, 1)]
