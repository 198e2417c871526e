"""Every small table of `tests/data/tables` is read right, or asked about; none is read wrongly."""

import json
import shlex
from pathlib import Path

import pytest

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.rows import Row
from flipcore.datasets.recorded.fields import split_row, value_at
from flipcore.datasets.tables.reading import MATCH, read_table
from flipcore.datasets.tables.sentence import question_text, sentence

pytestmark = pytest.mark.usefixtures("allowed_folders")

TABLES = Path(__file__).parents[2] / "data" / "tables"

# file -> (questions, arms, runs, {(arm, grader): score}); what is right by its README
RIGHT = {
    "ragas_results.csv": (
        24,
        1,
        1,
        {
            ("", "faithfulness"): 0.5,
            ("", "answer_relevancy"): 0.962,
            ("", "context_precision"): 0.708,
            ("", "context_recall"): 0.722,
        },
    ),
    ".deepeval/.latest_test_run.json": (
        24,
        1,
        1,
        {
            ("", "success"): 0.667,
            ("", "metricsData[Answer Relevancy].score"): 0.9,
            ("", "metricsData[Correctness [GEval]].score"): 0.7,
        },
    ),
    "wide_with_scores.csv": (
        24,
        3,
        1,
        {
            ("llama70b", MATCH): 0.5,
            ("groq", MATCH): 1.0,
            ("ollama", MATCH): 0.0,
            ("llama70b", "faithfulness"): 0.71,
            ("groq", "relevance"): 0.7,
            ("ollama", "toxicity"): 0.003,
        },
    ),
    "ids_within_sets.json": (72, 1, 1, {("", MATCH): 0.472}),
    "context_questions.jsonl": (60, 1, 1, {("", MATCH): 0.75}),
    "arms.jsonl": (40, 2, 1, {("regex", MATCH): 0.5, ("student", MATCH): 0.525}),
    "two_temperatures.jsonl": (40, 2, 1, {("0", MATCH): 0.8, ("1", MATCH): 0.4}),
    "systems_scored.jsonl": (40, 2, 1, {("rag", "correct"): 0.8, ("baseline", "correct"): 0.4}),
    "text_and_letter.jsonl": (60, 1, 1, {("", MATCH): 0.75}),
    "judge_minus_one.jsonl": (40, 2, 1, {("vicuna", "score"): 7.714, ("koala", "score"): 7.571}),
    "correct_is_any.jsonl": (30, 1, 8, {("", "answers_correctness"): 0.358, ("", MATCH): 0.358}),
    "index_from_1.jsonl": (30, 1, 1, {("", MATCH): 0.667}),
    "simpleqa.csv": (48, 1, 1, {("", "grade"): 0.5}),
    "metrics_object.jsonl": (36, 1, 1, {("", "accuracy_metrics.answer"): 0.833, ("", MATCH): 0.833}),
    "nan_scores.jsonl": (50, 1, 1, {("", "score"): 0.8}),
    "document_of_ids.json": (40, 1, 1, {("", "results"): 0.75}),
    "two_ids.jsonl": (30, 2, 1, {("alpha-1", "is_answer_correct"): 0.733, ("beta-2", "is_justification_correct"): 0.667}),
    "judges_and_people.csv": (30, 2, 1, {("m1", "Human-Eval"): 0.667, ("m2", "Human-Eval"): 0.667, ("m1", "JudgeLM"): 0.733}),
    "systems_in_columns.jsonl": (
        40,
        3,
        1,
        {("full_system", MATCH): 0.5, ("keyword_baseline", MATCH): 0.5, ("zeroshot_baseline", MATCH): 1.0},
    ),
    "graded_sheet.csv": (24, 1, 1, {("", "Bewertung"): 0.75}),
    "four_of_five.csv": (24, 1, 1, {("", "rating"): 0.8}),
    "code_and_prediction.jsonl": (40, 1, 1, {("", MATCH): 0.75}),
    "mixed_types.json": (60, 1, 1, {("", "true_false"): 0.667}),
    "judged_twice.jsonl": (30, 3, 1, {("m1", "score"): 0.65, ("m2", "score"): 0.667}),
    "calls_failed.jsonl": (60, 1, 1, {("", "correct"): 1.0}),
    "reasoning_read.jsonl": (40, 1, 1, {("", "correct"): 0.5, ("", MATCH): 1.0}),
    "korean.jsonl": (40, 1, 1, {("", "exact_match"): 0.0, ("", MATCH): 0.85}),
    "resumed.jsonl": (40, 1, 1, {("", "correct"): 0.65}),
    "key_not_shuffled.jsonl": (40, 1, 1, {("", "correct"): 0.75}),
    "option_called_B.jsonl": (24, 1, 1, {("", MATCH): 0.833}),
    "subjects/biology.jsonl": (10, 1, 1, {("", MATCH): 0.6}),
}

# file -> (what the question is about, the score of each reading)
ASKED = {
    "same_question.jsonl": ("item", 0.667, 0.667),
    "ys_infos.json": ("score", 0.25, None),
    "percent_mixed.csv": ("percentages", 0.7, 35.35),
}

REFUSED = {"judge_two_orders.jsonl": "compares two outputs"}
OF_HARNESSES = {
    "critique.json",
    "errors.json",
    "two_runs/cold.json",
    "two_runs/warm.json",
    "two_tasks/kinds.json",
    "two_tasks/new.json",
}


def test_every_table_of_the_folder_is_judged_here():
    found = {path.relative_to(TABLES).as_posix() for path in TABLES.rglob("*") if path.is_file()}
    others = {name for name in found if name.startswith("subjects/")} | {"README.md"}
    assert found - others == {*RIGHT, *ASKED, *REFUSED, *OF_HARNESSES} - {"subjects/biology.jsonl"}


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_a_table_is_read_right(name):
    n_items, n_arms, n_runs, scores = RIGHT[name]
    reading = read_table(TABLES / name)
    assert not reading.refusal and not reading.questions
    assert (reading.n_items, reading.n_conditions, reading.n_runs) == (n_items, n_arms, n_runs)
    assert {key: round(reading.scores[key], 3) for key in scores} == scores


@pytest.mark.parametrize("name", ASKED)
def test_a_table_that_people_would_ask_about_is_asked_about(name):
    about, first, second = ASKED[name]
    (question,) = read_table(TABLES / name).questions
    assert question.about == about
    for choice, score in zip(question.choices, (first, second), strict=True):
        assert score is None or round(choice.score, 3) == score
        assert choice.words and f"--map {' '.join(choice.words)}" in question_text(question)
        words = dict(word.split("=", 1) for word in choice.words)
        assert read_table(TABLES / name, words).questions == ()


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_of_comparisons_is_refused_with_a_sentence(name):
    assert REFUSED[name] in read_table(TABLES / name).refusal


def test_the_sentence_says_how_a_table_is_read():
    assert sentence(read_table(TABLES / "arms.jsonl")) == (
        "Read as 40 questions (id) × 2 arms (regex, student) × 1 run; right answer: gold; output: pred, read as label; "
        "not used: latency_ms."
    )


# Names tell output, right answer and score apart: without them nothing may be claimed.

_GERMAN = {
    "id": "kennung",
    "question": "frage",
    "prompt": "aufgabe",
    "answer": "loesung",
    "gold": "soll",
    "target": "soll",
    "response": "antwort",
    "output": "antwort",
    "pred": "vorhersage",
    "prediction": "vorhersage",
    "correct": "richtig",
    "score": "punkte",
    "model": "modell",
    "arm": "verfahren",
    "system": "verfahren",
    "rating": "bewertung",
    "grade": "note",
}


def renamed(path, folder, rename):
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    names = list(dict.fromkeys(name for row in rows for name in row))
    others = {name: rename(name, i) for i, name in enumerate(names)}
    target = folder / "renamed.jsonl"
    target.write_text("".join(json.dumps({others[k]: v for k, v in row.items()}) + "\n" for row in rows), encoding="utf-8")
    return target, others


LINES = sorted(path.name for path in TABLES.glob("*.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("language", ["german", "numbers"])
def test_renamed_columns_give_the_same_scores_or_a_question(tmp_path, name, language):
    def rename(column, i):
        return f"c{i + 1}" if language == "numbers" else _GERMAN.get(column, column)

    path, others = renamed(TABLES / name, tmp_path, rename)
    before, after = read_table(TABLES / name), read_table(path)
    if after.questions or after.refusal or not after.scores:
        return
    for _, grader in before.scores:
        first, dot, inner = grader.partition(".")
        others.setdefault(grader, f"{others.get(first, first)}{dot}{inner}")
    right = {(arm, others[grader]): round(value, 3) for (arm, grader), value in before.scores.items()}
    for key, value in after.scores.items():
        assert right.get(key) == round(value, 3), (key, sentence(after))


# What public tables taught, as made cases: one rule each.


def table(tmp_path, rows):
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_table(path)


def test_a_model_column_parts_a_small_table_too(tmp_path):
    """Seven rows by four models were pooled."""
    models = ["gpt-4", "claude-3", "gpt-3.5", "gpt-4", "claude-3", "gemini-1.5", "gpt-4"]
    reading = table(
        tmp_path, [{"prompt_id": i, "model": model, "response": f"Text {i}", "score": i / 10} for i, model in enumerate(models)]
    )
    assert reading.n_conditions == 4 and round(reading.scores["gpt-4", "score"], 3) == 0.3


def test_prompts_that_hold_what_each_model_said_leave_the_question_its_id(tmp_path):
    rows = [
        {
            "question_id": i,
            "model": model,
            "user_prompt": f"[Instruction] Rate {i} by {model}, turn {turn}",
            "score": i % 7,
            "turn": turn,
        }
        for model in "ab"
        for i in range(12)
        for turn in (1, 2)
    ]
    reading = table(tmp_path, rows)
    assert (reading.n_items, reading.n_conditions, reading.n_runs) == (24, 2, 1)
    assert set(reading.grid.items) == {"question_id", "turn"}


def test_free_texts_of_two_systems_beside_a_key_are_two_systems(tmp_path):
    rows = [
        {
            "Instruction": f"What does part {i} do?",
            "Expected": f"It turns part number {i} around its own axis once more.",
            "Baseline": f"Part {i}.",
            "Fine-Tuned": f"It is {i}.",
        }
        for i in range(12)
    ]
    reading = table(tmp_path, rows)
    assert reading.shape.models == ("Baseline", "Fine-Tuned")
    assert not reading.scores and any("no score" in note for note in reading.notes)


def test_labels_inside_of_sentences_are_looked_for(tmp_path):
    names = ["cat", "dog", "bird"]
    rows = [
        {
            "index": i,
            "question": f"Which animal is number {i}?",
            "ground_truth": names[i % 3],
            "prediction": f"It is a {names[i % 3 if i % 4 else 0]}.",
        }
        for i in range(24)
    ]
    reading = table(tmp_path, rows)
    assert round(reading.scores["", MATCH], 3) == 0.833


def test_ten_thousand_columns_get_a_sentence(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{i}" for i in range(10_000)) + "\n" + ",".join("1" * 10_000) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match="has 10,000 columns; a table of outputs or scores has at most 2,000"):
        read_table(path)


def test_the_sentence_says_which_rows_count_nowhere(tmp_path):
    rows = [f"{i},m,{-1 if i % 20 == 0 else i % 2}" for i in range(1, 61)]
    (tmp_path / "t.csv").write_text("\n".join(["id,model,correct", *rows, rows[0]]), encoding="utf-8")
    reading = read_table(tmp_path / "t.csv")
    assert reading.n_items == 60
    assert "1 row that repeats another word for word" in sentence(reading)
    assert reading.notes[0] == "Left out: 1 row that repeats another word for word."


def test_a_question_that_two_models_answered_twice_is_counted_once(tmp_path):
    rows = []
    for i in range(30):
        for model in ("m1", "m2"):
            rows.append({"item_id": f"q{i}", "model": model, "score": i % 2})
    rows += [row | {"score": 1 - row["score"]} for row in rows[:6]]
    notes = " ".join(table(tmp_path, rows).notes)
    assert "3 questions stand in several rows that no column tells apart." in notes


def test_two_replies_and_a_winner_are_refused_though_their_names_part_them(tmp_path):
    rows = [
        {"prompt_id": i, "prompt_text": f"Write letter {i}.", "response_A": f"Dear {i},", "response_B": f"Hello {i},"}
        | {"flipped": bool(i % 2), "ground_truth_winner": "AB"[i % 2]}
        for i in range(20)
    ]
    reading = table(tmp_path, rows)
    assert "Each row compares two outputs (response_A and response_B)" in reading.refusal and not reading.questions


def test_a_list_is_no_id_and_a_score_of_an_answer_is_no_answer(tmp_path):
    rows = [
        {
            "question": f"What is part {i % 19}?",
            "ground_truth": f"Part {i} turns around its own axis, as all of the others do.",
            "generated_answer": f"It turns, says page {i}.",
            "expected_chunk_id": i // 3,
            "retrieved_chunk_ids": [i, i + 1, 90],
            "llm_answer_score": i % 5 / 4,
        }
        for i in range(20)
    ]
    reading = table(tmp_path, rows)
    assert reading.roles.output == "generated_answer" and reading.roles.scores == ("llm_answer_score",)
    assert "retrieved_chunk_ids" not in reading.grid.items and reading.n_items == 20


def test_columns_of_grades_under_one_word_are_no_models(tmp_path):
    labels = ("factual_accuracy", "hallucination", "completeness", "bias")
    rows = [
        {"record_id": f"g{i}", "user_input": f"Where is order {i}?", "agent_output": f"Order {i} is on its way to you."}
        | {f"label_{name}": 1 + (i + k) % 5 for k, name in enumerate(labels)}
        for i in range(16)
    ]
    reading = table(tmp_path, rows)
    assert not reading.shape and reading.n_items == 16
    assert set(reading.roles.scores) == {f"label_{name}" for name in labels}


def test_a_passage_that_each_retriever_found_is_no_part_of_the_question(tmp_path):
    rows = [
        {"Retriever": retriever, "Query": f"What is part {i}?", "Expected Text": f"{retriever} text of part {i}, in full."}
        | {"Found Title": f"Title {i % 40}", "Recall@5": float((i + k) % 3 == 0)}
        for i in range(60)
        for k, retriever in enumerate(("Vector", "BM25"))
    ]
    reading = table(tmp_path, rows)
    assert (reading.n_items, reading.arms) == (60, ("Vector", "BM25")) and not reading.shape


def test_text_beside_a_label_and_a_prediction_is_what_was_classified(tmp_path):
    rows = [
        {"text": f"The bread of shop {i} was as good as ever.", "label": "ab"[i % 2], "pred": "ab"[i % 3 % 2], "in_tok": 20 + i}
        for i in range(30)
    ]
    reading = table(tmp_path, rows)
    assert (reading.roles.prompts, reading.roles.output, reading.roles.target) == (("text",), "pred", "label")
    assert reading.scores["", MATCH] == 0.5


def test_that_every_call_succeeded_is_no_score(tmp_path):
    rows = [{"id": i, "prompt": f"Say {i}.", "response": f"Number {i}.", "metadata": {"success": True}} for i in range(12)]
    reading = table(tmp_path, rows)
    assert reading.roles.graders == () and not reading.scores


def test_steps_of_an_agent_are_no_runs(tmp_path):
    rows = [
        {
            "question_id": f"q{i}",
            "actual_answer": f"It is number {i}.",
            "actual_steps": [{"name": "search", "status": "success"}, {"name": "read", "status": "error"}],
        }
        for i in range(12)
    ]
    reading = table(tmp_path, rows)
    assert not reading.shape and (reading.n_items, reading.n_runs) == (12, 1)


def test_a_document_of_rows_and_one_of_lists_are_tables(tmp_path):
    queries = [{"query_id": f"q{i}", "question": f"What is {i}?", "num_found": i % 4, "num_searches": i % 3} for i in range(30)]
    (tmp_path / "trial.json").write_text(json.dumps({"metadata": {"mode": "search"}, "queries": queries}))
    reading = read_table(tmp_path / "trial.json")
    assert reading.n_items == 30 and not reading.questions  # counts are no labels
    columns = {"mean": 0.5, "recall_scores": [i % 2 for i in range(30)], "query_times": [i / 7 for i in range(30)]}
    (tmp_path / "metrics.json").write_text(json.dumps(columns))
    reading = read_table(tmp_path / "metrics.json")
    assert reading.n_rows == 30 and reading.scores == {("", "recall_scores"): 0.5}


def test_true_beside_a_prediction_of_the_same_classes_is_right(tmp_path):
    document = {"predicted": [i % 4 for i in range(40)], "true": [i % 4 if i % 5 else (i + 1) % 4 for i in range(40)]}
    (tmp_path / "mc.json").write_text(json.dumps(document))
    reading = read_table(tmp_path / "mc.json")
    assert (reading.roles.output, reading.roles.target) == ("predicted", "true") and reading.scores["", MATCH] == 0.8


def test_the_same_options_in_another_order_are_versions_of_one_id(tmp_path):
    rows = [
        {"id": i, "prompt": f"Which is {i}?\nA. {a}\nB. {b}", "shown": [a, b], "gold": "oak", "text": "The answer is A."}
        for i in range(12)
        for a, b in (("oak", "tin"), ("tin", "oak"))
    ]
    reading = table(tmp_path, rows)
    assert (reading.n_items, reading.grid.items, reading.grid.variants) == (12, ("id",), ("shown",))


def test_votes_of_several_models_beside_a_numbered_key_are_no_models(tmp_path):
    rows = []
    for i in range(24):
        row = {"question": f"Which is {i}?", "choices": ["oak", "tin", "ash"], "groundtruth_answer": i % 3}
        row |= {"a_small-1": "ABC"[i % 3], "a_large-2": "ABC"[(i + i % 2) % 3]}
        for k in (3, 5, 7):
            row |= {f"majority_llm_pred_top_{k}": "ABC"[i % 3], f"gt_majority_agreement_top_{k}": bool(i % 2)}
            row |= {f"gt_ratio_agreement_top_{k}": bool(i % 3), f"entropy_top_{k}": i / 30}
        rows.append(row)
    reading = table(tmp_path, rows)
    assert not any(name.startswith("gt_") for name in reading.shape.models) and "a_small-1" in reading.shape.models


def test_right_and_wrong_under_names_of_systems_are_scores_of_theirs(tmp_path):
    """Three systems in columns of 0 and 1 gave the first one's score, and the others were "not used"."""
    rows = [{"gpt-4o": int(i % 5 > 0), "claude-3.5": int(i % 3 > 0), "llama-3": i % 2} for i in range(60)]
    questions = [{"question": f"What is part {i}?"} for i in range(60)]
    reading = table(tmp_path, [asked | row for asked, row in zip(questions, rows, strict=True)])
    assert reading.arms == ("gpt-4o", "claude-3.5", "llama-3") and not reading.questions
    assert [round(reading.scores[arm, "prediction"], 2) for arm in reading.arms] == [0.8, 0.67, 0.5]
    assert sentence(reading).endswith("× 1 run; scores: in these columns.")
    for number in range(1, 4):  # and under the numbers of runs, five runs of one system
        runs = [
            asked | {f"run_{k}": row["gpt-4o"] for k in range(1, number + 2)}
            for asked, row in zip(questions, rows, strict=True)
        ]
        reading = table(tmp_path, runs)
        assert (reading.n_items, reading.n_runs, reading.arms) == (60, number + 1, ()) and not reading.questions


@pytest.mark.parametrize("column", ["helper", "human", "score", "gpt-4o_judge"])
def test_a_further_column_of_right_and_wrong_may_grade(tmp_path, column):
    """A model's own 0 and 1 are its scores, unless another column may say that it was a judge."""
    rows = [{"question": f"What is part {i}?", "gpt-4o": int(i % 5 > 0), "claude-3.5": int(i % 3 > 0)} for i in range(60)]
    reading = table(tmp_path, [row | {column: i % 2} for i, row in enumerate(rows)])
    assert not reading.shape.is_plain


def test_an_old_and_a_new_output_are_two_systems(tmp_path):
    """The second of two outputs was left out without a word; a raw and a final one stay readings of one output."""
    rows = [
        {"question": f"What is {i} and 1?", "expected": str(i + 1)}
        | {"baseline_output": f"The answer is {i + 1}.", "new_output": f"The answer is {i + i % 2}."}
        for i in range(40)
    ]
    assert table(tmp_path, rows).shape.models == ("baseline_output", "new_output")
    rows = [
        {"raw_output" if k == "baseline_output" else "final_output" if k == "new_output" else k: v for k, v in row.items()}
        for row in rows
    ]
    assert not table(tmp_path, rows).shape


def test_a_leaderboard_is_a_ranking_of_means(tmp_path):
    """It asked for a column of prompts."""
    cells = [f"model-{i},{50 + i / 3:.2f},{60 + i / 7:.2f}" for i in range(8)]
    (tmp_path / "t.csv").write_text("\n".join(["Model,Average,MMLU", *cells]), encoding="utf-8")
    assert "Each row holds one value of Model: a ranking of means" in read_table(tmp_path / "t.csv").refusal


def test_lists_of_objects_as_the_key_lists_them_are_one_answer(tmp_path):
    """A CSV of extracted objects ended in an IndexError: each list was taken for samples."""
    found = [json.dumps([{"state": f"S{i}", "kind": "DR"}, {"state": f"T{i}", "kind": "EM"}]) for i in range(12)]
    lines = ["test,provider_id,prompt,result,expected,passed"]
    for model in ("small", "large"):
        for i, cell in enumerate(found):
            quoted = '"' + cell.replace('"', '""') + '"'
            lines.append(f"t{i},{model},Extract page {i},{quoted},{quoted},{i % 3 > 0}")
    (tmp_path / "found.csv").write_text("\n".join(lines), encoding="utf-8")
    reading = read_table(tmp_path / "found.csv")
    assert not reading.shape.lists and (reading.n_items, reading.n_conditions) == (12, 2)
    assert reading.roles.scores == ("passed",) and round(reading.scores["small", "passed"], 3) == 0.667


def test_a_result_that_holds_what_the_key_holds_is_the_output(tmp_path):
    """The model's own True and False were its score: 21% for 87%."""
    rows = [
        {"provider_id": "m", "test": f"test-{i}", "prompt": "Is this about brakes?", "result": str(i % 4 == 0)}
        | {"passed": str((i % 4 == 0) == (i % 5 == 0)), "expected": str(i % 5 == 0).lower()}
        for i in range(60)
    ]
    reading = table(tmp_path, rows)
    assert (reading.roles.output, reading.roles.target, reading.roles.scores) == ("result", "expected", ("passed",))
    # the texts that differ stand in no column: 60 questions, or 2
    assert [question.about for question in reading.questions] == ["item"]
    assert reading.questions[0].second.words == ("item=test",)


def test_settings_in_columns_of_one_named_model_are_arms_and_no_runs(tmp_path):
    """The column of the model hid the three settings: "3 runs"."""
    rows = [
        {"id": i, "model": "m-7b", "question": f"What were the sales of firm {i}?", "ground_truth": 1000 + i}
        | {f"answer_{arm}": 1000 + i + (i % k == 0) for k, arm in ((2, "rag"), (3, "knowledge"), (4, "adversarial"))}
        for i in range(36)
    ]
    reading = table(tmp_path, rows)
    assert (reading.n_items, reading.n_conditions, reading.n_runs) == (36, 3, 1)
    assert round(reading.scores["answer_rag", MATCH], 3) == 0.5


def test_a_system_with_columns_that_the_others_lack_is_one_of_them(tmp_path):
    """The third system had two columns more and was left out, and so was every f1."""
    rows = []
    for i in range(30):
        row = {"question": f"Who wrote book {i}?", "gold_answer": f"writer {i}"}
        for k, system in enumerate(("baseline", "refined", "guarded"), start=2):
            row |= {
                f"{system}_answer": f"writer {i + (i % k == 0)}",
                f"{system}_f1": float(i % k > 0),
                f"{system}_latency": i + k,
            }
        rows.append(row | {"guarded_debate_triggered": i % 3, "guarded_gate_signals": f"s{i}"})
    reading = table(tmp_path, rows)
    assert reading.arms == ("baseline", "refined", "guarded") and reading.roles.scores == ("f1",)
    assert round(reading.scores["guarded", "f1"], 3) == round(sum(i % 4 > 0 for i in range(30)) / 30, 3)


def test_yes_and_no_by_their_letters_are_grades(tmp_path):
    rows = [{"question": f"What is {i}?", "model answer": f"text {i}", "correct?": "YN"[i % 3 == 0]} for i in range(30)]
    reading = table(tmp_path, rows)
    assert reading.roles.scores == ("correct?",) and round(reading.scores["", "correct?"], 3) == 0.667


def test_y_true_is_right_and_y_pred_is_the_output(tmp_path):
    """Classes 0 and 1 under scikit-learn's names were offered as two scores."""
    rows = [{"id": i, "text": f"Film {i} is fine.", "y_true": i % 2, "y_pred": (i + (i % 5 == 0)) % 2} for i in range(40)]
    reading = table(tmp_path, rows)
    assert (reading.roles.target, reading.roles.output) == ("y_true", "y_pred")
    assert round(reading.scores["", MATCH], 2) == 0.8 and not reading.questions


def test_an_output_of_yes_and_no_is_compared_where_every_right_answer_is_yes(tmp_path):
    """It was offered as a score, and never as the output."""
    rows = [{"id": i, "question": f"Is {i} safe?", "gold": "no", "pred": "no" if i % 4 else "yes"} for i in range(40)]
    reading = table(tmp_path, rows)
    assert (reading.roles.output, reading.roles.target, reading.roles.scores) == ("pred", "gold", ())
    assert reading.scores["", MATCH] == 0.75 and not reading.questions


def test_the_name_inside_of_a_model_is_a_model(tmp_path):
    """It was asked about."""
    rows = [
        {"id": i, "model": {"name": model, "temperature": 0.2}, "score": (i + k) % 2}
        for i in range(20)
        for k, model in enumerate(("small", "large"))
    ]
    reading = table(tmp_path, rows)
    assert reading.arms == ("small", "large") and not reading.questions


def test_scores_before_and_after_are_asked_about(tmp_path):
    """They were two graders of one system."""
    rows = [
        {"id": i, "output": f"Text number {i}, written once.", "score_before": i % 3 / 2, "score_after": i % 2}
        for i in range(24)
    ]
    (question,) = table(tmp_path, rows).questions
    assert question.about == "systems"
    assert question.first.words == ("model_columns=before,after",)
    assert question.second.words == ("score=score_before,score_after",)
    for choice, arms in zip(question.choices, (("before", "after"), ()), strict=True):
        answered = read_table(tmp_path / "table.jsonl", dict(word.split("=", 1) for word in choice.words))
        assert answered.arms == arms and not answered.questions


@pytest.mark.parametrize(
    "column, n_groups, said",
    [
        ("passage", 12, "clusters: passage (12)."),
        ("passage", 9, "clusters: passage (9, too few for an error bar: each question counts alone"),
        ("subject", 12, "categories: subject (12)."),
    ],
)
def test_the_sentence_says_whether_groups_are_counted(tmp_path, column, n_groups, said):
    rows = [
        {"id": f"q{i}", column: f"g{i % n_groups}", "model": model, "output": "AB"[i % 2], "gold": "AB"[i % 3 == 0]}
        for i in range(48)
        for model in ("one", "two")
    ]
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert said in sentence(read_table(path))


def test_a_column_in_all_languages_is_no_column_of_one_of_them(tmp_path):
    """`problem_en` became the id of the system `en`, and no two systems had a question in common."""
    rows = [
        {"problem": i, "problem_en": f"What is {i} and 1?", "gold": i + 7} | {"en": 1, "de": i % 2, "zh": int(i % 3 > 0)}
        for i in range(12)
    ]
    reading = table(tmp_path, rows)
    assert (reading.n_items, reading.arms, reading.questions) == (12, ("en", "de", "zh"), ())
    assert sentence(reading).startswith("Read as 12 questions (problem) × 3 arms (en, de, zh)")
    split = list(split_row(Row(1, rows[0]), ("en", "de", "zh"), ()))
    assert [row.values["problem"] for row in split] == [0, 0, 0]


def test_an_old_and_a_new_score_are_two_systems(tmp_path):
    rows = [
        {"Task": f"Find clause {i}", "Score old (2024)": i / 20, "Score new (2025)": i / 25, "Notes": ""} for i in range(15)
    ]
    reading = table(tmp_path, rows)
    assert reading.arms == ("Score old (2024)", "Score new (2025)") and not reading.questions
    # beside an output they may grade it before and after an edit
    reading = table(tmp_path, [row | {"response": f"It is clause {i} of the lease."} for i, row in enumerate(rows)])
    assert not reading.shape.is_plain


def test_a_row_per_metric_holds_several_scores_of_one_output(tmp_path):
    """An export of Langfuse had a question per score, and the mean of two metrics."""
    rows = [
        {"id": f"s{i}{metric}", "traceId": f"t{i}", "name": metric, "value": value / 10, "dataType": "NUMERIC"}
        for i in range(12)
        for metric, value in (("correctness", i % 7), ("conciseness", i % 4))
    ]
    reading = table(tmp_path, rows)
    assert (reading.n_items, reading.grid.scorer, reading.questions) == (12, "name", ())
    assert "scores: value, one per name" in sentence(reading)
    # of errors less is better: nothing is said of such a table before it is asked
    reading = table(tmp_path, [row | {"name": row["name"].replace("conciseness", "error_rate")} for row in rows])
    assert not reading.grid.scorer


def test_lists_of_labels_like_those_of_the_right_answer_are_no_runs(tmp_path):
    """The labels of one output were runs of it, and a text without any was left out."""
    labels = [["bug"], ["bug", "mobile"], ["billing"], ["praise", "mobile"]]
    rows = [{"text": f"Ticket {i} says this.", "labels": labels[i % 4], "predicted_labels": labels[i % 3]} for i in range(16)]
    reading = table(tmp_path, rows)
    assert not reading.shape and reading.n_items == 16


@pytest.mark.parametrize("rater", ["rater_", "Annotator ", "evaluator"])
def test_numbered_raters_in_columns_rate_one_output_together(tmp_path, rater):
    """The first rater led, and the others were further scores."""
    rows = []
    for i in range(24):
        cells = {"item": f"q{i % 12}", "system": "ab"[i // 12], "question": f"What is part {i % 12} of the machine?"}
        rows.append(cells | {f"{rater}{k}": 1 + (i + k) % 5 for k in (1, 2, 3)} | {"comment": ""})
    reading = table(tmp_path, rows)
    assert (reading.n_items, reading.n_conditions, reading.n_runs) == (12, 2, 3) and reading.grid.is_rated
    assert f"× 3 raters ({rater}1, {rater}2, {rater}3); scores: in these columns" in sentence(reading)
    # beside a judge they are people's labels
    reading = table(tmp_path, [row | {"llm_judge": 1 + i % 5} for i, row in enumerate(rows)])
    assert not reading.shape


def test_a_model_with_a_dot_in_its_key_has_rows_too(tmp_path):
    """gpt-3.5-turbo was named in the reading and left out of the study without a word."""
    row = {"id": 1, "question": "Which?", "answer": "B", "responses": {"gpt-3.5-turbo": "B", "gpt-4o": "A"}}
    models = ("responses.gpt-3.5-turbo", "responses.gpt-4o")
    split = list(split_row(Row(1, row), models, ()))
    assert [(row.values["model"], row.values["response"]) for row in split] == [(models[0], "B"), (models[1], "A")]
    assert value_at({"a": {"b.c": {"d": 1}}}, "a.b.c.d") == 1 and value_at({"a": {"b.c": 2}}, "a.b.d") is None


def test_the_mean_of_a_scale_in_a_question_is_no_share(tmp_path):
    """A mean of 0.32 on a scale from -3 to 3 was offered as 32.0%."""
    rows = [
        {"item": i, "client_statement": f"I said this {i} times.", "expert_mean": (i % 13 - 6) / 2 + 0.845} for i in range(20)
    ]
    (question,) = table(tmp_path, rows).questions
    assert "%" not in question.first.text and "expert_mean is the score. Score: 0.32." in question.first.text


def test_r_writes_na_for_a_missing_number(tmp_path):
    """One NA among 0 and 1 hid the score; "NA" among texts is an answer."""
    rows = [{"item": f"w{i % 12}", "agent": "ab"[i // 12], "correct": "NA" if i == 5 else i % 2} for i in range(24)]
    reading = table(tmp_path, rows)
    assert reading.missing == {"correct": 1} and reading.scores["b", "correct"] == 0.5
    rows = [{"id": i, "question": f"Is {i} even?", "expected": "NA" if i % 2 else "yes", "response": "NA"} for i in range(20)]
    assert table(tmp_path, rows).scores["", MATCH] == 0.5


@pytest.mark.parametrize(
    ("part", "whole"), [("tests_passed", "tests_total"), ("n_checks_passed", "n_checks"), ("correct fields", "total fields")]
)
def test_a_share_of_two_columns_is_the_score(tmp_path, part, whole):
    """It was said that nothing is read until a column holds it."""
    rows = [{"id": i % 12, "model": "ab"[i // 12], part: i % 4, whole: 4 + i % 3} for i in range(24)]
    reading = table(tmp_path, rows)
    assert reading.roles.graders == (f"{part}/{whole}",) and not reading.questions
    assert reading.scores["a", f"{part}/{whole}"] == pytest.approx(sum(i % 4 / (4 + i % 3) for i in range(12)) / 12)
    assert value_at(rows[5], f"{part}/{whole}") == "1/6"
    # right and wrong lead, and a part above its whole is no part
    assert table(tmp_path, [row | {"passed": row[part] > 1} for row in rows]).roles.graders[0] == "passed"
    reading = table(tmp_path, [row | {whole: 2} for row in rows])
    assert f"{part}/{whole}" not in reading.columns


def test_a_row_of_sums_at_the_end_is_left_out_and_said(tmp_path):
    """The total was a 21st question, and its row had no mark."""
    lines = [
        "No.,Question,Bot v1,Bot v2,Comment",
        *(f"{i},What is {i}?,{'✓✗'[i % 2]},{'✓✗'[i % 3 > 0]}," for i in range(1, 21)),
    ]
    path = tmp_path / "ticks.csv"
    path.write_text("\n".join([*lines, ",Total correct,10/20,6/20,", ""]), encoding="utf-8")
    reading = read_table(path)
    assert (reading.n_items, reading.arms) == (20, ("Bot v1", "Bot v2")) and not reading.questions
    assert "left out: the row called Total correct, which sums up the others" in sentence(reading)
    # a question may be called so
    path.write_text("\n".join([*lines, "21,Total cost?,✓,✗,", ""]), encoding="utf-8")
    assert read_table(path).n_items == 21


def test_systems_with_scores_alone_under_unknown_names_are_asked_about(tmp_path):
    """Three retrievers were extractors that "read the same outputs"."""
    rows = [
        {"qid": i, "query": f"Where is part {i}?"}
        | {f"{name}_{score}": (i + k) % 3 / 2 for k, name in enumerate(("bm25", "e5")) for score in ("hit@5", "rr")}
        for i in range(18)
    ]
    (question,) = table(tmp_path, rows).questions
    assert question.first.words == ("model_columns=bm25,e5",)


def test_a_corrected_label_beside_the_label_is_asked_about(tmp_path):
    labels = ["card", "loan", "fee"]
    rows = [
        {"id": i, "complaint": f"I was charged {i} times.", "label": labels[i % 3], "label_new": labels[(i + (i > 14)) % 3]}
        | {"prediction": labels[i % 3]}
        for i in range(24)
    ]
    (question,) = table(tmp_path, rows).questions
    assert question.about == "target" and question.second.words == ("target=label_new",)


def test_codes_of_a_verdict_without_a_legend_are_asked_about(tmp_path):
    """Codes 0, 1 and 2 were grades on a scale from 0 to 2."""
    rows = [{"case": f"c{i % 14}", "bot": "ab"[i // 14], "verdict": i % 3} for i in range(28)]
    (question,) = table(tmp_path, rows).questions
    assert "verdict holds 0, 1, 2, and nothing says what they mean" in question.seen


def test_guards_are_compared_with_what_is_an_attack(tmp_path):
    rows = [{"prompt": f"Do {i}.", "is_attack": i % 2, "flagged_v1": int(i % 4 > 0), "flagged_v2": i % 2} for i in range(24)]
    reading = table(tmp_path, rows)
    assert reading.scores == {("flagged_v1", MATCH): 0.75, ("flagged_v2", MATCH): 1.0} and not reading.questions
    reading = table(tmp_path, [{key: value for key, value in row.items() if key != "flagged_v2"} for row in rows])
    assert reading.scores == {("", MATCH): 0.75} and not reading.questions


def test_a_plain_layout_hears_what_else_is_said_of_it(tmp_path):
    """With a row per metric, `--map missing=-1` was answered and not heard: -1 stayed in the mean."""
    rows = [
        {"question_id": i, "metric": metric, "value": -1 if i % 6 == 0 else (i % 3) / 2}
        for i in range(24)
        for metric in ("correctness", "fluency")
    ]
    path = tmp_path / "long.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (question,) = read_table(path).questions
    answered = read_table(path, {"missing": "-1"})
    assert question.about == "negative" and answered.roles.sentinel == (("value", -1.0),) and not answered.questions
    assert answered.scores["", "value"] == pytest.approx(question.first.score)


def test_the_words_of_an_answer_can_be_pasted_into_a_shell(tmp_path):
    """A column called "Dataset Name" was printed as two words, which `--map` refused."""
    rows = [
        {"Dataset Name": f"set {i}", "Cross Validation": fold, "Accuracy": 0.5 + (3 * i + fold) % 7 / 20}
        for i in range(20)
        for fold in range(1, 11)
    ]
    (question,) = table(tmp_path, rows).questions
    line = question.first.text
    assert shlex.split(line[line.index("--map") :]) == ["--map", *question.first.words]
    assert "item=Dataset Name" in question.first.words
    assert not read_table(tmp_path / "table.jsonl", dict(word.split("=") for word in question.first.words)).questions


def test_an_id_per_row_beside_a_prompt_id_is_asked_about_with_the_number_of_prompts(tmp_path):
    """Seven prompts without texts were asked about as "1 questions, each answered 140 times"."""
    rows = [
        {"prompt_id": f"prompt {i}", "run_id": f"{i}-{heat}-{run}", "temperature": heat, "passed": (i + run) % 3 > 0}
        for i in range(7)
        for heat in (0.0, 0.2)
        for run in range(10)
    ]
    (question,) = [question for question in table(tmp_path, rows).questions if question.about == "item"]
    assert question.seen == "140 rows have a value of run_id each, and only 7 different questions stand in prompt_id."
    assert question.first.says == "7 questions, each answered 20 times."
