"""Outputs of real models (../shared/data), as if the product had made them. None of these files was written for our rules."""

import json
import math
import re
import zipfile

import pytest

from flipcore.core.records import OK, UNREADABLE, Completion, Item, Prompt, Variant
from flipcore.extractors.first_token import FirstTokenGated, read_first_token
from flipcore.extractors.written_answer import read_text
from flipcore.text.answers import canonical_number

pytestmark = pytest.mark.usefixtures("allowed_folders")


def asked(question, options, labels):
    item = Item.make(dataset="real", key="1", kind="choice", question=question, options=tuple(options))
    variant = Variant(
        item.item_id, "identity", "base", Prompt((("stem", question),)), None, tuple(range(len(options))), tuple(labels)
    )
    return item, variant


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def survey(path):
    """(item, variant, generated text, human label, recorded row) of each row's first order."""
    for row in rows(path):
        shot = row["shuffle_0"]
        letters = shot.get("id_scores") or shot["scores_letter"]  # "I. ..." may also be a statement inside the question
        pairs = [pair for pair in re.findall(r"(?m)^([A-Z])\. (.*?) *$", shot["question"]) if pair[0] in letters]
        question = re.search(r"Question: (.*?)\n", shot["question"]).group(1)
        text = re.split(r"\[/INST\]|\nmodel\n", shot["response"], maxsplit=1)[1]
        item, variant = asked(question, [text for _, text in pairs], [label for label, _ in pairs])
        yield item, variant, text, shot["label"].strip(), shot


def tally(paths):
    """Counts of (human named one | several | nothing, we read the same | another | nothing)."""
    counts = {}
    for path in paths:
        for item, variant, text, label, _ in survey(path):
            human = "several" if re.match(r"[A-Z]{2,}\b", label) else "one" if re.match(r"[A-Z]\.", label) else "nothing"
            found = read_text(item, variant, text)
            ours = "nothing" if found.answer is None else "same" if variant.labels[int(found.answer)] == label[0] else "another"
            counts[human, ours] = counts.get((human, ours), 0) + 1
    return counts


@pytest.mark.slow
@pytest.mark.stand_in("extractors/test_small_outputs.py::test_prose_is_read_as_a_person_would_or_not_at_all")
def test_surveys_answered_in_prose_are_read_like_a_human_or_not_at_all(shared_data):
    """llama2-13b and mixtral on OpinionQA, 822 human readings. "Refused" is a human's word for a refusal: a reader of words
    may abstain there, but it must hardly ever name another option."""
    counts = tally(sorted((shared_data / "mcq_mismatch").glob("*/*_labeled.json")))
    n_one = sum(n for (human, _), n in counts.items() if human == "one")
    assert n_one == 812
    assert counts.get(("one", "another"), 0) <= 0.01 * n_one
    assert counts["one", "same"] >= 0.75 * n_one


@pytest.mark.slow
@pytest.mark.stand_in("extractors/test_small_outputs.py::test_prose_is_read_as_a_person_would_or_not_at_all")
def test_answers_that_a_human_read_as_several_letters_are_abstained_from(shared_data):
    counts = tally(sorted((shared_data / "mcq_mismatch").glob("*/*_labeled.json")))
    assert {ours: n for (human, ours), n in counts.items() if human == "several"} == {"nothing": 7}


@pytest.mark.stand_in("extractors/test_small_outputs.py::test_prose_is_read_as_a_person_would_or_not_at_all")
def test_gemmas_answers_on_mmlu_are_read_as_the_human_read_them(shared_data):
    counts = tally(sorted((shared_data / "mcq_robustness" / "gemma-7b").glob("*/*.json")))
    n = sum(counts.values())
    assert n == 600
    assert counts["one", "same"] >= 0.98 * n and counts.get(("one", "another"), 0) <= 0.01 * n


@pytest.mark.stand_in("extractors/test_small_outputs.py::test_a_first_token_that_is_never_a_letter_is_gated_away")
def test_a_first_token_that_is_never_a_letter_is_gated_away(shared_data):
    """gemma-7b opens with "Answer", "The", "Sure" or "**". The recorded scores are logits of the letters and of the likeliest
    token, so exp(letter - likeliest) bounds each letter's probability from above: the gate must reject every row."""
    gated, n = FirstTokenGated(), 0
    for path in sorted((shared_data / "mcq_robustness" / "gemma-7b" / "shards").glob("*.json")):
        for item, variant, _, _, shot in survey(path):
            highest = shot["max_first_token_score"]
            top = {label: shot["id_scores"][label] - highest for label in variant.labels}
            top[shot["max_first_token"]] = 0.0
            norm = math.log(sum(math.exp(nats) for nats in top.values()))
            top = {token: nats - norm for token, nats in top.items()}
            assert shot["max_first_token"] not in variant.labels
            loose = read_first_token(variant, top)
            assert loose.label_mass < 0.5
            found = gated.read(item, variant, [Completion("c", "ok", top_logprobs=top)])
            assert (found.status, found.answer) == (UNREADABLE, None)
            n += 1
    assert n == 300


@pytest.mark.stand_in("extractors/test_small_outputs.py::test_solutions_are_graded_by_their_last_statement")
@pytest.mark.slow
def test_gsm8ks_four_models_are_graded_as_their_authors_graded_them(shared_data):
    n = 0
    for row in rows(shared_data / "gsm8k" / "example_model_solutions.jsonl"):
        target = canonical_number(row["ground_truth"].rsplit("A: ", 1)[1])
        item = Item.make(dataset="gsm8k", key="1", kind="number", question=row["question"], target=target)
        variant = Variant(item.item_id, "identity", "base", Prompt((("stem", row["question"]),)), target)
        for solution in (value for value in row.values() if isinstance(value, dict)):
            assert (read_text(item, variant, solution["solution"]).answer == target) == solution["is_correct"]
            n += 1
    assert n == 4 * 1319


@pytest.mark.stand_in("extractors/test_small_outputs.py::test_a_statement_is_read_and_an_unfinished_chain_is_not_guessed")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["Meta-Llama-3_1-8B-Instruct", "Mistral-7B-v0.1"])
def test_mmlu_pros_statements_are_read_and_unfinished_chains_are_not_guessed(shared_data, name):
    """The stored `pred` is a filled-in guess where the text states nothing; there we must almost always abstain."""
    with zipfile.ZipFile(shared_data / "mmlu_pro_outputs" / f"model_outputs_{name}_5shots.zip") as archive:
        every = json.loads(archive.read(archive.namelist()[0]))
    stated, unstated = [], []
    for row in every[::5]:
        item, variant = asked(row["question"], row["options"], "ABCDEFGHIJ"[: len(row["options"])])
        found = read_text(item, variant, row["generated_text"])
        answer = None if found.status != OK else variant.labels[int(found.answer)]
        statements = re.findall(r"answer is \(?([A-J])\)?", row["generated_text"])
        (stated.append(answer == statements[-1]) if statements else unstated.append(answer is None))
    assert sum(stated) >= 0.99 * len(stated) and len(stated) > 2000
    assert sum(unstated) >= 0.90 * len(unstated) and len(unstated) > 100
