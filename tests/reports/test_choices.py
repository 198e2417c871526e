"""Every choice of a table: what may be varied, the sentences, the command and the notebook."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from flipcore import __main__ as command
from flipcore.api import study_in_memory
from flipcore.claims.choices import AFTER, BEFORE, moves_claim, survives_claim
from flipcore.claims.decisions import EVERY_OTHER, Decision, Flips, Loss
from flipcore.core.errors import BadInput
from flipcore.reports.browser_data import every_choice
from flipcore.reports.choices import SCORES_ALONE, STORED, ChoicesReport, choices_report, flips_choices_report, stored_choices
from flipcore.reports.exports.document import report
from flipcore.stats.choices.choice import Choice, ChoiceClass, Option
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.material import ArrayMaterial
from flipcore.stats.choices.readouts import ItemFacts, answers_of, material_of


def readouts(leads, n=300, unread=0.1):
    """Two models read by one extractor; B leaves a share of its answers unread. `leads` are the shares right."""
    rows = []
    for model, right in leads.items():
        for i in range(n):
            is_unread = model == "B" and (i % round(1 / unread) == 0 if unread else False)
            is_right = not is_unread and (i * 7919) % 1000 < 1000 * right
            status = "unreadable" if is_unread else "ok"
            rows.append((model, f"q{i}", "identity", "base", "regex", 0, status, is_right, f"q{i}", "x"))
    columns = "model item_id axis variant extractor sample status is_correct family answer".split()
    return pd.DataFrame(rows, columns=columns)


def curve_of(leads, **more):
    answers = answers_of(readouts(leads, **more), "regex", ItemFacts())
    return count(material_of(answers.of_models("A", "B"), ItemFacts()))


def test_a_large_lead_survives_and_its_sentence_says_by_how_much():
    claim = survives_claim(curve_of({"A": 0.9, "B": 0.5}), Decision("A", "B"))
    assert claim.is_made and claim.outcome == "survives"
    assert re.fullmatch(
        r"A scores higher than B, whichever of these 2 ways of counting is chosen: by \d+\.\d to \d+\.\d points\.",
        claim.sentence,
    )
    assert AFTER in claim.detail and "one-sided" in claim.detail


def test_a_lead_that_is_only_unread_answers_falls_where_they_are_left_out():
    curve = curve_of({"A": 0.70, "B": 0.72})
    claim = survives_claim(curve, Decision("A", "B"))
    assert not claim.is_made and claim.outcome == "falls"
    assert claim.sentence.startswith("A is not safely ahead of B. It leads in 1 of 2 defensible ways of counting, in ")
    assert claim.sentence.endswith("It falls behind only where unread answers are left out.")
    moves = moves_claim(curve, Decision("A", "B"))
    assert moves.is_made and "unread answers: left out" in moves.sentence


def test_the_one_that_leads_is_named_whichever_was_asked_about_first():
    claim = survives_claim(curve_of({"A": 0.5, "B": 0.9}, unread=0.02), Decision("A", "B"))
    assert claim.is_made and claim.sentence.startswith("A scores lower than B, whichever of these 2 ways")


def test_a_score_is_above_a_bar_in_every_way_or_not():
    frame, facts = readouts({"A": 0.8, "B": 0.7}), ItemFacts()
    curve = count(material_of(answers_of(frame, "regex", facts).of_models("B"), facts))
    above = survives_claim(curve, Decision("B", margin=0.5))
    assert above.is_made and above.sentence.startswith("B scores above 50% in each of 2 ways of counting: 63 to 70%.")
    assert not survives_claim(curve, Decision("B", margin=0.68)).is_made


@pytest.mark.parametrize(("bar", "text"), [(65.0, "65%"), (61.3, "61.3%")])
def test_a_bar_stays_where_it_was_set_when_the_positions_of_its_handle_move(bar, text):
    """An option with a much lower score was switched on, and the bar moved from 85 to 86%."""
    values = np.repeat([1.0, 0.0], [70, 30])
    extractor = Choice("extractor", "Extractor", (Option("a", "a", ""), Option("b", "b", "")), ChoiceClass.EQUAL, "")
    states = {("a",): values, ("b",): np.roll(values, 7) * (np.arange(100) > 65)}
    material = ArrayMaterial((extractor,), ("extractor",), states, {}, np.arange(100), np.zeros(100, dtype=int))
    curve = count(material)
    report = ChoicesReport(Decision("A"), curve, material.choices, is_locked=False)
    view = every_choice.start_of(material.choices, bar)
    _, handle = every_choice.board(report, curve, view).controls
    assert bar not in every_choice.thresholds(curve, Decision("A"))
    assert handle.start == bar and handle.labels[list(handle.values).index(bar)] == text


@pytest.mark.parametrize(
    ("n_kept", "words"),
    [
        (30, "it leads in 0 of 1 more way, in none by more than chance. It is behind in 1, in each by more than chance."),
        (5, "nothing may be claimed."),
    ],
)
def test_ways_that_ask_otherwise_and_show_the_opposite_are_said(n_kept, words):
    """Only those in favor were named, and "0 of 0 more ways" where too few questions were left."""
    kind = ChoiceClass.UNCERTAIN
    categories = Choice("categories", "Categories", (Option("all", "all", ""), Option("x", "x", "")), kind, "")
    lead = np.repeat([1.0, -1.0], [80, 30])
    items = np.arange(len(lead))
    left_out = {"categories=x": items < len(lead) - n_kept}
    material = ArrayMaterial((categories,), (), {(): lead}, left_out, items, np.zeros(len(lead), dtype=int))
    claim = survives_claim(count(material, (categories,)), Decision("A", "B"))
    assert claim.is_made and claim.sentence.endswith(f" Asked slightly otherwise, {words}")


def under_two_extractors(declared, other):
    """The ways of two extractors; a number per item: A's score less B's."""
    extractor = Choice("extractor", "Extractor", (Option("a", "a", ""), Option("b", "b", "")), ChoiceClass.EQUAL, "")
    items = np.arange(len(declared))
    states = {("a",): declared, ("b",): other}
    return count(ArrayMaterial((extractor,), ("extractor",), states, {}, items, np.zeros(len(items), dtype=int)))


def test_ways_that_ask_otherwise_change_no_verdict_and_are_counted_after_it():
    """They counted as defensible ways: whoever looked at another category made a decision fall."""
    kind = ChoiceClass.UNCERTAIN
    categories = Choice("categories", "Categories", (Option("all", "all", ""), Option("x", "x", "")), kind, "")
    lead = np.repeat([1.0, -1.0, 0.0], [30, 12, 20])
    items = np.arange(len(lead))
    left_out = {"categories=x": lead > 0}
    material = ArrayMaterial((categories,), (), {(): lead}, left_out, items, np.zeros(len(lead), dtype=int))
    curve = count(material, (categories,))
    claim = survives_claim(curve, Decision("A", "B"))
    assert claim.is_made and claim.sentence == (
        "A scores higher than B; no other way of counting is open. "
        "Asked slightly otherwise, it leads in 0 of 1 more way, in none by more than chance. "
        "It is behind in 1, in each by more than chance."
    )


def level_where_declared(*, elsewhere):
    """A and B are level as declared; under the other extractor A has so many right answers more than B."""
    declared = np.tile([1.0, -1.0, 0.0, 0.0], 10)
    other = declared.copy()
    other[2 : 2 + abs(elsewhere)] += np.sign(elsewhere)
    return under_two_extractors(declared, other)


@pytest.mark.parametrize(
    ("decision", "behind"),
    [
        (Decision("A", "B"), "It is behind in 1, in each by more than chance."),
        (Decision("A", "B", 0.01), "It does not lead by more than 1.0 points in 1, in each by more than chance."),
        (Decision("A", margin=0.01), "It scores below 1% in 1, in each by more than chance."),
        (Loss("A", "B", -0.01), "It loses more than that in 1, in each by more than chance."),
        (Flips("option order", "x"), "Fewer flip under it alone in 1, in each by more than chance."),
    ],
)
def test_ways_that_show_the_opposite_are_said(decision, behind):
    """They were left out: "in none by more than chance" stood where eight ways showed the opposite."""
    declared, other = np.zeros(40), np.zeros(40)
    declared[:4], declared[4:6], other[:30] = 1, -1, -1
    sentence = survives_claim(under_two_extractors(declared, other), decision).sentence
    assert "in 1 of 2 defensible ways of counting, in none by more than chance. " in sentence and behind in sentence


@pytest.mark.parametrize("elsewhere", [1, -1])
def test_what_is_level_as_declared_turns_nowhere(elsewhere):
    """It was said to fall behind where it leads."""
    claim = survives_claim(level_where_declared(elsewhere=elsewhere), Decision("A", "B"))
    assert claim.sentence.endswith("in none by more than chance. As declared they are level.")


def test_a_lead_that_ends_level_does_not_fall_behind():
    curve = level_where_declared(elsewhere=1)
    claim = survives_claim(replace(curve, estimate=curve.estimate[::-1].copy()), Decision("A", "B"))
    assert claim.sentence.endswith("They are level only where extractor: b.")


def test_where_an_option_moves_too_few_units_nothing_is_said_of_it():
    """One item in 40 is moved: no test, which was said to be no effect."""
    claim = moves_claim(level_where_declared(elsewhere=1), Decision("A", "B"))
    assert not claim.is_made and claim.sentence == "Too few units differ to say whether a choice moves the lead."


def test_where_fewer_than_half_are_open_nothing_is_said():
    curve = curve_of({"A": 0.9, "B": 0.5}, unread=0.5)
    claim = survives_claim(curve, Decision("A", "B"))
    assert claim.text == "Not claimed: that A scores higher than B. 0 of 2 ways of counting may be claimed: reads 50% of B."


def table(n=120):
    rng = np.random.default_rng(3)
    rows = []
    for model, right in (("A", 0.9), ("B", 0.5)):
        for i in range(n):
            for epoch in (1, 2):
                score = int(rng.random() < right)
                rows.append({"model": model, "id": f"q{i}", "question": f"Question {i}?", "epoch": epoch, "score": score})
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def study():
    return study_in_memory(table())


@pytest.mark.slow
def test_a_table_of_scores_alone_says_what_can_be_varied(study):
    report = study.choices("A", "B")
    assert [choice.name for choice in report.curve.choices] == ["reruns"]
    assert report.note == SCORES_ALONE and report.lines()[-1] == SCORES_ALONE
    assert report.claims[0].is_made
    assert json.loads(json.dumps(report.as_dict()))["choices"][0]["options"][0]["name"] == "mean"


@pytest.mark.slow
def test_grades_are_not_counted_by_those_of_them_that_are_0_or_1():
    """B is far ahead. Of 34 graded questions 2 were counted, and "Not claimed: that A scores higher than B" was said."""
    rows = table(30)
    rows["score"] = np.where(rows["model"] == "B", 0.7, 0.3)
    rows.loc[rows["id"] == "q0", "score"] = (rows["model"] == "A").astype(float)
    graded = study_in_memory(rows)
    with pytest.raises(BadInput, match="Nothing was judged right or wrong"):
        graded.choices("A", "B")
    said = graded.audit()
    assert said.as_dict().get("every_choice") is None and "ways of counting" not in said.text()
    with pytest.raises(BadInput):
        graded.ranking()  # not of one question either


@pytest.mark.slow
@pytest.mark.parametrize(("grade", "said"), [(0.3, ""), (1.0, "Scores disagree: 0 to 50% right, by other_score and score")])
def test_scores_disagree_on_right_and_wrong_and_not_on_grades(grade, said):
    """ "0 to 45% right" was said of three scores, by the few of their grades that are 0 or 1."""
    rows = table(30).assign(other_score=0.0)
    rows["score"] = [float(i % 2) if i % 3 else grade * (i % 2) for i in range(len(rows))]
    found = study_in_memory(rows[rows["model"] == "A"]).audit().text()
    assert said in found and ("disagree" in found) == bool(said)


@pytest.mark.slow
def test_an_audit_says_in_a_line_what_every_choice_leaves_of_a_lead(study):
    claim = study.choices("A", "B").claims[0]
    said = study.audit()
    assert f"\n- {claim.text}\n" in said.text() and claim.is_made
    assert said.as_dict()["every_choice"]["outcome"] == "survives"


@pytest.mark.slow
def test_an_audit_of_a_model_asks_about_a_bar(tmp_path, capsys, allowed_folders):
    path = tmp_path / "one.csv"
    table()[lambda rows: rows["model"] == "A"].to_csv(path, index=False)
    assert command.main(["audit", str(path)]) == 0 and "ways of counting" not in capsys.readouterr().out
    assert command.main(["audit", str(path), "--above", "50%"]) == 0
    assert "\n- A scores above 50% in each of 2 ways of counting: " in capsys.readouterr().out
    assert command.main(["audit", str(path), "--above", "half"]) == 1
    assert "'half' is no number of % from 0 to 100." in capsys.readouterr().err


@pytest.mark.slow
def test_a_report_says_and_draws_every_choice_where_there_are_two_models(study):
    text = report(study.store, study.study_id, 0)
    (section,) = re.findall(r'<section id="choices">.*?</section>', text, re.DOTALL)
    claim = study.choices("A", "B").claims[0]
    assert claim.is_made and claim.text in section and "first run" in section and "A user asks once." in section
    # Nobody is there to count what is only offered.
    assert '"kind":"ways"' in text and '"offered":[]' in text
    assert text.count(claim.text) > section.count(claim.text)
    alone = study_in_memory(table()[lambda rows: rows["model"] == "A"])
    assert 'id="choices"' not in report(alone.store, alone.study_id, 0)


@pytest.mark.slow
def test_the_first_rank_is_the_least_lead_over_every_other_model():
    rows = table()
    third = rows[rows["model"] == "B"].assign(model="C", score=lambda part: part["score"].iloc[::-1].to_numpy())
    study = study_in_memory(pd.concat([rows, third], ignore_index=True)).whole
    leads = [choices_report(study, "A", other) for other in "BC"]
    first = choices_report(study, "A", "every other model")
    estimates = [report.curve.estimate for report in leads]
    assert first.curve.estimate == pytest.approx(np.minimum(*estimates))
    assert first.curve.p_survives() == max(report.curve.p_survives() for report in leads)
    assert first.claims[0].sentence.startswith("A scores higher than every other model, whichever of these 2 ways")
    last = choices_report(study, "B", "every other model").claims[0]
    assert last.is_made and last.sentence.startswith("B scores lower than another model, whichever of these 2 ways")


@pytest.mark.slow
def test_outputs_that_one_extractor_read_are_outputs():
    """They were said to be missing, where nothing else read them and every answer was found."""
    whole = study_in_memory(table()).whole
    with whole.store.own_cursor() as cursor:
        cursor.execute("UPDATE completions SET text = 'The answer is B.'")
    assert choices_report(whole, "A", "B").note == ""


def test_the_notebook_asks_for_a_bar_and_refuses_what_is_not_there(study):
    assert study.choices("A", above=0.5).claims[0].sentence.startswith("A scores above 50%")
    assert study.choices().decision.first == "A"
    assert set(study.choices("A", "B").frame["quantity"]) == {"every choice", "moved by"}
    with pytest.raises(BadInput, match="'C' has no scored answers here"):
        study.choices("A", "C")
    with pytest.raises(BadInput, match="no choice 'unread'"):
        study.choices("A", "B", without=["unread"])


def test_choices_that_a_lock_stored_were_chosen_before(study, monkeypatch):
    stored = stored_choices(study.choices("A", "B").curve.choices)
    monkeypatch.setattr("flipcore.reports.choices.locks", lambda *_: [{"settings": {STORED: stored}}])
    assert BEFORE in choices_report(study.whole, "A", "B").claims[0].detail
    stored[0]["options"][0]["label"] = "another count of items"
    stored[0]["options"].append({"name": "not-here", "label": "", "reason": ""})
    assert BEFORE in choices_report(study.whole, "A", "B").claims[0].detail
    fewer = choices_report(study.whole, "A", "B", without=["reruns"])
    assert AFTER in fewer.claims[0].detail
    monkeypatch.setattr("flipcore.reports.choices.locks", lambda *_: [{"settings": {}}])
    assert AFTER in choices_report(study.whole, "A", "B").claims[0].detail


def test_a_study_without_changes_says_what_flips_take(study):
    with pytest.raises(BadInput, match="No flips can be compared here: that takes questions asked in several ways"):
        flips_choices_report(study.whole, "option_order")


def test_another_model_begins_a_sentence_with_a_capital():
    decision = Decision("A", EVERY_OTHER)
    assert decision.in_all("all 4 ways", -0.08, -0.06, below=True) == "Another model leads in all 4 ways, by 6.0 to 8.0 points"
    assert Decision("a", "b").in_all("all 4 ways", -0.08, -0.06, below=True).startswith("b leads in all")
