"""Rules that public tables taught at first try, each as a small made case."""

import json
from collections import Counter

import pytest

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.reading.rows import read_rows
from flipcore.datasets.recorded.by_structure import guess_recording
from flipcore.datasets.recorded.columns import entries_of_options
from flipcore.datasets.recorded.fields import score_of
from flipcore.datasets.recorded.formats.tables import table_reader
from flipcore.datasets.tables.coding import Coding, score_of_cell
from flipcore.datasets.tables.reading import MATCH, read_table
from flipcore.datasets.tables.sentence import sentence
from flipcore.runs.log_survey import survey
from tests.datasets.recorded.tables import recorded

pytestmark = pytest.mark.usefixtures("allowed_folders")


def read(tmp_path, rows):
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_table(path)


def test_probabilities_of_classes_are_no_scores(tmp_path):
    """`score_van` led before the right answers: 31% for 75%."""
    rows = []
    for i in range(40):
        right = ["van", "coupe"][i % 2]
        said = right if i % 4 else "coupe"
        rows.append(
            {"car": f"Car {i}", "true_label": right, "predicted_label": f"{said} car"}
            | {"score_van": 0.3 + i / 100, "score_coupe": 0.7 - i / 100}
        )
    reading = read(tmp_path, rows)
    assert reading.roles.scores == () and round(reading.scores["", MATCH], 2) == 0.75


def test_a_classifiers_label_is_the_output_and_its_score_a_confidence(tmp_path):
    """The classified text was the output, and the confidence was the score."""
    rows = []
    for i in range(20):
        right = ["toxic", "fine"][i % 2]
        said = right if i % 4 else "fine"
        rows.append(
            {"pair": i // 2, "text": f"You are number {i} of all.", "expected_label": right}
            | {"alpha_label": said, "alpha_score": 0.9 - i / 100}
            | {"beta_label": "fine", "beta_score": 0.5 + i / 100}
        )
    reading = read(tmp_path, rows)
    assert reading.roles.prompts == ("text",) and reading.roles.output == "label"
    assert reading.roles.scores == () and reading.scores["alpha", MATCH] == 0.75
    assert reading.scores["beta", MATCH] == 0.5


def test_columns_with_one_scale_are_scores_together(tmp_path):
    """Only "Accuracy (1-5)" was read, and of label_a, label_b, label_relevance the last."""
    rows = []
    for i in range(12):
        rows.append(
            {"Prompt": f"Explain part {i}.", "Response": f"Part {i} turns around once."}
            | {"Safety (1-5)": 4 + i % 2, "Accuracy (1-5)": 3 + i % 3, "Clarity (1-5)": 5 - i % 2}
        )
    reading = read(tmp_path, rows)
    assert reading.roles.scores == ("Safety (1-5)", "Accuracy (1-5)", "Clarity (1-5)")
    rows = []
    for i in range(12):
        rows.append(
            {"record_id": i, "input": f"Where is order {i}?", "agent_output": f"Order {i} is here."}
            | {"label_accuracy": 1 + i % 5, "label_relevance": 2 + i % 4, "label_tact": 1 + i % 4}
        )
    reading = read(tmp_path, rows)
    assert reading.roles.scores == ("label_accuracy", "label_relevance", "label_tact")


def test_stimuli_without_an_id_are_asked_about(tmp_path):
    """Two prompts were two questions, with a hundred rows in each."""
    rows = []
    for model in ("alpha-1", "beta-2"):
        for prompt_id in ("plain", "cot"):
            for blur in (4, 8, 12, 16, 20):
                for color in ("red", "green", "blue", "cyan"):
                    judgement = {"judgment": {"sees_depth": blur > 8, "is_correct": color == "red"}}
                    rows.append({"model": model, "prompt_id": prompt_id, "blur": blur, "color": color} | judgement)
    reading = read(tmp_path, rows)
    (question,) = reading.questions
    assert question.about == "item" and question.first.words == ("item=blur,color",)
    assert "20 questions" in question.first.says
    answered = read_table(tmp_path / "table.jsonl", {"item": "blur,color"})
    assert answered.n_items == 20 and not answered.questions


def test_what_an_llm_did_is_no_system(tmp_path):
    """`llm_action` and `llm_speed` parted two models into 29 arms."""
    rows = []
    for model in ("alpha-1", "beta-2"):
        for scenario in range(12):
            for flag in ("none", "no_cage", "no_camera"):
                action = ["stop", "go", "slow"][(scenario + len(model + flag)) % 3]
                rows.append(
                    {"model_name": model, "scenario_id": f"s{scenario}", "llm_action": action}
                    | {"mode": "final" if flag == "none" else "ablate", "ablation_flags": flag}
                    | {"llm_speed": scenario * 7 % 40, "pass": action != "go"}
                )
    reading = read(tmp_path, rows)
    assert reading.grid.conditions == ("model_name", "ablation_flags")
    assert (reading.n_items, reading.n_conditions, reading.n_runs) == (12, 6, 1)


def test_the_id_of_a_run_is_no_item(tmp_path):
    """Each row was a question of its own, and `status` its score in place of `solved`."""
    rows = []
    for model in ("alpha-1", "beta-2"):
        for task in range(8):
            for trial in (1, 2, 3):
                rows.append(
                    {"runId": f"{model}{task}{trial}", "traceId": f"t{task}{trial}{model}"}
                    | {"model": model, "task": f"0{task}-sort", "trial": trial, "status": "ok"}
                    | {"solved": (task + trial) % 4 > 0}
                )
    reading = read(tmp_path, rows)
    assert reading.grid.items == ("task",) and reading.grid.run == "trial"
    assert (reading.n_items, reading.n_conditions, reading.n_runs) == (8, 2, 3)
    assert reading.roles.scores == ("solved",)


def test_a_risk_that_a_model_names_is_asked_about(tmp_path):
    rows = []
    for i in range(30):
        rows.append({"id": f"mail:{i}", "label": "spam", "risk_score": 0.5 + i / 100})
    (question,) = read(tmp_path, rows).questions
    assert question.about == "score" and question.first.words == ("score=risk_score",)


def test_aspects_are_scorers_and_raters_no_reruns(tmp_path):
    """Three aspects by 15 people were "45 runs" of one score."""
    rows = []
    for sentence_id in range(10):
        for aspect in ("meaning", "fluency"):
            for worker in range(4):
                rows.append(
                    {"original": f"Sentence {sentence_id} is long.", "sentence_id": sentence_id}
                    | {"simplification": f"Sentence {sentence_id}.", "aspect": aspect}
                    | {"worker_id": (sentence_id + worker) % 9, "rating": 40 + worker * 10}
                )
    reading = read(tmp_path, rows)
    assert reading.grid.scorer == "aspect" and reading.grid.run == "worker_id"
    assert any("ratings by several people, and no reruns" in note for note in reading.notes)
    assert not any("read as reruns" in note for note in reading.notes)


def test_a_label_that_a_program_read_is_right(tmp_path):
    """`label` beside a long reply and the prediction in it was taken for what people read."""
    rows = []
    for i in range(20):
        said = bool(i % 2) if i % 5 else not i % 2
        rows.append(
            {"id": i, "question": f"How many of {i}?", "label": bool(i % 2), "prediction": said}
            | {"response_raw": f"The query number {i} has an error in its join, as it seems."}
        )
    reading = read(tmp_path, rows)
    assert (reading.roles.output, reading.roles.target) == ("prediction", "label")
    assert reading.scores["", MATCH] == 0.8


def test_entries_per_option_are_no_samples_and_metrics_no_outputs(tmp_path):
    """An `acc` inside of a prediction was matched with the right choice: 42% for 25%."""
    rows = []
    for i in range(24):
        logits = [{"sum_logits": -k - i / 7, "num_tokens": 1} for k in range(4)]
        metrics = {"acc_raw": int(i % 4 == 0), "predicted_index_raw": 0, "acc_uncond": i % 2}
        prediction = {"model_output": logits, "correct_choice": i % 4, "metrics": metrics}
        rows.append({"instance": {"instance_idx": i}, "prediction": prediction})
    reading = read(tmp_path, rows)
    assert reading.n_items == 24 and reading.n_runs == 1 and not reading.shape
    assert reading.scores["", "prediction.metrics.acc_raw"] == 0.25


def test_rows_with_a_number_of_questions_are_a_summary(tmp_path):
    rows = []
    for run in range(9):
        rows.append(
            {"exp_id": f"e{run}", "model": "ab"[run % 2], "run_id": run, "n_claims": 600}
            | {"accuracy": 0.4 + run / 100, "macro_f1": 0.38 + run / 100}
        )
    assert "Each row is a summary: n_claims" in read(tmp_path, rows).refusal


def test_a_number_that_counts_what_every_model_was_given_is_the_item(tmp_path):
    """Ten scenarios under two models were twenty questions, and nothing was paired."""
    rows = []
    for model in ("few_shot", "zero_shot"):
        for scenario in range(1, 11):
            rows.append(
                {"Scenario": scenario, "Intent": f"Ask for {scenario}", "Model": model}
                | {"Generated_Email": f"Dear all, {scenario} {model}.", "Tone_Score": scenario / 10}
            )
    reading = read(tmp_path, rows)
    assert (reading.n_items, reading.n_conditions) == (10, 2)
    assert "10 questions (Scenario) × 2 models" in sentence(reading)


def test_digits_as_classes_are_labels(tmp_path):
    rows = [{"image": f"{i}.png", "label": i % 10, "prediction": i % 10 if i % 5 else 3} for i in range(200)]
    reading = read(tmp_path, rows)
    assert reading.coding is Coding.LABEL and reading.scores["", MATCH] == 0.8
    few = [{"id": i, "question": f"What is {i} + 1?", "answer": i + 1, "prediction": i} for i in range(200)]
    assert read(tmp_path, few).coding is Coding.NUMBER


def test_a_decimal_comma_is_a_score(tmp_path):
    """A score of 0,57 in a file of semicolons was no number."""
    path = tmp_path / "punkte.csv"
    rows = [f"{i};Frage {i}?;Antwort {i};{['0,57', '1,0', '0,25'][i % 3]}" for i in range(30)]
    path.write_text("\n".join(["id;frage;antwort;punkte", *rows]), encoding="utf-8")
    reading = read_table(path)
    assert round(reading.scores["", "punkte"], 4) == round((0.57 + 1 + 0.25) / 3, 4)


@pytest.mark.parametrize(
    ("cell", "score"), [("0,57", 0.57), ("3,5", 3.5), ("57,5%", 0.575), ("1,234", None), ("-0,125", -0.125)]
)
def test_a_comma_is_a_decimal_point_where_it_can_be_nothing_else(cell, score):
    assert score_of_cell(cell) == (None if score is None else pytest.approx(score))


def test_two_judges_in_columns_are_no_systems(tmp_path):
    """judge1.reply and judge2.reply doubled every model: 12 arms for six."""
    rows = []
    for model in ("alpha-1", "beta-2"):
        for i in range(12):
            judges = {"judge1": {"reply": f"It covers {i}.", "score": i % 3}}
            judges |= {"judge2": {"reply": f"All {i} of them.", "score": i % 2}}
            rows.append({"item": f"anat-{i}", "model": model, "correct": i % 3 > 0} | judges)
    reading = read(tmp_path, rows)
    assert not reading.shape.models and (reading.n_items, reading.n_conditions) == (12, 2)


def test_a_score_of_the_whole_row_is_of_no_system_alone(tmp_path):
    """`correct` of a row with two outputs was the score of both."""
    rows = []
    for i in range(24):
        outputs = {"alone_output": f"It is {i if i % 2 else 99}.", "with_context_output": f"It is {i}."}
        keys = {"alone_answer": str(i), "with_context_answer": str(i)}
        rows.append({"id": f"t{i}", "question": f"Which is {i}?", "correct": i % 4 > 0} | outputs | keys)
    reading = read(tmp_path, rows)
    assert reading.shape.models and reading.roles.scores == ()
    assert reading.scores["alone", MATCH] == 0.5 and reading.scores["with_context", MATCH] == 1
    assert any("correct is a score of the whole row" in note for note in reading.notes)


def test_a_time_is_no_item(tmp_path):
    rows = [{"year": 2022, "day": i, "part1_correct": i % 2 > 0, "timestamp": f"2026-01-{i:02}T12:44"} for i in range(1, 26)]
    assert read(tmp_path, rows).grid.items == ()


def test_questions_to_the_user_and_to_people_are_no_grades(tmp_path):
    """`followups_asked` led the scores, and `escalate_to_human` was people's labels."""
    rows = []
    for i in range(30):
        right = ["select", "reject"][i % 2]
        said = right if i % 5 else "reject"
        rows.append(
            {"id": f"ad-{i}", "actual_decision": right, "predicted_decision": said}
            | {"followups_asked": 0, "escalate_to_human": i % 9 == 0}
        )
    reading = read(tmp_path, rows)
    assert reading.roles.graders == () and reading.scores["", MATCH] == 0.9


def test_the_id_of_a_sample_is_an_item(tmp_path):
    rows = []
    for i in range(40):
        rows.append(
            {"sample_index": 1000 + 7 * i, "question": f"Which of {i // 2} is it?", "expected": "ABCD"[i % 4]}
            | {"base_prediction": "A", "base_correct": i % 4 == 0, "adapted_prediction": "ABCD"[i % 4], "adapted_correct": True}
        )
    reading = read(tmp_path, rows)
    assert reading.n_items == 40 and reading.grid.run == ""


def test_an_answer_that_repeats_the_response_is_no_key(tmp_path):
    """Ragas exports both, and each row was right."""
    rows = []
    for i in range(20):
        said = f"The contract number {i} names a commission of {i} percent in its second clause."
        right = f"A commission of {i} percent is due, by the second clause of contract number {i}."
        rows.append(
            {"question": f"What is due by {i}?", "answer": said, "ground_truth": right, "response": said}
            | {"reference": right, "faithfulness": i % 3 / 2}
        )
    reading = read(tmp_path, rows)
    assert reading.roles.target in ("ground_truth", "reference") and ("", MATCH) not in reading.scores


def test_systems_with_general_names_beside_one_with_a_name(tmp_path):
    """agent_correct, raw_llm_correct and keyword_correct were three graders of two systems."""
    rows = []
    for i in range(30):
        row = {
            "id": i,
            "question": f"How many customers bought {i}?",
            "gold_sql": f"SELECT count(*) FROM sales WHERE n = {i} AND paid",
        }
        for place, system in enumerate(("agent", "raw_llm", "keyword")):
            row |= {
                f"{system}_correct": i % (place + 2) > 0,
                f"{system}_sql": f"SELECT count({system}) FROM sales AS s WHERE s.n = {i} -- {place}",
            }
        rows.append(row)
    reading = read(tmp_path, rows)
    assert set(reading.shape.models) == {"agent", "raw_llm", "keyword"}
    assert reading.scores["agent", "correct"] == 0.5 and reading.scores["keyword", "correct"] > 0.7


def test_lists_of_logits_are_no_output(tmp_path):
    rows = []
    for i in range(24):
        logits = [{"sum_logits": -k - i / 7, "num_tokens": 1} for k in range(4)]
        metrics = {"acc_raw": int(i % 4 == 0), "acc_per_token": i % 2, "predicted_index_per_token": 1}
        metrics |= {"acc_per_char": i % 3 % 2, "predicted_index_per_char": 2}
        prediction = {"model_output": logits, "correct_choice": i % 4, "metrics": metrics}
        rows.append({"instance": {"instance_idx": i}, "prediction": prediction})
    reading = read(tmp_path, rows)
    assert reading.roles.output == "" and not any(grader == MATCH for _, grader in reading.scores)


def test_rows_without_a_list_are_kept(tmp_path):
    """Two of four agents wrote no list, and all of their rows were lost."""
    rows = []
    for agent in ("alpha", "beta", "gamma", "delta"):
        for task in range(6):
            for seed in range(3):
                output = (
                    {"final": [f"It is {task}{seed}."]}
                    if agent in ("alpha", "beta")
                    else {"action": "stop", "belief": f"b{seed}"}
                )
                rows.append(
                    {
                        "task_id": f"t{task}",
                        "seed": seed,
                        "agent": agent,
                        "output": output,
                        "metrics": {"task_success": float(seed > 0)},
                    }
                )
    reading = read(tmp_path, rows)
    assert reading.n_conditions == 4 and reading.n_rows == 72


def test_a_rows_number_is_no_id_beside_an_id(tmp_path):
    """Ten prompts of one question were ten questions."""
    rows = []
    for category in ("baseline", "outline", "hints", "steps"):
        for i in range(8):
            rows.append(
                {
                    "row_index": len(rows),
                    "id": f"67{i}",
                    "prompt_category": category,
                    "gold_answer": "ABCD"[i % 4],
                    "model_output": "A",
                    "is_correct": int(i % 4 == 0),
                }
            )
    reading = read(tmp_path, rows)
    assert reading.n_items == 8
    (question,) = reading.questions
    assert question.about == "condition" and "prompt_category" in question.seen


def test_a_final_answer_is_an_output_and_a_style_no_prompt(tmp_path):
    rows = []
    for i in range(24):
        rows.append(
            {
                "sample_id": f"{i}_canon",
                "prompt_style": ["plain", "steps"][i % 2],
                "ground_truth": f"city {i}",
                "final_answer": f"It is city {i}." if i % 3 else "It is a town.",
            }
        )
    reading = read(tmp_path, rows)
    assert (reading.roles.output, reading.roles.prompts) == ("final_answer", ())
    assert reading.n_items == 24 and round(reading.scores["", MATCH], 2) == 0.67


def test_numbered_levels_with_names_are_asked_about(tmp_path):
    """Four levels of pressure were four runs, and pooled."""
    rows = []
    for level, name in enumerate(("neutral", "mild", "strong", "extreme")):
        for i in range(10):
            rows.append(
                {
                    "question_id": i,
                    "pressure_level_id": level,
                    "pressure_name": name,
                    "question": f"Did {i} happen?",
                    "ground_truth": ["Yes", "No"][i % 2],
                    "response": "Yes" if level or i % 2 else "No",
                }
            )
    reading = read(tmp_path, rows)
    assert reading.grid.run == "" and reading.questions[0].about == "condition"


def test_columns_without_a_name_are_numbered(tmp_path):
    """A sheet saved with two empty columns "names a column twice"."""
    path = tmp_path / "sheet.csv"
    lines = [f"{i},What is {i}?,It is {i}.,{i % 2},," for i in range(12)]
    path.write_text("\n".join(["id,prompt,response,correct,,", *lines]), encoding="utf-8")
    assert read_table(path).scores["", "correct"] == 0.5


# What a reading leaves unexplained is asked about: one case per doubt.


def asked(reading):
    return [question.about for question in reading.questions]


def answered(tmp_path, choice):
    return read_table(tmp_path / "table.jsonl", dict(word.split("=", 1) for word in choice.words))


def test_even_levels_without_a_role_are_asked_about(tmp_path):
    """Three scaffolds with questions of their own were pooled: 50% for 25, 50 and 75%."""
    rows = []
    for place, scaffold in enumerate(("baseline", "monitor", "constraint"), start=1):
        for i in range(20):
            rows.append(
                {"scaffold": scaffold, "prompt": f"Which is {scaffold} {i}?"}
                | {"response": f"It is {i}.", "correct": i % 4 < place}
            )
    (question,) = read(tmp_path, rows).questions
    assert question.about == "condition" and "25.0%, 50.0% and 75.0%" in question.first.says
    assert answered(tmp_path, question.first).scores["baseline", "correct"] == 0.25
    assert not answered(tmp_path, question.second).arms
    # facts of a question have names of their own, and a model's column needs no question
    for name in ("difficulty", "category", "model"):
        others = [{name if key == "scaffold" else key: row[key] for key in row} for row in rows]
        assert asked(read(tmp_path, others)) == []


def test_rows_that_differ_in_a_column_without_a_role_are_asked_about(tmp_path):
    """Two references of each summary were two runs."""
    rows = []
    for i in range(20):
        for model in ("small", "large"):
            for tool in ("alpha", "beta"):
                cells = {"video_id": i, "model": model, "reference_tool": tool}
                rows.append(cells | {"f1": (i % 5 + (tool == "beta")) / 10})
    (question,) = read(tmp_path, rows).questions
    assert question.about == "condition" and "20.0% and 30.0%" in question.first.says
    assert answered(tmp_path, question.first).n_conditions == 4


def test_rows_that_nothing_tells_apart_are_asked_about(tmp_path):
    """Stories without an id were 30 questions "× 1 run", in 200 rows."""
    rows = []
    for model in ("small", "large"):
        for i in range(100):
            cells = {"model": model, "question": f"Where is {i * i % 31}?", "n_words": i * 7 % 90}
            rows.append(cells | {"expected": "bath", "predicted": ["bath", "hall"][i % 3 > 0]})
    reading = read(tmp_path, rows)
    assert asked(reading) == ["item"]
    assert answered(tmp_path, reading.questions[0].first).n_items == 200


def test_lists_of_unequal_length_are_asked_about(tmp_path):
    """The unit tests of a task were runs of it."""
    rows = []
    for i in range(20):
        tests = [{"passed": k < 3, "expected": k, "result": k} for k in range(3 + i % 6)]
        rows.append({"id": f"t{i}", "success_rate": 3 / len(tests), "test_results": tests})
    reading = read(tmp_path, rows)
    assert reading.shape.lists and asked(reading) == ["samples"]
    assert not answered(tmp_path, reading.questions[0].second).shape.lists


def test_systems_in_columns_without_an_output_are_asked_about(tmp_path):
    """Two criteria of one drawing were two models, and baseline_correct led agent_correct."""
    rows = []
    for i in range(30):
        cells = {"question": f"Does {i} help?", "ground_truth": ["yes", "no"][i % 2]}
        rows.append(cells | {"baseline_correct": i % 4 > 0, "agentrag_correct": i % 2 > 0})
    reading = read(tmp_path, rows)
    assert asked(reading) == ["systems"]
    apart = answered(tmp_path, reading.questions[0].first)
    assert apart.scores["baseline", "correct"] > 0.7 and apart.scores["agentrag", "correct"] == 0.5
    aspects = [{**row, "rating": i % 5} for i, row in enumerate(rows)]
    assert asked(read(tmp_path, aspects)) == []  # beside an overall score they are aspects


def test_means_of_systems_are_asked_about(tmp_path):
    rows = [{"NAME": f"run {i}_clean", "F1": 0.1 + i / 99, "ACC": 0.2 + i / 77} for i in range(20)]
    reading = read(tmp_path, rows)
    assert asked(reading) == ["rows"] and "means" in reading.questions[0].second.says


def test_ids_that_end_in_letters_are_asked_about(tmp_path):
    """40 outputs of two systems, 1A and 1B, were 40 questions."""
    rows = [{"output_id": f"{i // 2}{'AB'[i % 2]}", "overall_score": 6 + i % 3} for i in range(40)]
    reading = read(tmp_path, rows)
    assert asked(reading) == ["item"] and "20 questions under 2 systems" in reading.questions[0].second.says
    rows = [{"output_id": f"q{i}", "overall_score": 6 + i % 3} for i in range(40)]
    assert asked(read(tmp_path, rows)) == []


@pytest.mark.parametrize("name", ["stereotype_score", "hallucination_severity", "oddness rating"])
def test_a_quality_that_nobody_knows_has_no_direction(tmp_path, name):
    rows = [{"id": i, "response": f"Text {i} it is.", name: i % 7 / 6} for i in range(30)]
    reading = read(tmp_path, rows)
    assert asked(reading) == ["direction"]
    assert answered(tmp_path, reading.questions[0].second).questions == ()
    plain = [{("clarity_score" if key == name else key): row[key] for key in row} for row in rows]
    assert asked(read(tmp_path, plain)) == []


def test_a_predicted_and_an_expected_thing_are_output_and_right_answer(tmp_path):
    """The written answer was the key, and a count of zeros the score: 2%."""
    rows = []
    for i in range(40):
        said = {
            "item_id": f"q{i}",
            "question": f"Which section has {i}?",
            "answer": f"**Answer** It is in part {i} of the Act.",
        }
        sections = {"expected_section": f"S.{i}", "predicted_section": f"{i}, 12", "removed_count": int(i == 3)}
        rows.append(said | sections)
    reading = read(tmp_path, rows)
    assert (reading.roles.output, reading.roles.target) == ("predicted_section", "expected_section")
    assert reading.roles.graders == () and asked(reading) == ["match"]
    assert answered(tmp_path, reading.questions[0].second).scores == {}


def test_two_outputs_of_one_row_are_asked_about(tmp_path):
    rows = []
    for i in range(20):
        texts = {"rag_response": f"The part number {i} turns.", "closed_reply": f"Nobody knows of {i} at all."}
        rows.append({"id": i, "prompt": f"What does {i} do?", "correct": i % 2} | texts)
    reading = read(tmp_path, rows)
    assert reading.shape.models or "outputs" in asked(reading)


def test_arms_that_answered_few_questions_are_asked_about(tmp_path):
    """What people rated AGENT were 220 systems."""
    rows = []
    for i in range(120):
        grades = {"A1 agents": 1 + i % 9, "A2 agents": 1 + i // 7 % 9}
        rows.append({"song_id": f"s{i // 2}"} | grades | {"score": i % 4})
    reading = read(tmp_path, rows)
    assert reading.n_conditions > 8 and "condition" in asked(reading)


def test_at_most_three_questions_are_asked(tmp_path):
    rows = []
    for place, scaffold in enumerate(("alpha", "beta", "gamma")):
        for i in range(20):
            rows.append(
                {"scaffold": scaffold, "key": f"k{place}{i}", "oddness_score": i % 5 / 4}
                | {"left_output": f"Left {i} it is not.", "right_output": f"The right {i} is."}
            )
    assert len(read(tmp_path, rows).questions) <= 3


def test_an_overall_score_beside_the_one_that_leads_is_asked_about(tmp_path):
    """One of four aspects led, and `overall` was not used."""
    rows = []
    for i in range(20):
        cells = {"id": f"s{i}", "intent": f"Ask for {i}.", "generated_email": f"Dear {i}, all of it is here."}
        rows.append(cells | {"fluency": i % 5 / 4, "overall": 0.5 + i % 4 / 8})
    reading = read(tmp_path, rows)
    assert asked(reading) == ["score"] and reading.questions[0].first.words == ("score=overall",)


def test_numbers_that_never_agree_are_asked_about(tmp_path):
    """4.78 billion was never 4781000000.0: 0%."""
    rows = []
    for i in range(13):
        for method in ("tuned", "rag"):
            said = f"The revenue was ${i + 2}.1 billion."
            cells = {"question": f"What did firm {i} earn?", "method": method, "answer": said}
            rows.append(cells | {"ground_truth": (i + 2) * 1e9 + 1e8})
    assert asked(read(tmp_path, rows)) == ["match"]
    none = [row | {"answer": "It is not known."} for row in rows]
    assert asked(read(tmp_path, none)) == []


def test_a_system_called_like_a_way_of_asking_is_beside_the_others(tmp_path):
    """`cot` was left out: its answers, scores and times were "not used"."""
    rows = []
    for i in range(24):
        row = {"question": f"What is {i} + {i}?", "gold": str(2 * i)}
        for k, system in enumerate(("fast", "cot", "vote"), start=2):
            row |= {
                f"{system}_answer": f"That makes {2 * i}.",
                f"{system}_correct": int(i % k > 0),
                f"{system}_time": i + k / 7,
            }
        rows.append(row)
    reading = read(tmp_path, rows)
    assert set(reading.arms) == {"fast", "cot", "vote"} and not reading.questions
    assert round(reading.scores["cot", "correct"], 3) == round(sum(i % 3 > 0 for i in range(24)) / 24, 3)


def test_a_rated_model_is_a_model_beside_judges_that_graded_some(tmp_path):
    """The models were pooled, as three reruns graded by six judges."""
    models = ("small", "middle", "large")
    rows = [
        {"prompt": f"Explain part {i}.", "judge_model": judge, "rated_model": rated, "score": 2 + k + (i + j) % 3}
        for i in range(20)
        for j, judge in enumerate(models)
        for k, rated in enumerate(models)
        if (i + j + k) % 3
    ]
    reading = read(tmp_path, rows)
    assert set(reading.arms) == set(models)
    assert reading.grid.scorer == "judge_model" and (reading.n_items, reading.n_runs) == (20, 1)
    assert not reading.questions


def test_two_categories_of_one_text_are_the_output_and_the_right_answer(tmp_path):
    """No right answer was known, because the whole output stood beside them."""
    rows = []
    for i in range(30):
        right, said = ("fair", "unfair")[i % 2], ("fair", "unfair")[(i + (i % 5 == 0)) % 2]
        rows.append(
            {"id": i, "text": f"Sentence {i} says something.", "gold_category": right, "pred_category": said}
            | {"raw_output": f'{{"category": "{said}", "reason": "It says {i}."}}'}
        )
    reading = read(tmp_path, rows)
    assert (reading.roles.output, reading.roles.target, reading.roles.prompts) == ("pred_category", "gold_category", ("text",))
    assert round(reading.scores["", MATCH], 3) == 0.8


def test_models_without_a_score_are_said(tmp_path):
    """The sentence named no model: 18 questions x 1 run."""
    rows = [
        {"question_id": i, "model": model, "question": f"Should {i} be taxed?", "response": f"{model} says yes to {i}, mostly."}
        for i in range(12)
        for model in ("small", "large")
    ]
    assert sentence(read(tmp_path, rows)).startswith("Read as 12 questions (question_id) × 2 models (model) × 1 run")


def test_three_outputs_of_a_row_are_asked_about_together(tmp_path):
    """Two of three systems were offered."""
    rows = [
        {"id": i, "responses": {name: f"{name} writes a letter about plan {i}." for name in ("base", "sft", "dpo")}}
        for i in range(16)
    ]
    (question,) = read(tmp_path, rows).questions
    (word,) = question.first.words
    assert set(word.removeprefix("model_columns=").split(",")) == {"responses.base", "responses.sft", "responses.dpo"}
    answered = read_table(tmp_path / "table.jsonl", dict([word.split("=", 1)]))
    assert answered.n_conditions == 3 and not answered.questions


def test_a_second_prompt_that_most_rows_lack_is_not_the_question(tmp_path):
    """Three of four rows were refused: they had no refined prompt."""
    rows = [
        {
            "id": f"q{i}",
            "Prompt": f"Please write about topic {i} now.",
            "Refined Prompt": f"write about topic {i}" if i % 4 == 0 else "",
        }
        | {"Response": f"Topic {i} is well known.", "F1": i / 12}
        for i in range(12)
    ]
    read(tmp_path, rows)
    recording = guess_recording(str(tmp_path / "table.jsonl"))
    assert "Refined Prompt" not in (recording.question, recording.prompt)


def test_a_count_of_right_answers_is_none(tmp_path):
    """`n_gt` was the right answer and `n_pred` the output: 17% by a comparison of two counts."""
    rows = []
    for i in range(24):
        counts = {"n_gt": 3 + i % 7, "n_pred": 4 + i % 5}
        rows.append({"file": f"f{i // 2}", "model": f"m{i % 2}"} | counts | {"recall": 0.3 + (i % 7) / 40})
    reading = read(tmp_path, rows)
    assert (reading.roles.target, reading.roles.output) == ("", "") and reading.roles.scores == ("recall",)


def test_four_ways_of_asking_in_type_are_asked_about(tmp_path):
    """An id per row, and `type` says how each question was asked: 100 questions were read."""
    rows = []
    for i in range(100):
        question, way = divmod(i, 4)
        rows.append(
            {"idx": i, "question": f"Which is number {question}?", "type": ["base", "cot", "facts", "both"][way]}
            | {"choices": ["a x", "b y", "c z", "d w"], "answer": question % 4, "prediction": (question + way // 2) % 4}
        )
    (question,) = read(tmp_path, rows).questions
    assert question.about == "item" and question.first.words == ("item=question", "models=type")
    assert "25 questions (question), each under 4 settings" in question.first.says


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (("model", "benchmark"), "model and benchmark"),
        (("model", "horizon"), "model and horizon"),
        (("model", "strategy"), "model and strategy"),
    ],
)
def test_means_of_systems_are_refused_in_a_sentence(tmp_path, columns, named):
    """A row per model and benchmark was read as 6 questions; a horizon was asked about."""
    values = {"model": ["a", "b", "c"], "benchmark": ["mmlu", "gsm8k", "arc", "piqa", "boolq", "drop"]}
    values |= {"horizon": [1, 2, 4, 8, 16, 32], "strategy": ["zero", "few", "cot", "tree", "self", "plan"]}
    rows = []
    for i, first in enumerate(values[columns[0]]):
        for j, second in enumerate(values[columns[1]]):
            rows.append({columns[0]: first, columns[1]: second, "n_gt": 40, "f1": 0.31 + i / 7 + j / 17})
    refusal = read(tmp_path, rows).refusal
    assert f"Each row holds one pair of {named}: a ranking of means" in refusal and "--map item=COLUMN" in refusal


def test_fractions_of_named_questions_are_no_ranking(tmp_path):
    """Each scenario is a question, although no output stands beside its score."""
    rows = [
        {"scenario": f"s{j}", "model": model, "f1": 0.31 + i / 7 + j / 17} for i, model in enumerate("ab") for j in range(8)
    ]
    reading = read(tmp_path, rows)
    assert not reading.refusal and reading.n_items == 8


def needle_rows():
    """A code hidden in a document, which two methods look for."""
    rows = []
    for i in range(40):
        for j, method in enumerate(("full_context", "bm25")):
            right = (i + 3 * j) % (20 - 10 * j) != 0
            rows.append(
                {"doc_id": f"d{i}", "item_id": f"i{i % 5}", "question": f"What is code {i % 5}?", "correct_answer": f"OE-{i}"}
                | {"answer_position": ["beginning", "middle", "end"][i % 3], "prompting_method": method}
                | {"document_word_count": 1000 + i % 8, "model_output": f"OE-{i}" if right else "none", "is_correct": right}
                | ({"answer_chunk_retrieved": right} if j else {})
            )
    return rows


def test_columns_about_the_answer_are_no_systems_beside_the_output(tmp_path):
    """answer_position and answer_chunk_retrieved were two systems; prompting_method was a prompt."""
    reading = read(tmp_path, needle_rows())
    assert not reading.shape.models and reading.grid.items == ("doc_id",)
    assert reading.grid.conditions == ("prompting_method",) and reading.arms == ("full_context", "bm25")
    assert reading.grid.clusters == () and not reading.questions
    assert reading.scores["full_context", "is_correct"] == 0.95 and reading.scores["bm25", "is_correct"] == 0.9


def test_a_question_says_the_leading_score_and_no_mean_over_graders(tmp_path):
    """The rows' own score and our comparison were averaged: 94.6% where 96.8% are right."""
    rows = []
    for i in range(100):
        question, way = divmod(i, 4)
        rows.append(
            {"idx": i, "question": f"What is code {question}?", "type": ["base", "cot", "facts", "both"][way]}
            | {
                "correct_answer": f"OE-{question}",
                "is_correct": way > 0,
                "model_output": f"OE-{question}" if way > 1 else "none",
            }
        )
    (question,) = read(tmp_path, rows).questions
    assert question.second.says == "100 questions." and question.second.score == 0.75


def test_labels_of_the_parts_of_one_output_are_no_runs(tmp_path):
    """Ten speakers of one window were ten runs."""
    rows = [
        {"case_id": f"c{i}", "condition": condition, "predicted_speakers": [f"S{(i + j) % 4}" for j in range(10)]}
        for i in range(12)
        for condition in ("profile", "no_profile")
    ]
    reading = read(tmp_path, rows)
    assert reading.shape.lists == () and reading.n_items == 12 and reading.n_conditions == 2


def test_a_category_that_differs_by_model_is_no_part_of_the_question(tmp_path):
    """`category` says how an answer was graded: 50 questions were 79."""
    rows = [
        {"question_id": f"q{i}", "model_name": model, "domain": ["a", "b"][i % 2]}
        | {"category": "confident_fabrication" if (i + j) % 5 == 0 else "correct", "rationale": f"It says {i} and {j}."}
        for i in range(20)
        for j, model in enumerate(("small", "large"))
    ]
    assert read(tmp_path, rows).grid.items == ("question_id",)


def test_lists_under_the_names_of_systems_are_systems(tmp_path):
    """Lists were zipped by position, whatever their order, and `cot` was no system: its output was that of all others."""
    texts = [f"The sum of {i} and {i} is easy to find: it is {2 * i}." for i in range(30)]
    document = {}
    for k, system in enumerate(("direct", "cot", "sentence_thinking"), start=2):
        document[system] = [
            {"question": f"What is {i} + {i}?", "gold_answer": str(2 * i), "correct": i % k > 0}
            | {"full_response": f"{texts[i]} ({system})", "clean_response": texts[i], "features": {"words": i}}
            for i in range(30)
        ]
    document["cot"].reverse()
    (tmp_path / "results.json").write_text(json.dumps(document), encoding="utf-8")
    reading = read_table(tmp_path / "results.json")
    assert reading.n_items == 30 and reading.arms == ("direct", "cot", "sentence_thinking")
    assert [round(reading.scores[arm, "correct"], 3) for arm in reading.arms] == [0.5, 0.667, 0.733]
    assert not reading.shape and not reading.questions  # a whole and a cleaned output are no systems


def test_lists_with_the_same_columns_are_one_table(tmp_path):
    """The longest of several lists was read, and the others were left out without a word."""
    tasks = [{"id": f"task_{i:02}", "question": f"Count the rows of table {i}."} for i in range(20)]
    runs = {
        name: {"n": 20, "queries": [row | {"correct": i % k > 0} for i, row in enumerate(tasks)]}
        for name, k in (("base", 2), ("final", 4))
    }
    (tmp_path / "runs.json").write_text(json.dumps(runs | {"change": {"base": 0.5, "final": 0.75}}), encoding="utf-8")
    reading = read_table(tmp_path / "runs.json")
    assert reading.n_items == 20 and reading.scores == {("base", "correct"): 0.5, ("final", "correct"): 0.75}
    answers = {
        f"m-{k}": {
            f"How might {q} be done better by us?": [{"answer": f"{q} {k} {i}", "coherence_score": i % 9} for i in range(6)]
            for q in "abcde"
        }
        for k in (1, 2)
    }
    (tmp_path / "models.json").write_text(json.dumps({"models": answers}), encoding="utf-8")
    reading = read_table(tmp_path / "models.json")
    assert (reading.n_rows, reading.n_items, reading.arms) == (60, 5, ("m-1", "m-2"))


def test_grades_called_after_a_quality_are_asked_about(tmp_path):
    """They were not used: "No right answers are known, so there is no accuracy"."""
    rows = [
        {"question": f"Is {i} true?", "response": f"Some say that {i} is true, others do not.", "truthfulness": 1 + i % 5}
        for i in range(30)
    ]
    (question,) = read(tmp_path, rows).questions
    assert question.first.words == ("score=truthfulness",) and round(question.first.score) == 3


def test_a_document_of_totals_is_a_summary(tmp_path):
    """Its refusal spoke of lists inside of lists."""
    totals = {"notes": "plain", "data": ["gsm8k", "math"], "size": {"eval": 1319, "right": 900}, "accuracy": 0.68}
    document = {"benchmark": "gsm8k", "conditions": {name: dict(totals) for name in ("base", "sft", "grpo", "both")}}
    document["conditions"]["sft"].pop("size")
    (tmp_path / "totals.json").write_text(json.dumps(document | {"model": {"name": "m-7b"}, "seed": 1}), encoding="utf-8")
    reading = read_table(tmp_path / "totals.json")
    assert "that is a summary" in reading.refusal


def test_samplers_and_runs_with_names_are_arms_or_asked_about(tmp_path):
    """`sampler` counted runs: "has the sample 'greedy', which is no whole number"."""
    rows = [
        {
            "id": f"q{i}",
            "question": f"Which is {i}?",
            "sampler": sampler,
            "predicted_answer": f"a{i % k}",
            "correct": i % k == 0,
        }
        for i in range(24)
        for k, sampler in ((2, "greedy"), (3, "beam"))
    ]
    assert read(tmp_path, rows).scores["beam", "correct"] == 1 / 3
    named = [{"attempt" if name == "sampler" else name: value for name, value in row.items()} for row in rows]
    (question,) = read(tmp_path, named).questions
    assert question.about == "condition" and question.first.words == ("models=attempt",)


def test_a_precision_of_whole_numbers_counts_decimals(tmp_path):
    """It led the scores: 1.65 on a scale from 1 to 2. A score that most rows lack leads no longer."""
    rows = []
    for i in range(40):
        row = {"pid": i, "question": f"What is {i} / 7?", "response": f"It is {i / 7:.2f}, I think.", "answer": f"{i / 7:.2f}"}
        rows.append(
            row | {"precision": 1 + i % 2 if i % 10 == 0 else None, "f1": 0.5 if i == 3 else None, "true_false": i % 4 > 0}
        )
    reading = read(tmp_path, rows)
    assert reading.roles.scores == ("true_false", "f1") and reading.scores["", "true_false"] == 0.75


def test_settings_beside_equal_right_answers_are_asked_about(tmp_path):
    """Four methods in a column called a type were pooled, where no column holds the question."""
    rows = [
        {
            "output": f"place {i if (i + k) % 3 else 0}",
            "answer": f"place {i // 2}",
            "score": (i + k) % 3,
            "inference_type": kind,
        }
        for k, kind in enumerate(("cot", "act", "standard"))
        for i in range(20)
    ]
    (question,) = read(tmp_path, rows).questions
    assert question.about == "condition" and question.first.words == ("models=inference_type",)


def test_right_and_wrong_under_slugs_of_models_are_asked_about(tmp_path):
    """The score of the one model with a known name was the score; the other one was "not used"."""
    rows = [{"prompt": f"Which is {i}?", "vendor/Qqx-8x7B": bool(i % 3), "gpt-4-1106": bool(i % 5)} for i in range(30)]
    (question,) = read(tmp_path, rows).questions
    assert question.about == "systems" and question.first.words[0] == "model_columns=vendor/Qqx-8x7B,gpt-4-1106"


def test_places_beside_columns_of_options_are_compared_whatever_the_case(tmp_path):
    """`ans0` to `ans2` were no options, so every output was compared with a number: 0%."""
    rows = [
        {
            "example_id": i,
            "context": f"Ann and Bob met at {i}.",
            "question": "Who was late?",
            "ans0": "Ann",
            "ans1": "Not known",
            "ans2": "Bob",
        }
        | {"label": i % 3, "big_pred_race": ["ann", "not known", "bob"][i % 3 if i % 4 else 0], "big_pred_arc": "not known"}
        for i in range(60)
    ]
    reading = read(tmp_path, rows)
    assert reading.roles.options == ("ans0", "ans1", "ans2")
    assert [round(reading.scores[arm, MATCH], 3) for arm in reading.arms] == [0.833, 0.333]


def test_a_class_beside_its_prediction_is_the_right_answer_in_korean_too(tmp_path):
    """Names in Korean: the confidence was offered as the score."""
    classes = ("나비", "벌레", "메뚜기")
    rows = [
        {
            "클래스": classes[i % 3],
            "파일명": f"image_{i // 3}.jpg",
            "예측_클래스": classes[i % 3 if i % 4 else 0],
            "신뢰도": i / 70,
        }
        | {"정확_여부": "정확" if i % 4 or i % 3 == 0 else "오류"}
        for i in range(60)
    ]
    reading = read(tmp_path, rows)
    assert (reading.roles.output, reading.roles.target, reading.roles.scores) == ("예측_클래스", "클래스", ("정확_여부",))
    assert round(reading.scores["", "정확_여부"], 3) == round(reading.scores["", MATCH], 3) == 0.833


def test_an_answer_that_differs_between_models_is_the_output(tmp_path):
    """Outputs under `answer_text` were no outputs: "those are items"."""
    rows = [
        {"item_id": f"fee-{i}", "model": model, "question": f"What is fee {i}?", "answer_text": f"{model} says {i * k} euros."}
        | {"label": "CO" if (i + k) % 3 else "IN"}
        for i in range(20)
        for k, model in ((1, "small"), (2, "large"))
    ]
    assert read(tmp_path, rows).roles.output == "answer_text"


def test_a_setting_that_follows_from_a_finer_column_is_no_run_count(tmp_path):
    """Thirteen documents were reruns of two modes, and `stdout` and `stderr` were systems."""
    docs = {"nothing": "control", "short": "control", "noise0": "injection", "noise50": "injection", "noise100": "injection"}
    rows = [
        {
            "task_id": i,
            "meta": {"doc_name": doc, "mode": mode},
            "passed": (i + k) % (2 + k) == 0,
            "full_response": f"x = {i + k}\nEND",
        }
        | {"stdout": f"ran {i}{k}", "stderr": None if i % 3 else f"line {i + k}"}
        | ({"stdout_control": "ran", "stderr_control": f"line {i}"} if mode == "injection" else {})
        for i in range(30)
        for k, (doc, mode) in enumerate(docs.items())
    ]
    reading = read(tmp_path, rows)
    (question,) = reading.questions
    assert not reading.shape and reading.n_items == 30 and reading.n_runs == 1
    assert question.first.words == ("models=meta.doc_name",)


def test_the_labels_of_a_model_and_of_people_are_grades(tmp_path):
    """LLM_Label named two systems, 0 and 1, with 53% and 75%."""
    rows = [{"Image ID": f"meme-{i % 12}", "Human_Label": i % 2, "LLM_Label": int(i % 5 == 0)} for i in range(120)]
    reading = read(tmp_path, rows)
    assert reading.grid.conditions == () and reading.roles.judges == ("LLM_Label",) and reading.n_items == 12
    assert reading.scores["", "LLM_Label"] == 0.2 and reading.n_copies == 0


def test_two_lists_of_outputs_are_asked_about(tmp_path):
    """The outputs under pressure were runs, and the accuracy without it was their score."""
    rows = [
        {
            "question": f"Who wrote book {i}?",
            "correct_answer": f"Writer {i}",
            "baseline_accuracy": i % 2,
            "pressure_accuracy": int(i % 3 > 0),
        }
        | {f"{name}_responses": [f"{name}: Writer {i + k}" for k in range(3)] for name in ("baseline", "pressure")}
        for i in range(30)
    ]
    question = read(tmp_path, rows).questions[0]
    assert question.about == "outputs" and question.first.words == ("model_columns=baseline,pressure",)
    scored = [
        {"id": i, "raw_generations": [f"x = {k}" for k in range(4)], "raw_scored_generations": [k < i % 5 for k in range(4)]}
        for i in range(30)
    ]
    (tmp_path / "scored.json").write_text(json.dumps(scored), encoding="utf-8")
    assert not read_table(tmp_path / "scored.json").questions  # one of the lists holds the scores of the other
    answered = read_table(tmp_path / "table.jsonl", dict(word.split("=", 1) for word in question.first.words))
    assert [round(answered.scores[arm, "accuracy"], 2) for arm in answered.arms] == [0.5, 0.67]


def test_lists_of_search_queries_are_no_prompts(tmp_path):
    """26 prompts were 112 questions, and the verdict of a whole response was "not used"."""
    rows = [
        {"id": i, "prompt": f"What is article {i}?", "model": model, "response": f"{model} knows article {i}."}
        | {"queries": [[f"article {i} {model}", f"law {i}"]], "response_level_factuality": (i + k) % 4 == 0}
        for i in range(20)
        for k, model in enumerate(("one", "two", "three"))
    ]
    reading = read(tmp_path, rows)
    (question,) = reading.questions
    assert (reading.n_items, reading.n_conditions) == (20, 3)
    assert question.first.words == ("score=response_level_factuality",) and question.first.score == 0.25


def test_correct_with_its_letters_is_a_grade(tmp_path):
    """The "n" of "correct? y/n" counted something: no score was found."""
    rows = [
        {"question": f"What is fee {i}?", "proposed_answer": f"{i} euros", "correct? y/n": "yn"[i % 4 == 0]} for i in range(40)
    ]
    assert read(tmp_path, rows).scores == {("", "correct? y/n"): 0.75}


def test_scores_inside_of_a_parsed_result_are_graders(tmp_path):
    """Their reasons and scores were six models, each with the scores of two other criteria."""
    criteria = ("relevance", "coherence", "factuality", "depth", "engagement")
    rows = [
        {"id": i, "input": f"Who is actor {i}?", "output_cand": f"Actor {i} began on stage.", "generator_cand": "m-7b"}
        | {
            "parsed_result": {
                name: {"reason": f"It is {i + k} good.", "score": str((i + k) % 5 + 1)} for k, name in enumerate(criteria)
            }
        }
        for i in range(12)
    ]
    reading = read(tmp_path, rows)
    assert not reading.shape and reading.n_items == 12
    assert set(reading.roles.graders) == {f"parsed_result.{name}.score" for name in criteria}


def test_candidates_of_one_way_of_asking_are_no_options(tmp_path):
    """80 questions of 20, and 8 rows were refused: their right answers were none of the candidates."""
    rows = [
        {"sample_id": f"sum-{i}", "style": style, "question": f"What is {i} and {i}?", "gold": f"{2 * i}.0"}
        | {"prediction": f"{2 * i + k}.0", "raw_output": f"It is {2 * i + k}.", "correct": k == i % 4}
        | {"extra": {"candidates": [1.0, i + 2.0]} if style == "vote" else {}}
        for i in range(20)
        for k, style in enumerate(("direct", "cot", "story", "vote"))
    ]
    reading = read(tmp_path, rows)
    assert reading.roles.options == () and reading.n_items == 20
    assert reading.questions[0].first.words == ("models=style",)


def test_calls_that_succeeded_and_marks_of_few_rows_are_no_scores(tmp_path):
    """`success` of the nine calls that named it was the score, 100%, and a mark was people's label."""
    rows = [
        {"prompt_id": f"p{i}", "model_id": model, "response": f"{model} says {i}.", "is_mock": model != "web"}
        | ({"success": True, "manual_collection": True} if model == "web" else {"finished": f"at {i} of {model}"})
        for i in range(12)
        for model in ("one", "two", "three", "web")
    ]
    reading = read(tmp_path, rows)
    assert reading.roles.graders == () and not reading.questions
    assert (reading.n_items, reading.n_conditions) == (12, 4)


def test_a_failed_call_without_its_models_full_name_is_no_other_arm(tmp_path):
    """Failed calls were a seventh arm beside six: only their `model_name` was empty."""
    rows = []
    for i in range(20):
        for model in ("one", "two"):
            row = {"query_id": i, "query": f"What about {i}?", "model": model}
            rows.append(row | {"model_name": f"{model}-4.1", "response": f"{model} on {i}", "error": None})
        rows.append({"query_id": i, "query": f"What about {i}?", "model": "two", "error": "HTTP Error 429"})
    assert read(tmp_path, rows).grid.conditions == ("model",)
    # without a failure, an empty cell is a setting
    rows = [
        {"query_id": i, "query": f"What about {i}?", "model": "one", "response": f"{system} on {i}", "system": system}
        for i in range(20)
        for system in (None, "tuned", "large")
    ]
    assert read(tmp_path, rows).grid.conditions == ("system",)


def test_what_was_read_of_an_absent_output_is_not_compared(tmp_path):
    """An extracted span and a predicted label "disagreed on 100%"."""
    rows = [
        {"index": i, "text": f"Nobody likes me since day {i}.", "extracted": f"since day {i}"}
        | {"predicted_label": ("mind reading", "labeling", "none")[i % 3]}
        for i in range(30)
    ]
    reading = read(tmp_path, rows)
    assert reading.roles.readouts == () and reading.scores == {}


def test_an_overall_score_leads_its_parts(tmp_path):
    """`medical_accuracy` led, and `overall_score` came last."""
    rows = [
        {"case_id": f"c{i}", "prompt": f"Is symptom {i} bad?", "model_response": f"Symptom {i} is harmless."}
        | {"medical_accuracy": 1 + i % 5, "overall_score": round(1 + i % 5 / 2 + 0.28, 2)}
        for i in range(20)
    ]
    reading = read(tmp_path, rows)
    assert reading.roles.scores == ("overall_score", "medical_accuracy")
    graded = [row | {"correct": i % 3 == 0} for i, row in enumerate(rows)]
    assert read(tmp_path, graded).roles.scores[0] != "overall_score"  # right and wrong before a mean


def test_a_list_of_citations_is_no_output_beside_an_answer(tmp_path):
    """The citations were the output, and the question offered three systems."""
    rows = [
        {"id": i, "question": f"How much was item {i}?"}
        | {"raw_generation": {"answer": f"Item {i} was {i} euros.", "citations": [f"Report {i}, page {k}" for k in range(9)]}}
        | {"generation": {"answer_preview": f"Item {i} was", "grounding_score": i % 2}, "retrieval": {"hit_at_1": 1.0}}
        for i in range(16)
    ]
    reading = read(tmp_path, rows)
    assert reading.roles.output == "raw_generation.answer" and not reading.questions
    assert reading.roles.graders == ("generation.grounding_score",)  # what was found is no output


def test_the_id_of_a_run_is_no_item_beside_another_id(tmp_path):
    """Each run was a question: 2,640 of 60, and the conditions were not used."""
    rows = [
        {"run_id": f"{target}_{model}_{condition}", "target_id": f"t{target}", "model_key": model}
        | {"condition": condition, "repeat": 0, "response": f"{model} on {target}, {condition}"}
        for target in range(20)
        for model in ("one", "two", "three")
        for condition in ("direct", "retrieval")
    ]
    reading = read(tmp_path, rows)
    assert reading.grid.items == ("target_id",) and reading.n_conditions == 6


def test_a_score_that_never_varies_is_asked_about_beside_a_grade(tmp_path):
    """An exact match of 0% led, and `truthful` was not used."""
    rows = [
        {"question": f"Who is person {i}?", "answer": f"Person {i} is a painter.", "exact_match": False, "truthful": i % 4 == 0}
        for i in range(40)
    ]
    (question,) = read(tmp_path, rows).questions
    assert question.first.words == ("score=truthful",) and question.first.score == 0.25


def test_the_final_answer_of_an_agent_is_its_output(tmp_path):
    """As ToolBench writes it: no output was found."""
    rows = []
    for i in range(20):
        answer = {"method": "CoT@1", "total_steps": 2 + i % 4, "final_answer": f"Flight {i} leaves."}
        rows.append({"query_id": i, "query": f"When does flight {i} leave?", "answer": answer})
    roles = read(tmp_path, rows).roles
    assert roles.output == "answer.final_answer" and not roles.target
    for row in rows:
        row["answer"] = {"final_answer": row["answer"]["final_answer"], "unit": "h"}
    assert read(tmp_path, rows).roles.output == ""  # a right answer as likely


def test_rows_of_one_image_that_nothing_tells_apart_are_asked_about(tmp_path):
    """240 rows were 240 questions about images."""
    rows = _twenty_rows_of("image")
    reading = read(tmp_path, rows)
    (question,) = reading.questions
    assert question.about == "item" and question.first.words == ("item=image",)
    assert "12 values in 240 rows" in question.seen and "If they are models" in question.seen
    answered = read_table(tmp_path / "table.jsonl", {"item": "image"})
    assert not answered.questions and (answered.n_items, answered.n_runs) == (12, 20)


def test_even_rows_of_one_question_are_reruns(tmp_path):
    """Nothing tells them apart, and all questions have as many."""
    reading = read(tmp_path, _twenty_rows_of("question"))
    assert not reading.questions and (reading.n_items, reading.n_runs) == (12, 20)


def _twenty_rows_of(column):
    rows = []
    for i in range(240):
        rows.append({column: f"number {i // 20}", "response": f"It is {i}.", "score": i % 3 > 0})
    return rows


def test_several_right_answers_of_one_image_are_questions(tmp_path):
    """Rows of one image with right answers that differ are no reruns."""
    rows = []
    for i in range(60):
        right, guess = ["red", "blue", "green"][i % 3], ["red", "blue"][i % 2]
        rows.append({"image": f"{i // 6}.png", "ground_truth": right, "prediction": guess})
    assert not read(tmp_path, rows).questions


def translated(models):
    """Return rows with an object of translations and one of scores, each with a key per model."""
    rows = []
    for i in range(30):
        row = {"id": i, "source": f"Satz {i}", "reference": f"Sentence {i}"}
        row["translations"] = {model: f"Sentence {i + i % (k + 2)}" for k, model in enumerate(models)}
        row["scores"] = {model: {"comet": (i + k) % 3 / 2} for k, model in enumerate(models)}
        rows.append(row)
    return rows


def test_outputs_and_scores_under_a_key_per_model_are_those_of_models(tmp_path):
    """The outputs were not used, and the models were called scores.gpt-4o: no import could read them."""
    models = ("gpt-4o", "gpt-3.5")
    reading = read(tmp_path, translated(models))
    assert reading.shape.models == models and reading.roles.output == "translations"
    assert reading.roles.scores == ("scores.comet",) and not reading.questions
    assert round(reading.scores["gpt-3.5", "scores.comet"], 2) == 0.5
    path = tmp_path / "table.jsonl"
    records = recorded(path, guess_recording(str(path))).records
    assert {record.call.model for record in records} == set(models) and len(records) == 60
    texts = {record.call.model: record.completion.text for record in records if record.item.item_id.endswith("5")}
    assert len(set(texts.values())) > 1


@pytest.mark.parametrize("keys", [("alpha", "opus"), ("city", "country")])
def test_outputs_and_scores_under_unknown_keys_are_asked_about(tmp_path, keys):
    """Keys may be models, or the fields of one output: with one score per key nothing was asked."""
    rows = translated(keys)
    for row in rows:
        row["scores"] = {key: entry["comet"] for key, entry in row["scores"].items()}
    (question, *_) = read(tmp_path, rows).questions
    assert question.about == "systems" and question.first.words == (f"model_columns={','.join(keys)}",)
    answered = read_table(tmp_path / "table.jsonl", {"model_columns": ",".join(keys)})
    assert answered.roles.output == "translations" and answered.arms == keys


def test_reasons_and_scores_of_qualities_are_no_models(tmp_path):
    """Qualities are keys of two objects too."""
    rows = []
    for i in range(20):
        row = {"prompt": f"Explain part {i}.", "response": f"Part {i} turns."}
        row["comments"] = {"clarity": f"Clear in {i}.", "accuracy": f"Wrong in {i}."}
        row["scores"] = {"clarity": i % 5, "accuracy": (i + 1) % 5}
        rows.append(row)
    reading = read(tmp_path, rows)
    assert not reading.shape and not reading.questions
    assert reading.roles.scores == ("scores.clarity", "scores.accuracy")


def test_the_sentence_names_columns_that_the_file_has(tmp_path):
    """It said "output: response" where no column is called so."""
    turns = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Yes."}]
    rows = [{"id": i, "messages": turns, "score": i % 2} for i in range(12)]
    assert "output: the last turn of messages;" in sentence(read(tmp_path, rows))
    rows = [{"question": f"Who is {i}?", "gpt_response": f"It is {i}.", "claude_response": f"No {i}."} for i in range(12)]
    assert "output: gpt_response, claude_response" in sentence(read(tmp_path, rows))


def test_systems_that_would_share_one_output_are_asked_about(tmp_path):
    """Three of four systems were read with the output of the fourth."""
    rows = []
    for i in range(30):
        row = {"answer": i % 7, "cot.detailed_output": f"Step {i}: so it is {i % 7 if i % 5 else 9}."}
        for k, system in enumerate(("standard", "act", "react"), start=2):
            row |= {f"{system}.output": f"{system}: {i % 7}", f"{system}.score": int(i % k > 0)}
        rows.append(row)
    (question,) = read(tmp_path, rows).questions
    assert question.about == "systems"
    assert question.seen.endswith("cot.detailed_output holds one output for all of them.")


@pytest.mark.parametrize("n_lacking", [0, 12])
def test_models_that_lack_many_questions_are_asked_about(tmp_path, n_lacking):
    """Search queries made 112 questions of 26, of which each model had few."""
    rows = []
    for i in range(20):
        for k, model in enumerate(("one", "two", "three")):
            if k == 0 or i >= n_lacking:
                row = {"question": f"Who is {i}?", "model": model, "response": f"{model} on {i}"}
                rows.append(row | {"correct": (i + k) % 3 > 0})
    reading = read(tmp_path, rows)
    assert asked(reading) == (["condition"] if n_lacking else [])
    if n_lacking:
        (question,) = reading.questions
        assert "would need 60 rows for 20 questions, and there are 36" in question.seen


def test_an_arm_without_any_output_is_asked_about(tmp_path):
    """Failed calls were a seventh arm."""
    rows = []
    for i in range(20):
        for model in ("small", "unknown", "large"):
            output = None if model == "unknown" else f"{model} on {i}"
            rows.append({"question": f"Who is {i}?", "model": model, "response": output})
    (question,) = read(tmp_path, rows).questions
    assert question.about == "condition"
    assert question.seen == "response is empty in 20 rows of unknown: all that it has."


def test_a_final_verdict_leads_before_an_exact_match(tmp_path):
    """An exact match of 13% led before the 80% of `final_correct`."""
    rows = []
    for i in range(20):
        row = {"question_id": f"q{i}", "prediction": f"At {i} years.", "reference": f"From {i} years on."}
        rows.append(
            row
            | {
                "exact_match": float(i < 2),
                "token_f1": i / 20,
                "retrieval_recall": float(i % 2),
                "final_correct": float(i % 5 > 0),
            }
        )
    assert read(tmp_path, rows).roles.scores[0] == "final_correct"


def test_an_object_of_systems_is_a_summary(tmp_path):
    """Four systems were four questions."""
    path = tmp_path / "table.json"
    systems = {}
    for place, name in enumerate(("Baseline", "SFT", "DPO", "GRPO")):
        systems[name] = {"model_name": name, "success_rate": 0.985 - place / 9, "utility_score": 0.7 + place / 17}
    path.write_text(json.dumps(systems), encoding="utf-8")
    assert "a ranking of means" in read_table(path).refusal


def test_right_answers_in_words_behind_many_numbers_are_read(tmp_path):
    """Half of the rows were refused: their right answers are no numbers."""
    path = tmp_path / "table.jsonl"
    rows = []
    for i in range(600):
        right = str(i) if i < 400 else f"city {chr(97 + i % 26)}{chr(97 + i // 26)}"
        row = {"question": f"What is {i}?", "gold": right, "response": f"It is {right}."}
        rows.append(row | {"correct": i % 3 > 0})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    source = Source(path, path.name)
    kinds = Counter(type(record).__name__ for record in table_reader(source, {}).records(source, ()))
    assert kinds == {"LogRecord": 600}


def test_a_column_without_a_name_holds_no_right_answers(tmp_path):
    """The index of a data frame was the right answer of each row, so that models were 0% right."""
    path = tmp_path / "table.csv"
    lines = [f"{i},Rate task {i}.,I rate it {i % 5}." for i in range(12)]
    path.write_text("\n".join([",question,response", *lines]), encoding="utf-8")
    assert "Unnamed: 0" in read_table(path).columns
    source = Source(path, path.name)
    records = list(table_reader(source, {}).records(source, ()))
    assert len(records) == 12 and not any(record.targets for record in records)


def test_a_few_rows_of_one_question_are_asked_about(tmp_path):
    """Three models without a column that names them were reruns of one."""
    rows = []
    for i in range(36):
        row = {"user_input": f"What is {i // 3}?", "response": f"It is {i}, I think."}
        rows.append(row | {"faithfulness": (i % 5) / 4})
    (question,) = read(tmp_path, rows).questions
    assert question.seen == "Each user_input has 3 rows, and no column says what differs between them."
    assert not read_table(tmp_path / "table.jsonl", {"item": "user_input"}).questions
    path, words = tmp_path / "table.jsonl", dict(word.split("=") for word in question.second.words)
    with pytest.raises(BadInput):  # nothing is read, as the answer says
        table_reader(Source(path, path.name), {f"column:{key}": value for key, value in words.items()})


@pytest.mark.parametrize("n_differing", [1, 3])
def test_an_id_counts_questions_of_which_few_have_two_right_answers(tmp_path, n_differing):
    """Fourteen right answers that one arm's rows wrote otherwise made 337 questions of 323."""
    rows = []
    for i in range(80):
        for k, arm in enumerate(("dense", "router", "agent")):
            gold = f"{i}.{int(k == 0 and i < n_differing)}0"
            row = {"qid": f"q{i}", "question": f"How much was receipt {i}?", "gold_answer": gold}
            rows.append(row | {"arm": arm, "model_answer": gold if (i + k) % 3 else "none", "correct": (i + k) % 3 > 0})
    reading = read(tmp_path, rows)
    assert (reading.grid.items, reading.n_items, reading.roles.target) == (("qid",), 80, "gold_answer")
    assert not reading.questions


def test_numbers_beside_labels_are_asked_about(tmp_path):
    """The grade of a student was the score of the model that checked it."""
    rows = []
    for i in range(12):
        right = ["consistent", "inconsistent"][i % 2]
        said = right if i % 3 else "consistent"
        rows.append({"case_id": i, "prediction": said, "ground_truth_label": right, "ta_score": 6 + i % 5})
    (question,) = read(tmp_path, rows).questions
    assert question.first.words == ("score=",) and round(question.first.score, 2) == 0.83
    answered = read_table(tmp_path / "table.jsonl", {"score": ""})
    assert not answered.questions and round(answered.scores["", MATCH], 2) == 0.83


def test_systems_with_equal_right_answers_and_no_ids_are_asked_about(tmp_path):
    """351 questions of two models were 702 questions."""
    rows = []
    for k, model in enumerate(("one", "two")):
        for i in range(40):
            right = ["Adam", "Abigail", "Aaron"][i % 3]
            said = right if (i + k) % 4 else "Adele"
            rows.append({"model": model, "size": i // 4, "response": said, "answer": right})
    (question,) = read(tmp_path, rows).questions
    assert question.about == "item" and "the same 40 right answers" in question.seen
    rows[0]["answer"] = "Ada"
    assert not read(tmp_path, rows).questions


def test_outputs_that_say_an_error_are_asked_about(tmp_path):
    """All calls had failed, and their error messages scored .33."""
    rows = []
    for i in range(20):
        for model in ("one", "two"):
            has_failed = model == "two" and i < 8
            output = "ERROR: 429 You exceeded your quota" if has_failed else f"It is {i}."
            row = {"question_id": i, "question": f"What is {i}?", "model": model, "response": output}
            rows.append(row | {"score": 0.3 if has_failed else 0.5 + i / 50})
    (question,) = read(tmp_path, rows).questions
    assert question.seen == "8 outputs of 40 say that the call failed, and score grades them."
    path = tmp_path / "table.jsonl"
    assert not read_table(path, {"failed": "out"}).questions
    source = Source(path, path.name)
    records = table_reader(source, {"column:failed": "out"}).records(source, ())
    assert sum(readout.score is None for record in records for readout in record.readouts) == 8


def test_true_and_false_are_labels_beside_right_answers_of_true_and_false(tmp_path):
    """A right answer of false that the model gave was wrong: 60% for 100%."""
    rows = [{"claim": f"{i} is odd", "label": i % 3 > 0, "prediction": i % 3 > 0 or i == 3} for i in range(12)]
    read(tmp_path, rows)
    path = tmp_path / "table.jsonl"
    source = Source(path, path.name)
    records = list(table_reader(source, {}).records(source, ()))
    said = [readout.answer for record in records for readout in record.readouts]
    assert said == [str(row["prediction"]) for row in rows]


def test_a_score_of_a_rounding_error_above_1_is_1():
    """A scale "from 0 to 1.0000000000000002" was called a finding."""
    assert score_of("1.0000000000000002") == score_of(1.0000000000000002) == 1.0
    assert score_of(1.001) == 1.001


def test_a_column_whose_name_ends_in_a_dot_is_read(tmp_path):
    """`Model Abbrev.` was a traceback."""
    rows = [{"Model Abbrev.": f"model {i}", "FS=0 (%)": 30.5 + i, "FS=5 (%)": 52.1 + i} for i in range(12)]
    assert "a ranking of means" in read(tmp_path, rows).refusal


def test_an_error_in_kilometers_is_a_score(tmp_path):
    """`error_km` was taken for error messages, and only `is_locatable` was offered as the score."""
    rows = []
    for i in range(20):
        for k, model in enumerate(("one", "two")):
            row = {"place_id": i, "model": model, "prediction": f"37.{i}, -76.{k}"}
            rows.append(row | {"error_km": 1.5 + i + k / 3, "is_locatable": int(i > 0)})
    reading = read(tmp_path, rows)
    assert reading.roles.scores == ("error_km",) and reading.lower == ("error_km",)
    (question,) = reading.questions
    assert question.first.words == ("score=is_locatable",)
    assert question.second.words == ("score=error_km",)
    rows = [row | {"error": "429" if row["place_id"] == 3 else None} for row in rows]
    assert read(tmp_path, rows).roles.errors == ("error",)


def test_lists_beside_the_output_are_asked_about(tmp_path):
    """What an agent wrote later made five runs of one output and its score; rows without were lost."""
    rows = []
    for i in range(40):
        row = {"problem_id": i, "ground_truth": str(i % 7), "router_output": f"So it is {i % 5}, by rule {i}."}
        later = [f"Step {k} of {i}: it is {k}." for k in range(5)] if i else []
        rows.append(row | {"initial_correct": i % 3 == 0, "escalation_outputs": later})
    (question,) = read(tmp_path, rows).questions
    assert question.seen == "router_output holds one output beside the list in escalation_outputs."
    answered = read_table(tmp_path / "table.jsonl", {"sample_columns": ""})
    assert (answered.n_items, answered.n_runs, answered.roles.output) == (40, 1, "router_output")
    assert not answered.questions and round(answered.scores["", "initial_correct"], 2) == 0.35


def test_answer_correct_is_a_score_where_it_holds_right_and_wrong(tmp_path):
    """It was the right answer, and no output was it."""
    rows = [{"id": i, "question": f"Who is {i}?", "response": f"It is {i}.", "answer_correct": i % 3 > 0} for i in range(24)]
    reading = read(tmp_path, rows)
    assert reading.roles.scores == ("answer_correct",) and not reading.roles.target
    assert not reading.questions
    rows = [row | {"response": "ABCD"[i % 4], "answer_correct": "ABCD"[i % 3]} for i, row in enumerate(rows)]
    assert read(tmp_path, rows).roles.target == "answer_correct"


@pytest.mark.parametrize("models", [("one",), ("one", "two", "three")])
def test_ids_of_examples_and_settings_are_asked_about(tmp_path, models):
    """120 images under five perturbations were 600 questions; with one model it was asked before."""
    rows = []
    for i in range(24):
        for k, kind in enumerate(("clean", "blurred", "cropped")):
            for j, model in enumerate(models):
                row = {"case_id": f"chart_{i}:{kind}", "example_id": f"chart_{i}", "perturbation": kind}
                row |= {"model": model, "response": f"{model} on {i}, {kind}"}
                rows.append(row | {"answer_correct": (i + j) % (5 - k) > 0})
    (question,) = read(tmp_path, rows).questions
    assert question.seen == "Each of 24 values of example_id stands once beside each of 3 of perturbation."
    words = dict(word.split("=") for word in question.first.words)
    answered = read_table(tmp_path / "table.jsonl", words)
    assert (answered.n_items, answered.n_conditions) == (24, 3 * len(models))
    assert not answered.questions


@pytest.mark.parametrize("has_errors", [True, False])
def test_minus_1_beside_an_error_is_asked_about(tmp_path, has_errors):
    """Failed calls counted as -1 beside 1: .33 for 1."""
    rows = []
    for i in range(24):
        has_failed = i % 4 == 0
        row = {"prompt": f"Cancel order {i}.", "response": None if has_failed else f"Order {i} it is."}
        row |= {"score": -1 if has_failed else 1}
        rows.append(row | ({"error": f"timeout {i}" if has_failed else None} if has_errors else {}))
    assert asked(read(tmp_path, rows)) == (["negative"] if has_errors else [])
    answered = read_table(tmp_path / "table.jsonl", {"missing": "-1"})
    assert answered.scores["", "score"] == (1.0 if has_errors else 0.5)


def test_a_people_s_label_of_the_whole_row_is_asked_about_beside_systems(tmp_path):
    """Two columns of labels were two systems, both 20% right by one mark of their row."""
    rows = []
    for i in range(24):
        row = {"id": i, "question": f"Who is {i}?", "gpt_answer": f"Person {i % 5}", "claude_answer": f"Painter {i % 7}"}
        rows.append(row | {"human_label": i % 5 == 0})
    (question,) = read(tmp_path, rows).questions
    assert question.seen.endswith("human_label holds one label for all of them.")
    rows = [row | {"needs_manual": row.pop("human_label")} for row in rows]
    assert not read(tmp_path, rows).roles.people


def test_a_verdict_in_words_is_asked_about_where_no_output_is(tmp_path):
    """The verdicts of a judge were right answers, and a likeness to another system's text the score."""
    verdicts = ("MAJOR", "MINOR", "EQUIVALENT")
    rows = [
        {"pair_idx": i, "rouge_l": i / 40, "label": verdicts[i % 3], "reason": f"Response B lacks part {i} of it."}
        for i in range(30)
    ]
    (question,) = read(tmp_path, rows).questions
    assert question.about == "score" and "holds EQUIVALENT, MAJOR, MINOR" in question.seen
    assert not read_table(tmp_path / "table.jsonl", {"score": "rouge_l"}).questions


def test_a_column_called_score_is_asked_about_beside_a_score_of_the_prompt(tmp_path):
    """What the prompts are like was the score, for most rows have no Score."""
    rows = []
    for i in range(40):
        row = {"Prompt_ID": i, "Prompt_Text": f"Draw an angel with {i} wings.", "specificity_score": i % 4 / 2}
        rows.append(row | {"Score": 7.0 if i < 8 else None})
    (question, *_) = read(tmp_path, rows).questions
    assert question.about == "score" and question.first.words == ("score=Score",)
    assert question.first.score == 7.0


def test_one_of_many_numbers_may_be_no_score(tmp_path):
    """Of labels of 22 emotions the first was the score, or else the second."""
    rows = [{"id": i, "response": f"Text {i}.", "joy": i % 2, "fear": i % 3 // 2, "hope": i % 5 // 4} for i in range(30)]
    (question,) = read(tmp_path, rows).questions
    assert question.second.words == ("score=",) and "as fear, hope:" in question.second.says


def test_a_count_of_what_passed_is_a_share_of_all(tmp_path):
    """The mean of the assertions that passed was the score: 516.3%."""
    rows = []
    for i in range(30):
        row = {"id": i, "question": f"Who is {i}?", "response": f"It is {i}."}
        rows.append(row | {"num_assertions": 3 + i % 2 * 5, "num_assertions_passed": 1 + i % 3})
    reading = read(tmp_path, rows)
    assert not reading.questions and reading.roles.graders == ("num_assertions_passed/num_assertions",)
    rows[0]["num_assertions_passed"] = 9
    assert not read(tmp_path, rows).questions


def test_systems_with_texts_of_their_own_do_not_share_another_output(tmp_path):
    """The text of a third system was the output of two, and 20 of 33 rows were lost."""
    rows = []
    for i in range(33):
        row = {"review_id": f"CD{i}", "title": f"Title {i}", "galactica_output_title": f"One output for {i}. " * 9}
        row |= {"galactica_output_hashtag": f"Another for {i}. " * 9}
        rows.append(row | {f"{model}_output": f"{model} says so of {i}." for model in ("biomedlm", "chatgpt")})
    reading = read(tmp_path, rows)
    assert reading.shape.models == ("biomedlm_output", "chatgpt_output") and reading.n_items == 33
    assert reading.roles.output == "response" and not reading.questions


def test_the_most_points_are_no_score(tmp_path):
    """`max_points` led: 9.90 was how many points the questions have."""
    rows = []
    for i in range(30):
        row = {"row": f"r{i}", "max_points": 5 + i % 2 * 5, "user_score": i % 6, "suggested_score": i % 5}
        rows.append(row | {"user_answer": f"What student {i} wrote."})
    (question,) = read(tmp_path, rows).questions
    assert question.seen == "user_score is at most max_points in every row."
    assert question.second.words == ("score=user_score",)
    rows[0]["user_score"] = 9
    assert "at most" not in "".join(question.seen for question in read(tmp_path, rows).questions)


def test_a_score_of_1_in_every_row_leads_before_no_overall_score(tmp_path):
    """`fact_score` led, 100% of both systems, before `final_score`."""
    rows = []
    for i in range(10):
        for model in ("basic", "advanced"):
            tone = 0.5 if model == "basic" and i % 3 else 1.0
            row = {"intent": f"Thank them for {i}", "model": model, "fact_score": 1.0}
            rows.append(row | {"tone_score": tone, "final_score": 0.5 + tone / 2})
    assert read(tmp_path, rows).roles.scores[0] == "final_score"


def test_a_system_may_have_keys_that_another_lacks(tmp_path):
    """Two columns of one object were the systems, and the other system was not used."""
    labels = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
    rows = []
    for i in range(60):
        row = {"claim_id": i, "claim_text": f"Claim {i}.", "ground_truth": labels[i % 3]}
        for system, k in (("agentoracle", 4), ("gpt4o", 5)):
            said = labels[(i + (i % k == 0)) % 3]
            row[system] = {"verdict_fever": said, "verdict_raw": said, "correct": i % k > 0}
        row["agentoracle"] |= {"verdict_raw": "refuted", "confidence": i / 60}
        rows.append(row)
    reading = read(tmp_path, rows)
    (question,) = reading.questions
    choice = next(choice for choice in question.choices if "2 systems" in choice.says)
    reading = answered(tmp_path, choice)
    assert set(reading.arms) == {"agentoracle", "gpt4o"} and not reading.questions
    assert reading.scores["agentoracle", "correct"] == 0.75 and reading.scores["gpt4o", "correct"] == 0.8


def test_an_output_of_fractions_beside_a_score_is_asked_about(tmp_path):
    """One of 60 criteria was the output: impact on the theme chosen."""
    rows = []
    for i in range(6):
        row = {"submission_id": f"team {i}", "theme chosen": 1.25 * (i % 3), "overall_score": 5.1 + i / 7}
        rows.append(row)
    (question, *_) = read(tmp_path, rows).questions
    assert question.seen == "theme chosen holds numbers, and no column has right answers."
    assert not answered(tmp_path, question.first).roles.output


def test_peoples_right_and_wrong_is_asked_about_beside_a_score_on_a_scale(tmp_path):
    """A third judge's quality led beside people's compliance: 337.6%, "too few labels"."""
    rows = []
    for i in range(40):
        row = {"listing_id": f"L{i}", "generated_title": f"Title {i}", "human_compliance": int(i % 3 > 0)}
        row |= {"judge_a_compliance": int(i % 4 > 0), "ml_quality": 1.5 + i % 5}
        rows.append(row)
    (question,) = read(tmp_path, rows).questions
    assert question.first.words == ("score=judge_a_compliance",)
    reading = answered(tmp_path, question.first)
    assert reading.roles.graders[0] == "judge_a_compliance" and not reading.questions


def test_long_texts_of_which_hardly_any_agree_are_asked_about(tmp_path):
    """One answer of 93 was its reference word for word: 1%; the similarities were not used."""
    rows = []
    for i in range(93):
        reference = f"The wall of Berlin was {i} km long, and it stood in the middle of town, as {i} people say."
        row = {"questions": f"How long is wall {i}?", "reference_answer": reference}
        for k in (1, 2):
            row[f"llm_{k}_answer"] = f"Wall {i} was built in 1961 and torn down, so says {k} of the {i} people that I know of."
            row[f"llm_{k}_sim"] = (i % 30 + k) / 40
        rows.append(row)
    rows[7]["llm_2_answer"] = rows[7]["reference_answer"]
    (question,) = read(tmp_path, rows).questions
    assert question.about == "match" and question.second.words == ("score=sim",)
    assert round(answered(tmp_path, question.second).scores["llm_1", "sim"], 2) == 0.38


def test_two_columns_of_which_one_is_a_version_are_asked_about(tmp_path):
    """Six cases under two versions of their prompt were 12 questions."""
    rows = []
    for i in range(6):
        for version in ("original", "perturbed"):
            for k in range(4):
                row = {"case_id": f"fact_{i}", "task": "math" if i % 2 else "qa", "version": version, "sample_idx": k}
                rows.append(row | {"prompt": f"Ask {i} in {version}.", "output": f"It is {i} or {k % 3}."})
    (question,) = read(tmp_path, rows).questions
    assert question.seen == "Each of 6 values of case_id stands once beside each of 2 of version."
    reading = answered(tmp_path, question.first)
    assert (reading.n_items, reading.n_conditions, reading.n_runs) == (6, 2, 4) and not reading.questions


def test_an_answer_in_words_beside_the_same_in_the_keys_numbers_is_not_read_again(tmp_path):
    """`pred_decision` found no answer in all of 127 texts, and `pred_label` was +80.3 points ahead of it."""
    rows = []
    for i in range(60):
        label = i % 3 == 0
        predicted = label if i % 5 else not label
        row = {"text": f"Review {i} of the shop.", "label": int(label), "pred_prob": round(0.2 + 0.5 * predicted, 2)}
        rows.append(row | {"pred_label": int(predicted), "pred_decision": "sarcasm" if predicted else "not_sarcasm"})
    reading = read(tmp_path, rows)
    assert reading.roles.output == "pred_label" and not reading.roles.readouts and "pred_decision" in reading.unused
    in_words = [row | {"label": "sarcasm" if row["label"] else "not_sarcasm"} for row in rows]
    reading = read(tmp_path, in_words)
    assert (reading.roles.output, reading.roles.readouts) == ("pred_decision", ())


def test_a_column_of_another_phrase_in_each_row_parts_systems(tmp_path):
    """Five prompts of 228 topics were 1,140 questions, since each prompt is a sentence."""
    phrases = ["In mathematics, the hypernym of {TOPIC} is called", "Within the taxonomy of mathematics, {TOPIC} is a"]
    rows = []
    for i in range(80):
        row = {"Unnamed: 0": i, "X": f"Topic {i % 40} by {i}", "phrase": phrases[i % 2], "y": ["Geometry"]}
        rows.append(row | {"max-str-match-score": (i % 9) / 10})
    (question,) = read(tmp_path, rows).questions
    assert question.about == "condition" and question.first.words == ("models=phrase",)


def test_an_id_twice_with_two_right_answers_is_two_questions(tmp_path):
    rows = [{"id": f"Kedu_{i}", "answer": "ABCD"[i % 4], "pred": "ABCD"[i * i % 4]} for i in range(60)]
    rows += [{"id": f"Kedu_{i}", "answer": "BCDA"[i % 4], "pred": "A"} for i in range(4)]
    reading = read(tmp_path, rows)
    assert (reading.n_items, reading.n_runs, reading.grid.items) == (64, 1, ("id", "answer"))
    same_answers = rows[:60] + [row | {"answer": "ABCD"[i % 4]} for i, row in enumerate(rows[60:])]
    assert read(tmp_path, same_answers).n_items == 60


def test_right_and_wrong_in_two_columns_may_be_two_systems(tmp_path):
    rows = [
        {"Index": i, "Original": "correct" if i % 3 == 0 else "wrong", "Fine-tuned": "wrong" if i % 3 == 1 else "correct"}
        for i in range(60)
    ]
    (question,) = read(tmp_path, rows).questions
    assert question.about == "systems"
    two = answered(tmp_path, question.first)
    assert {arm: round(share, 2) for (arm, _), share in two.scores.items()} == {"Original": 0.33, "Fine-tuned": 0.67}
    properties = [{"id": i, "has_image": i % 2 == 0, "is_easy": i % 3 == 0} for i in range(40)]
    assert [question.about for question in read(tmp_path, properties).questions] == ["score"]


def test_how_well_people_answered_is_no_score_of_a_model(tmp_path):
    rows = [{"task_id": f"t{i}", "human_accuracy": round(0.1 + i % 5 / 10, 2), "model_error": "shape"} for i in range(20)]
    (question,) = read(tmp_path, rows).questions
    assert question.about == "score" and question.second.words == ("score=", "people=")
    reading = answered(tmp_path, question.second)
    assert not reading.scores and not reading.questions
    assert not read(tmp_path, [row | {"output": f"Grid {i}"} for i, row in enumerate(rows)]).questions


def test_each_language_of_a_row_asks_the_question_of_its_id(tmp_path):
    """21 questions in two languages were 42."""
    rows = [
        {"ID": f"pa_{i:02}", "Query_Russian": f"Как починить {i}?", "Response_Russian": f"Возьмите {i} гвоздей и доску."}
        | {"Query_English": f"How to mend {i}?", "Response_English": f"Take {i} nails and a board."}
        for i in range(21)
    ]
    reading = read(tmp_path, rows)
    assert (reading.n_items, reading.grid.items, reading.shape.models) == (21, ("ID",), ("Russian", "English"))


def test_scores_of_the_context_come_after_those_of_the_output(tmp_path):
    """A context recall of 1 in every row led: "100% right"."""
    rows = [
        {"user_input": f"What is {i}?", "response": f"It is number {i} of all.", "reference": f"The number {i} is meant."}
        | {"context_recall": 1.0, "context_precision": i / 20, "answer_relevancy": 0.9 + i / 400, "faithfulness": 1.0}
        for i in range(20)
    ]
    assert read(tmp_path, rows).roles.scores[0] == "answer_relevancy"


def test_a_list_of_a_label_per_token_is_no_list_of_samples(tmp_path):
    """5,000 documents of up to 19,000 token labels ended in a traceback: out of memory."""
    rows = [{"index": i, "preds": [j % 4 for j in range(2_100)]} for i in range(6)]
    reading = read(tmp_path, rows)
    assert not reading.shape.lists and not reading.scores
    few = [{"index": i, "preds": [j % 4 for j in range(8)]} for i in range(6)]
    assert read(tmp_path, few).shape.lists == ("preds",)


def test_scores_named_otherwise_than_the_outputs_are_of_each_system(tmp_path):
    """Each of three systems had the scores of the first: `Base_Relevance` beside `answer_base`."""
    rows = []
    for i in range(40):
        row = {"question": f"What is {i}?", "relevant_document_ids": f"d{i % 38}", "Best": ["Base", "CTS"][i % 2]}
        for place, name in enumerate(("base", "cts")):
            row[f"answer_{name}"] = f"It is {i}, says {name}, and nothing else."
            row[f"{name.capitalize()}_Relevance"] = 1 + (i + place) % 5 if i % 3 else 5 - place
            row[f"Clarity ({name})"] = 4 + place
        rows.append(row)
    reading = read(tmp_path, rows)
    assert reading.shape.models == ("base", "cts") and reading.roles.scores[:1] == ("Relevance",)
    assert reading.n_items == 40 and reading.grid.items == ("question",) and not reading.questions
    means = {name: sum(row[f"{name}_Relevance"] for row in rows) / 40 for name in ("Base", "Cts")}
    assert reading.scores["base", "Relevance"] == pytest.approx(means["Base"])
    assert reading.scores["cts", "Relevance"] == pytest.approx(means["Cts"]) != pytest.approx(means["Base"])


def test_one_score_of_several_systems_is_asked_about(tmp_path):
    rows = [
        {
            "question": f"What is {i}?",
            "alpha_answer": f"It is {i}, they say.",
            "beta_answer": f"It was {i}, or so.",
            "rating": 1 + i % 5,
        }
        for i in range(40)
    ]
    (question,) = read(tmp_path, rows).questions
    assert question.seen.endswith("rating holds one score for all of them.")
    assert not answered(tmp_path, question.second).scores


def test_answers_of_yes_and_no_beside_a_right_yes_or_no_are_no_scores(tmp_path):
    """The share of "true" was the score, 62%, of rules that agreed with the right answer in 79%."""
    rows = [
        {"ID": i, "LABEL": i % 2 == 0, "rule_result_1": i % 4 != 1, "rule_result_2": i % 3 == 0, "CL_1": i % 5 > 0}
        for i in range(60)
    ]
    question, *_ = read(tmp_path, rows).questions
    assert question.about == "match" and question.first.words == ("model_columns=rule_result_1,rule_result_2,CL_1",)
    reading = answered(tmp_path, question.first)
    right = sum(row["LABEL"] == row["rule_result_1"] for row in rows) / 60
    assert reading.scores["rule_result_1", MATCH] == pytest.approx(right) and reading.n_conditions == 3
    one = [{"ID": row["ID"], "LABEL": row["LABEL"], "rule_result": row["rule_result_1"]} for row in rows]
    question, *_ = read(tmp_path, one).questions
    reading = answered(tmp_path, question.first)
    assert (reading.roles.output, reading.roles.target, reading.roles.scores) == ("rule_result", "LABEL", ())


def test_names_of_pandas_index_may_stand_twice(tmp_path):
    path = tmp_path / "table.csv"
    lines = [f"{i},{i},{i},What is {i}?,It is {i}.,{i % 2}" for i in range(12)]
    path.write_text("\n".join([",Unnamed: 0.1,Unnamed: 0,prompt,response,correct", *lines]), encoding="utf-8")
    reading = read_table(path)
    assert reading.scores["", "correct"] == 0.5 and "Unnamed: 2" in reading.unused
    path.write_text("\n".join(["id,score,score", "1,2,3"]), encoding="utf-8")
    with pytest.raises(BadInput, match="names a column twice"):
        read_table(path)


def test_a_measure_names_no_row_of_a_summary(tmp_path):
    """Each row held "one pair of model and payload_kb"; the files of one model have as many sizes."""
    rows = []
    for model in ("alpha-1", "beta-2", "gamma-3"):
        for clip in (1, 2, 3, 4):
            for rate in (16, 24, 32):
                row = {"model": model, "clip": clip, "bitrate_kbps": rate, "payload_kb": clip * rate * 1.3}
                rows.append(row | {"wer": round(0.1 + clip / 50 + len(model) / 300, 3)})
    reading = read(tmp_path, rows)
    assert not reading.refusal and (reading.n_items, reading.grid.items) == (12, ("clip", "bitrate_kbps"))


def test_models_that_say_true_or_false_are_compared_with_the_right_answer(tmp_path):
    """The model that always said True led, with 92%; it was right in 56%."""
    rows = [{"": i, "statement": f"It is {i}.", "gt": i % 2 == 0, "ada": i % 3 == 0, "davinci": i % 12 > 0} for i in range(60)]
    question, *_ = read(tmp_path, rows).questions
    assert question.first.words == ("model_columns=ada,davinci",)
    scores = answered(tmp_path, question.first).scores
    assert scores["davinci", MATCH] == pytest.approx(sum(row["davinci"] == row["gt"] for row in rows) / 60)


def test_texts_that_now_repeat_and_now_contain_the_right_answer_are_asked_about(tmp_path):
    answers = ["Hasty Generalization", "Straw Man", "Red Herring", "False Cause", "Slippery Slope"]

    def rows(n_equal, n_contained):
        texts = [answers[i % 5] if i < n_equal else f"The fallacy here may be a {answers[i % 5]} or none" for i in range(60)]
        texts = [text if i < n_equal + n_contained else "I do not know what it is" for i, text in enumerate(texts)]
        return [{"id": i, "gt": answers[i % 5], "pred": text} for i, text in enumerate(texts)]

    (question,) = read(tmp_path, rows(5, 20)).questions
    assert question.seen == "pred repeats gt word for word in 8% of the rows, and contains it in 42%."
    assert question.first.score == pytest.approx(25 / 60) and question.second.words == ("target=",)
    assert question.first.score_text == "8.3% to 41.7%"  # a reader of answers decides where in between
    for n_equal, n_contained in ((40, 0), (0, 40), (40, 4)):  # one way of answering, or no clear difference
        assert not read(tmp_path, rows(n_equal, n_contained)).questions


def test_a_mark_of_0_or_1_beside_texts_is_asked_about(tmp_path):
    """Whether a student was right was the right answer of what a model wrote about the question."""
    rows = [
        {
            "question_id": i,
            "true_label": i % 5 > 0,
            "response": f"The student saw step {i} of 3, and I cannot say more about it.",
        }
        for i in range(10)
    ]
    rows = [row | {"true_label": int(row["true_label"])} for row in rows]
    (question,) = read(tmp_path, rows).questions
    assert question.about == "match" and question.second.words == ("target=",)


def test_columns_named_otherwise_that_hold_right_answers_may_be_systems_too(tmp_path):
    """Six of ten systems were read, and each of their answers was a question: 936 of 156."""
    rows = []
    for i in range(60):
        row = {"truth": i % 6, "alpha_llama": i * i % 6, "alpha_mixtral": (i + i // 9) % 6}
        rows.append(row | {"alpha_no_synth": (i + i // 5) % 6, "alpha_ensemble": (i + i // 7) % 6})
    reading = read(tmp_path, rows)
    assert (reading.n_items, reading.n_conditions) == (60, 2)
    (question,) = reading.questions
    assert question.seen == "alpha_no_synth, alpha_ensemble hold values of truth too."
    assert answered(tmp_path, question.second).n_conditions == 4
    recording = guess_recording(str(tmp_path / "table.jsonl"), {"unused": "yes"})
    records = recorded(tmp_path / "table.jsonl", recording).records
    assert len(records) == 120 and len({record.item.item_id for record in records}) == 60


def test_numbered_ranks_of_one_system_are_no_systems(tmp_path):
    """Three guesses of one classifier were three systems: 76, 20 and 4%."""
    labels = ("billing", "account", "shipping", "refund")
    rows = [
        {
            "ticket_id": i,
            "true_label": labels[i % 4],
            "top_1": labels[i * i % 4],
            "top_2": labels[(i + 1) % 4],
            "top_3": labels[(i + 2) % 4],
        }
        for i in range(40)
    ]
    assert not read(tmp_path, rows).shape.models


def test_right_options_under_correct_are_asked_about(tmp_path):
    """The number of the right option was the score: 2.28 of 5."""
    rows = [{"id": f"q{i}", "qa_correct": 1 + i * i % 5, "category": "law" if i % 3 else "art"} for i in range(60)]
    (question,) = read(tmp_path, rows).questions
    assert question.seen.startswith("qa_correct leads the scores and holds whole numbers from 1 to 5")
    counts = [row | {"num_correct": row.pop("qa_correct")} for row in rows]
    assert all("num_correct leads the scores and holds" not in asked.seen for asked in read(tmp_path, counts).questions)


def test_an_answer_that_differs_by_model_is_its_output(tmp_path):
    """Three models were refused as "a list of questions with right answers"."""
    rows = [
        {"model": model, "question": f"Why {i}?", "answer": f"As {model} sees it, {i} is so.", "duration_s": i / 7}
        for i in range(6)
        for model in ("alpha-1", "beta-2")
    ]
    reading = read(tmp_path, rows)
    assert (reading.roles.output, reading.roles.target, reading.n_items, reading.n_conditions) == ("answer", "", 6, 2)
    keys = [row | {"answer": str(i // 2 * 7)} for i, row in enumerate(rows)]  # one answer per question
    assert read(tmp_path, keys).roles.target == "answer"
    named = [{"gold_answer": row["answer"], "model": row["model"], "question": row["question"]} for row in rows]
    assert read(tmp_path, named).roles.output == ""


def test_two_methods_under_two_models_are_four_systems(tmp_path):
    """`qwen_score` and `mistral_score` were two graders of the systems `direct` and `rag`."""
    rows = []
    for i in range(22):
        row = {"sample_id": i, "question": f"What is {i}?", "gold_answer": f"It is a paper on {i}, as all know."}
        for k, name in enumerate(("direct_qwen", "rag_qwen", "direct_mistral", "rag_mistral")):
            row |= {f"{name}_answer": f"It may be {i}, says {k} of the four.", f"{name}_score": (i + k) % 3}
        rows.append(row)
    reading = read(tmp_path, rows)
    assert reading.n_conditions == 4 and reading.roles.scores == ("score",) and not reading.questions


def test_a_text_called_like_systems_beside_them_may_be_a_system(tmp_path):
    rows = []
    for i in range(10):
        row = {"Question": f"What is {i}?", "abstract": f"On the matter of {i}, and what is known of it by now."}
        for name in ("gpt-4o", "groq-llama", "ollama-llama"):
            row |= {name: f"{name} says that it is {i} or so, and goes on at length about it.", f"{name} Duration": i / 7}
        rows.append(row | {"ollama_rag": f"With the archive at hand it is {i}, and no doubt is left."})
    (question,) = read(tmp_path, rows).questions
    assert question.seen == "ollama_rag holds texts too." and answered(tmp_path, question.second).n_conditions == 4


def test_stars_under_score_beside_labels_are_asked_about(tmp_path):
    """The stars of the reviews led, 3.00, over 90% of right labels."""
    moods = ("negative", "neutral", "positive")
    rows = [
        {"review_id": i, "score": 1 + i % 5, "true_sentiment": moods[i % 3], "pred_sentiment": moods[(i + (i % 10 == 0)) % 3]}
        for i in range(60)
    ]
    (question,) = read(tmp_path, rows).questions
    assert question.about == "score" and question.first.score == pytest.approx(0.9)


def test_an_error_rate_above_1_breaks_no_scale(tmp_path):
    rows = [{"id": i, "prediction": f"He set {i} birds.", "wer": 0.5 + i % 11 / 18} for i in range(50)]
    read(tmp_path, rows)
    facts = survey([tmp_path / "table.jsonl"], {}).facts
    assert not [sentence for kind, sentence in facts if kind == "outside the scale"]


def test_right_and_wrong_that_a_user_names_is_not_asked_about_again(tmp_path):
    rows = [
        {"frage": f"q{i}", "system": "m-9", "xyz": int((i + run) % 4 > 0), "lauf": run} for i in range(30) for run in (1, 2)
    ]
    (question,) = read(tmp_path, rows).questions
    assert question.first.words == ("score=xyz",) and not answered(tmp_path, question.first).questions
    bad = [{"id": i, "response": f"It is {i}.", "hallucinated": i % 4 == 0} for i in range(40)]
    read(tmp_path, bad)
    (direction,) = read_table(tmp_path / "table.jsonl", {"score": "hallucinated"}).questions
    assert direction.about == "direction"  # the name says that 1 may be bad


@pytest.mark.parametrize(("value", "model"), [(0.0, ""), (True, ""), ("gpt-4o", "gpt-4o")])
def test_a_number_that_all_rows_hold_names_no_model(tmp_path, value, model):
    """A model called 0.0 scored 64%: `llm_clarity` held 0 in every row."""
    rows = [{"id": i, "response": f"It is {i}.", "tone_score": 1 + i % 5, "llm": value} for i in range(20)]
    assert read(tmp_path, rows).model == model


def test_a_confidence_beside_one_systems_output_hides_no_system(tmp_path):
    """Two systems were one, read by two extractors."""
    labels = ("analysis", "hot_take", "reaction")
    rows = []
    for i in range(33):
        row = {"text": f"He said that number {i} would win.", "true": labels[i % 3]}
        row |= {"ft_pred": labels[i * i % 3], "ft_conf": 0.4 + i % 5 / 10}
        rows.append(row | {"baseline_pred": labels[(i + (i % 9 == 0)) % 3]})
    reading = read(tmp_path, rows)
    assert reading.arms == ("baseline_pred", "ft_pred") and not reading.questions
    assert reading.scores["baseline_pred", MATCH] == pytest.approx(29 / 33)


def test_scores_of_what_a_search_returned_are_no_runs(tmp_path):
    """Five similarities per question were five runs, and `hit_at_3` stood unused."""
    rows = [
        {
            "question_id": f"q{i}",
            "question": f"What does clause {i} say?",
            "top5_chunk_ids": [f"chunk_{i + k}" for k in range(5)],
            "scores": [0.7 - k / 10 + i / 100 for k in range(5)],
            "hit_at_3": int(i % 3 > 0),
        }
        for i in range(13)
    ]
    reading = read(tmp_path, rows)
    assert not reading.questions and reading.roles.graders == ("hit_at_3",)
    assert list(reading.scores.values()) == [pytest.approx(8 / 13)]


def test_a_prompt_column_of_names_beside_the_question_is_asked_about(tmp_path):
    """Two prompts of twelve questions were 26 questions: 19% for 0 and 38%."""
    rows = [
        {"prompt": prompt, "question": f"How do I open the {i}th window of the car?", "output": f"By button {i} or {prompt}."}
        | {"scores": {"correctness": int(prompt == "grounded" and i % 2)}}
        for prompt in ("baseline", "grounded")
        for i in range(12)
    ]
    (question,) = read(tmp_path, [*rows, rows[0] | {"output": "Again."}]).questions
    assert question.first.words == ("models=prompt",)
    ways = [row | {"prompt": {"baseline": "cot", "grounded": "few_shot"}[row["prompt"]]} for row in rows]
    assert read(tmp_path, ways).grid.conditions == ("prompt",)
    prompts = [row | {"prompt": f"Answer as one who is {row['prompt']}."} for row in rows]
    assert read(tmp_path, prompts).roles.prompts == ("question", "prompt")


def test_options_in_an_object_are_the_texts_under_its_letters(tmp_path):
    """The options were A, B, C and D, so one question with two sets of options contradicted itself."""
    rows = [
        {
            "id": f"qa_{i}",
            "question": f"What does part {i % 20} of it grant?",
            "options": {letter: f"Right {letter}{i}." for letter in "ABCD"},
            "correct_answer": "ABCD"[i % 4],
            "predicted_answer": "ABCD"[i * i % 4],
        }
        for i in range(24)
    ]
    read(tmp_path, rows)
    recording = guess_recording(str(tmp_path / "table.jsonl"))
    items = [record.item for record in recorded(tmp_path / "table.jsonl", recording).records]
    assert items[1].options == ("Right A1.", "Right B1.", "Right C1.", "Right D1.") and items[1].target == "1"


def test_of_several_kinds_of_right_and_wrong_it_is_asked_which_leads(tmp_path):
    """`model_called_correct_tool` led, which no row without a tool can pass: 25 and 35%."""
    rows = [
        {
            "query": f"What does city {i} cost?",
            "model_name": f"gemma-{model}",
            "model_called_tool_when_needed": i % 10 > model - 1,
            "model_called_correct_tool": i % 3 == 0,
            "tool_call_success": i % 5 > 2,
        }
        for i in range(60)
        for model in (1, 2)
    ]
    (question,) = read(tmp_path, rows).questions
    assert question.seen == "model_called_correct_tool leads the scores; tool_call_success holds right and wrong too."


def test_a_quality_that_is_0_in_every_row_may_mark_faults(tmp_path):
    """Fifty answers without a fault were 0% right."""
    rows = [{"id": i, "quality": {"answer_coherence": 0, "safety_specificity": int(i == 14)}} for i in range(50)]
    (question,) = read(tmp_path, rows).questions
    assert question.second.words == ("reverse=quality.answer_coherence",) and question.second.score == 1
    wrong = [{"id": i, "sanity_pass": False} for i in range(50)]  # the check failed, and nothing passed
    (question,) = read(tmp_path, wrong).questions
    assert question.second.words == ("score=",)
    equal = [{"id": i, "exact_match": 0} for i in range(50)]
    assert not read(tmp_path, equal).questions


def test_right_by_a_person_leads_before_the_recall_of_a_search(tmp_path):
    """Recall led: 88 and 100% for 73 and 91% right."""
    rows = []
    for i in range(11):
        methods = {}
        for k, name in enumerate(("bm25", "dense")):
            methods[name] = {
                "generated_answer": f"The {name} answer to {i} is that it was so at the time.",
                "retrieval_score": {"recall": float(i > k)},
                "manual_judgment": {"correct": i % 4 > k},
            }
        rows.append({"id": i, "question": f"Who was {i}?", "methods": methods})
    assert read(tmp_path, rows).roles.scores[0] == "manual_judgment.correct"


def test_numbers_of_two_models_called_pass_at_1_are_scores(tmp_path):
    """They were outputs of two models, without a score."""
    rows = [{"Problem": f"Task {i}: sort it", "GPT5_Pass@1": 1 - i % 3 / 3, "Claude3_Pass@1": i % 2 / 3} for i in range(10)]
    reading = read(tmp_path, rows)
    assert (reading.arms, reading.roles.scores, reading.roles.output) == (("GPT5", "Claude3"), ("Pass@1",), "")


def test_a_last_row_of_means_is_no_question(tmp_path):
    """It was one of eleven problems: 93.1% for 93.4%."""
    rows = [{"Problem": f"Task {i}: sort it", "score": i % 3 / 3} for i in range(10)]
    average = {"Problem": "Average", "score": 0.3, "Notes": "Better than the other."}
    assert read(tmp_path, [*rows, average]).refusal.startswith("A row at the end is called Average:")
    footer = {"Problem": "COVERAGE", "Notes": "11/11"}
    assert read(tmp_path, [*rows, average, footer]).refusal.startswith("A row at the end is called Average:")
    assert not read(tmp_path, [{"Problem": "mean", "score": 0.3}, *rows, {"Problem": "mean", "score": 0.4}]).refusal


def test_letters_of_a_judge_beside_two_outputs_are_a_comparison(tmp_path):
    """The verdicts of 500 comparisons were not named."""
    rows = [
        {"question": f"What is {i}?", "judge_decision": "ABB"[i % 3]}
        | {f"{side}_response": f"To my mind {side} {i} is a number like any other." for side in ("base", "ft")}
        for i in range(30)
    ]
    assert read(tmp_path, rows).refusal.startswith("Each row compares two outputs (base_response and ft_response)")


def test_of_a_model_and_its_judge_neither_is_named_as_the_system(tmp_path):
    """The writer of the sentences was the system, though the judge was graded."""
    row = {"bad sentence": "He go.", "model": "gemini-1.5-flash", "judge_model": "gpt-4o", "correct_choice": "A"}
    rows = [row | {"org_id": i, "bad sentence": f"He go {i} times.", "is_correct": i % 5 > 0} for i in range(10)]
    assert read(tmp_path, rows).model == ""


def test_attempts_until_one_is_accepted_are_no_runs(tmp_path):
    """Fifty questions with up to two attempts were 55 questions."""
    rows = []
    for i in range(50):
        tries = [str(i)] if i % 10 else [str(i + 1), str(i)]
        row = {"question": f"What is {i} times one?", "expected_answer": str(i), "attempt_extracted": tries}
        rows.append(row | {"baseline_correct": i % 3 > 0, "agentic_correct": i % 4 > 0})
    reading = read(tmp_path, rows)
    assert (reading.n_items, reading.shape.lists) == (50, ())


def test_a_table_without_names_of_its_columns_is_refused(tmp_path):
    """A subject was taken for the names: 56 of 57."""
    path = tmp_path / "accuracy.csv"
    path.write_text("abstract_algebra,0.32\n" + "".join(f"subject_{i},0.{i + 10}\n" for i in range(56)), encoding="utf-8")
    assert read_table(path).refusal.startswith("The first line of the table holds values (abstract_algebra, 0.32)")


def test_a_summary_under_ground_truth_is_the_right_answer(tmp_path):
    """It was a third system."""
    rows = [
        {"id": i, "input_text": f"The hearing {i} ended late, and no vote was taken on it."}
        | {"ground_truth_summary": f"Hearing {i} had no vote.", "llm_summary": f"There was no vote in hearing {i} of them."}
        for i in range(20)
    ]
    assert read(tmp_path, rows).roles.target == "ground_truth_summary"


def test_grades_in_columns_called_like_systems_are_asked_about(tmp_path):
    """Two of four conditions "hold the same labels", and 10% were right."""
    rows = [
        {"task": f"{kind}-{i}", "category": kind, "experiential": 3 + i % 3, "hybrid": 4 + i % 2, "baseline": 1 + i % 4}
        for kind in ("mail", "trips")
        for i in range(10)
    ]
    (question,) = read(tmp_path, rows).questions
    reading = answered(tmp_path, question.first)
    assert (reading.n_conditions, reading.roles.output, reading.questions) == (3, "", ())
    assert reading.scores["hybrid", reading.roles.graders[0]] == 4.5


def test_corners_of_a_box_are_no_runs(tmp_path):
    """Four numbers per image were four runs, and the overlap of the boxes stood unused."""
    rows = [
        {"img_id": i, "pred_bbox": [i, 2, i + 5, 9], "target_bbox": [i, 3, i + 6, 8], "iou": i % 10 / 40} for i in range(40)
    ]
    reading = read(tmp_path, rows)
    assert (reading.n_runs, reading.roles.scores) == (1, ("iou",))


def test_two_columns_of_labels_without_a_text_may_be_two_systems(tmp_path):
    labels = ("spam", "news", "private")
    rows = [
        {"text": f"He wrote letter {i} last night.", "gold_label": labels[i % 3]}
        | {"prediction": labels[i * i % 3], "bert_output": labels[(i + (i % 9 == 0)) % 3]}
        for i in range(36)
    ]
    (question,) = read(tmp_path, rows).questions
    assert question.seen.endswith("hold values of gold_label.") and answered(tmp_path, question.first).n_conditions == 2
    texts = [row | {"response": f"I think that this is {row['prediction']}, all in all."} for row in rows]
    assert not any(asked.about == "outputs" for asked in read(tmp_path, texts).questions)


def test_a_count_by_a_person_beside_the_true_count_is_an_answer(tmp_path):
    """Its mean was the score: 53.08 "on a scale from 2 to 900"."""
    rows = [{"filename": f"{i}.jpg", "class": "eggs", "object_count": 5 + i, "human": 5.0 + i + (i % 2)} for i in range(40)]
    (question,) = read(tmp_path, rows).questions
    reading = answered(tmp_path, question.first)
    assert (reading.roles.output, reading.roles.target, reading.roles.people) == ("human", "object_count", ())


def test_aspects_under_scores_are_no_systems(tmp_path):
    """Three aspects of eight answers were three models."""
    rows = []
    for i in range(8):
        aspects = {
            name: {"score": 3 + (i + k) % 3, "evidence": f"The {name} of answer {i} is as the plan has it."}
            for k, name in enumerate(("solid", "restraint", "contract"))
        }
        rows.append({"run_id": f"text_{i}", "scores": aspects})
    reading = read(tmp_path, rows)
    assert not reading.shape.models and "scores.solid.score" in reading.roles.scores


def test_a_row_per_metric_is_refused_with_the_words_that_read_it(tmp_path):
    """It was said that no column is called like a score."""
    rows = [
        {"model": f"m-{model}", "episode": i, "metric": metric, "value": i + k + model}
        for i in range(10)
        for model in (1, 2)
        for k, metric in enumerate(("Main Score", "Lose", "Turns"))
    ]
    refusal = read(tmp_path, rows).refusal
    assert refusal.startswith("Each row holds the value of one metric, of 3: Lose, Main Score, Turns. If")
    assert "--map scorer=metric score=value" in refusal
    words = {"scorer": "metric", "score": "value", "item": "episode", "models": "model", "lower": ""}
    assert (answer := read_table(tmp_path / "table.jsonl", words)).refusal == "" and answer.n_items == 10


def test_what_became_of_a_judges_call_is_no_score(tmp_path):
    """That no judge was skipped counted as 0% right."""
    rows = [{"question": f"What is {i}?", "mrr": float(i % 5 > 0), "judge_skipped": False} for i in range(18)]
    assert read(tmp_path, rows).roles.graders == ("mrr",)


def test_remarks_tell_no_questions_apart(tmp_path):
    rows = [{"Name": f"Person {i % 20}", "pass": i % 9 > 0, "reason": f"Satisfied with line {i}."} for i in range(40)]
    assert read(tmp_path, rows).grid.items == ()


def test_words_to_translate_under_one_instruction_stay_questions(tmp_path):
    """A column `input` of single words was taken for the name of a prompt, and ten words for one question."""
    words = ("dog", "cat", "house", "tree", "water", "bread", "sun", "moon", "book", "hand")
    rows = [
        {"model": f"m-{model}", "instruction": "Translate this English word into Spanish for me."}
        | {"input": word, "target": f"{word}o", "output": f"{word}o" if i % model else "no"}
        for model in (2, 3)
        for i, word in enumerate(words)
    ]
    reading = read(tmp_path, rows)
    assert (reading.n_items, reading.n_conditions, reading.questions) == (10, 2, ())


@pytest.mark.parametrize(
    "last",
    [
        {"question": "Which measure is it?", "answer": "mean", "response": "mean", "correct": 1},
        {"question": "Total", "answer": "Gesamtsumme", "response": "Alles in allem", "correct": 1},
    ],
)
def test_a_last_question_that_is_answered_with_mean_is_a_question(tmp_path, last):
    rows = [{"question": f"What is {i}?", "answer": str(i), "response": str(i), "correct": int(i % 3 > 0)} for i in range(20)]
    assert not read(tmp_path, [*rows, last]).refusal


def test_grades_in_letters_beside_the_raw_output_are_no_comparison(tmp_path):
    rows = [
        {"id": i, "question": f"Who wrote {i}?", "answer": f"Writer {i}", "response": f"It was writer {i} who wrote it."}
        | {"raw_response": f"Let me think. It was writer {i} who wrote it.", "judge_grade": "AABC"[i % 4]}
        for i in range(24)
    ]
    assert not read(tmp_path, rows).refusal


def test_temperatures_as_names_of_columns_are_no_values(tmp_path):
    rows = [{"id": i, "question": f"What is {i}?", "0.0": i % 2, "0.7": i % 3 % 2, "1.0": i % 5 % 2} for i in range(20)]
    assert not read(tmp_path, rows).refusal


def test_options_under_numbers_and_numbers_as_options_are_texts(tmp_path):
    rows = []
    for i in range(20):
        options = {str(k + 1): f"City {i}{k}" for k in range(10)} if i % 2 else {"A": i, "B": i + 1, "C": i + 2}
        rows.append({"id": i, "question": f"Which is right in {i}?", "options": options, "answer": "3" if i % 2 else "C"})
    for options in (rows[0]["options"], rows[1]["options"]):
        assert entries_of_options(options) == list(options.values())
    assert entries_of_options({"A": True, "B": False}) == ["A", "B"]
    assert entries_of_options({"Oslo is the capital.": 1, "Bergen is.": 0}) == ["Oslo is the capital.", "Bergen is."]


def test_small_numbers_of_people_are_equal_to_others_by_chance(tmp_path):
    rows = [{"id": i, "prompt": f"Tell of {i}.", "human_rating": 1 + i % 5, "num_turns": 1 + i * 3 % 4} for i in range(40)]
    assert not any("same number" in question.seen for question in read(tmp_path, rows).questions)


def test_a_column_of_labels_beside_a_classified_text_is_the_output(tmp_path):
    """The symptoms were the output and never the diagnosis: 0.1% for 60%."""
    diseases = [f"disease {letter}" for letter in "abcdefghijklmnop"]
    rows = []
    for i in range(64):
        said = diseases[i % 16] if i % 4 else diseases[0]
        rows.append(
            {"case_id": i, "text": f"Since {i} days there is a rash, and it itches in the night."}
            | {"true_label": diseases[i % 16], "diagnosis": said}
            | {"raw_response": json.dumps({"diagnosis": said})}
        )
    reading = read(tmp_path, rows)
    assert (reading.roles.output, reading.roles.prompts) == ("diagnosis", ("text",))
    assert reading.scores["", MATCH] == 52 / 64 and not reading.questions


def test_a_pandas_index_beside_a_model_per_row_numbers_no_questions(tmp_path):
    """Thirty checkpoints with a mean and its interval were thirty questions, 33%."""
    rows = []
    for i in range(30):
        mean = 0.27 + i / 400
        rows.append(
            {"Unnamed: 0": i, "mean_accuracy": mean, "accuracy_lower": mean - 0.01}
            | {"accuracy_upper": mean + 0.01, "model": f"models/whole_{i}"}
        )
    assert "Each row holds one value of model: a ranking" in read(tmp_path, rows).refusal


def test_an_answer_that_was_read_out_of_the_output_is_not_the_right_one(tmp_path):
    """`answer` was right in 98% of the rows, beside `gold` and a `correct` of 51%."""
    rows = []
    for i in range(40):
        right, said = ["yes", "no", "maybe"][i % 3], ["yes", "no", "maybe"][i % 6 // 2]
        rows.append(
            {"question": f"Does {i} help?", "gold": right, "answer": said, "raw_output": said.title()}
            | {"correct": int(right == said)}
        )
    reading = read(tmp_path, rows)
    assert (reading.roles.target, reading.roles.output) == ("gold", "raw_output")
    assert reading.scores["", MATCH] == reading.scores["", "correct"]


def test_what_each_setting_retrieved_makes_no_question(tmp_path):
    """Thirty questions under eight numbers of passages were 240 questions."""
    rows = []
    for i in range(12):
        for k in (1, 3, 5, 10):
            rows.append(
                {"K": k, "Question": f"What does document {i} say of it?", "Answer": f"{i} and {k}."}
                | {"Retrieved Contexts": f"The first {k} passages about {i}: they say a lot of it."}
                | {"Retrieval Precision": (i % 5 + 1) / (k + 5)}
            )
    reading = read(tmp_path, rows)
    (question,) = reading.questions
    assert question.seen == "Each of 12 values of Question stands once beside each of 4 of K."
    assert question.first.words == ("item=Question", "models=K")


@pytest.mark.parametrize(
    "text", ["[generation failed: Network error calling it]", "LLM call failed: 503", "Request error: timeout"]
)
def test_an_output_that_says_that_its_call_failed_is_asked_about(tmp_path, text):
    """Calls that failed counted as wrong: 0% right for one of two systems."""
    rows = []
    for i in range(10):
        for system in ("plain", "verified"):
            answer = text if system == "plain" and i % 2 else f"It is document {i}."
            rows.append(
                {"id": i, "question": f"What is {i}?", "system": system, "answer": answer}
                | {"answer_correct": int(answer != text)}
            )
    assert "failed calls" in [question.about for question in read(tmp_path, rows).questions]


def test_a_word_before_failed_is_no_failed_call(tmp_path):
    """Compilation failed: that is what the model was asked."""
    rows = []
    for i in range(20):
        answer = "Compilation failed: a bracket is missing." if i % 2 else f"It prints {i}."
        rows.append({"id": i, "question": f"What does {i} print?", "response": answer, "correct": i % 2})
    assert not read(tmp_path, rows).questions


def test_texts_that_nearly_never_agree_are_asked_about(tmp_path):
    rows = []
    for i in range(60):
        right = f"The river number {i} flows south."
        said = right if i == 7 else f"It was built in the year {1800 + i}, says the article."
        rows.append({"id": i, "question": f"What of {i}?", "reference": right, "response": said})
    (question,) = read(tmp_path, rows).questions
    assert "hold the same answer in hardly any row" in question.seen


def test_a_check_of_the_final_answer_is_a_score(tmp_path):
    """`final_answer_correct` was the right answer, beside an output called `output_policy_clean`."""
    rows = []
    for i in range(24):
        rows.append(
            {"task_id": f"t{i}", "success": int(i % 3 == 0), "final_answer_correct": int(i % 2)}
            | {"format_correct": 1, "output_policy_clean": 1}
        )
    reading = read(tmp_path, rows)
    assert reading.roles.target == "" and "final_answer_correct" in reading.roles.scores
    assert reading.roles.graders[0] == "success"


def test_a_list_of_right_answers_in_a_text_holds_several(tmp_path):
    """Ten people's answers in a cell were one right answer: 0% for 17 of 20."""
    lines = ["id,question,gt,prediction"]
    for i in range(12):
        said = "down" if i % 4 else "up"
        lines.append(f"""{i},Where is {i} looking?,"['down', 'at table', 'down']",{said}""")
    path = tmp_path / "vqa.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    first = next(iter(table_reader(Source(path, path.name), {}).records(Source(path, path.name), ())))
    assert first.targets == ("down", "at table")


def test_a_header_that_is_repeated_is_no_row(tmp_path):
    """Files that were joined with their headers had a question more, and a system called `model`."""
    path = tmp_path / "joined.csv"
    part = "id,model,correct\n" + "".join(f"q{i},m{i % 2},{i % 3 % 2}\n" for i in range(10))
    path.write_text(part + part.replace("q", "r").replace("id,model,correct", "id,model,0"), encoding="utf-8")
    reading = read_table(path)
    assert (reading.n_items, set(reading.arms) & {"model"}) == (20, set()) and reading.n_rows == 20


def test_ids_of_sixteen_digits_are_ids(tmp_path):
    """They were no whole numbers, and the raw output of each row was its question."""
    rows = []
    for i in range(24):
        said = ["Peru", "Chad", "Laos"][i % 3]
        rows.append(
            {"id": 1047314680817085 + i // 2 * 7, "cue_type": ["sign", "road"][i % 2], "true_country": "Peru"}
            | {"predicted_country": said, "correct": said == "Peru", "raw_response": f"It may be {said}, says sign {i}."}
        )
    assert "raw_response" not in read(tmp_path, rows).grid.items
    rows = [row | {"id": 1047314680817085 + i * 7} for i, row in enumerate(rows)]
    assert read(tmp_path, rows).grid.items == ("id",)


def test_short_right_answers_among_long_ones_are_asked_about(tmp_path):
    """3 of 30 were compared, and 13% stood for a sheet that nobody had graded."""
    rows = []
    for i in range(30):
        right = (
            "Yes."
            if i % 10 == 0
            else f"The server number {i} keeps what was sent to it, and answers at once when it is asked again."
        )
        said = (
            "Yes."
            if i % 10 == 0
            else f"Once it is sent, server {i} has it, and it answers whoever asks for it later on, as the text says."
        )
        rows.append({"id": i, "question": f"What of {i}?", "expected_answer": right, "generated_answer": said})
    (question,) = read(tmp_path, rows).questions
    assert question.seen == "generated_answer and expected_answer hold the same answer in 10% of the rows."


def test_a_likeness_to_nothing_in_the_table_is_asked_about(tmp_path):
    rows = [
        {"Question": f"How is {i}?", "Answer": f"It is well, says doctor {i}.", "Similarity": 0.3 + i / 40} for i in range(12)
    ]
    (question,) = read(tmp_path, rows).questions
    assert question.second.words == ("score=",)


def test_letter_grades_are_refused_with_what_to_do(tmp_path):
    """C was right and F wrong: 100% and 80% for 3.1 and 1.8."""
    rows = [{"essay_id": i, "model": "ab"[i % 2], "topic": f"Of trees {i}", "grade": "ABCDF"[i % 5]} for i in range(20)]
    assert "grades in letters" in read(tmp_path, rows).refusal
    (tmp_path / "table.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert "grades in letters" in read_table(tmp_path / "table.jsonl", {"score": "grade"}).refusal


def test_a_score_called_match_is_not_replaced_by_a_comparison(tmp_path):
    """54% by words stood beside 71% by its own column."""
    rows = [
        {"id": i, "expected": f"{i},000.50 EUR", "extracted": f"{i}000.50 EUR" if i % 2 else f"{i},000.50 EUR", "match": 1}
        for i in range(1, 21)
    ]
    assert read(tmp_path, rows).scores["", "match"] == 1.0


def test_the_questions_of_each_story_are_rows(tmp_path):
    """Three stories with six questions each were 3 questions, of which none was "all correct": 0% instead of 61%."""
    stories = []
    for group in range(4):
        cells = [{"question": f"Where is {k} in story {group}?", "type": "belief", "correct_answer": "box"} for k in range(6)]
        asked = [
            row | {"predicted_answer": "box" if k % 3 else "bag", "is_correct": bool(k % 3)} for k, row in enumerate(cells)
        ]
        stories.append({"group_id": group, "all_correct": False, "questions": asked})
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"model": "small", "average": 66.7, "results": stories}), encoding="utf-8")
    reading = read_table(path)
    assert (reading.n_items, reading.roles.graders[0], reading.questions) == (24, "is_correct", ())
    assert reading.scores["", "is_correct"] == pytest.approx(2 / 3)
    (row, *others) = read_rows(path)
    assert len(others) == 23 and (row.values["group_id"], row.values["model"], row.values["type"]) == (0, "small", "belief")


def test_two_numbers_that_were_read_out_of_an_output_are_no_runs(tmp_path):
    """Pairs of sentences that a model named were two runs of it."""
    rows = [
        {"doc_id": f"d{i}", "raw_response": f"Sentences {i} and {i + 2} contradict each other.", "prediction": [i, i + 2]}
        | {"correct": bool(i % 4)}
        for i in range(20)
    ]
    reading = read(tmp_path, rows)
    assert (reading.n_items, reading.n_runs, reading.questions) == (20, 1, ())
