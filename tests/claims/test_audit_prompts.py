"""Faults planted in a good log (75 items × 2 epochs): each is named, and its clean twin gives no such finding."""

import json
import random

import pandas as pd
import pytest

from flipcore.claims.audit_input import AuditInput
from flipcore.claims.audit_prompts import prompt_findings
from flipcore.reports.audit import audit
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from tests.datasets.recorded import harness_files as made

pytestmark = pytest.mark.usefixtures("allowed_folders")

N, LETTERS, TREES = 75, "ABCD", ("oak", "ash", "fir", "elm")
NEW = {
    *("rows doubled", "rows missing", "epochs missing", "items of no plan", "several models", "several temperatures", "times"),
    *("wordings", "own examples", "leaked answers", "keys at one place", "one answer always"),
}


def clean(seed=0):
    """Samples of a good run."""
    draw, samples = random.Random(seed), []
    keys = [draw.choice(LETTERS) for _ in range(N)]
    for i in range(N):
        question, options = (f"Which of the woods of region {i} is densest in winter?", [f"{w} {i}{w[0]}" for w in TREES])
        prompt = (
            "Answer with a letter.\n\n"
            + question
            + "\n"
            + "\n".join(f"{a}) {o}" for a, o in zip(LETTERS, options, strict=True))
        )
        for epoch in (1, 2):
            said = keys[i] if draw.random() < 0.7 else draw.choice([one for one in LETTERS if one != keys[i]])
            samples.append(sample(i, epoch, question, options, keys[i], prompt, said))
    return samples


def sample(i, epoch, question, options, key, prompt, said):
    return {
        "id": i,
        "epoch": epoch,
        "input": question,
        "choices": options,
        "target": key,
        "messages": [{"role": "user", "content": prompt}, {"role": "assistant", "content": f"ANSWER: {said}"}],
        "output": {
            "model": "m-dated",
            "choices": [{"message": {"role": "assistant", "content": f"ANSWER: {said}"}, "stop_reason": "stop"}],
        },
        "scores": {"choice": {"value": "C" if said == key else "I", "answer": said}},
        "started_at": "2026-01-01T10:00:00+00:00",
        "completed_at": "2026-01-01T10:00:30+00:00",
        "events": [{"event": "model", "config": {"temperature": 0.5}}],
    }


def reworded(samples, change):
    """With another prompt where `change` gives one."""
    for one in samples:
        one["messages"] = [{"role": "user", "content": change(one, one["messages"][0]["content"])}, one["messages"][1]]
    return samples


def again(samples, said):
    """With another answer."""
    return [
        sample(*(one[key] for key in ("id", "epoch", "input", "choices", "target")), one["messages"][0]["content"], said(one))
        for one in samples
    ]


def later(one):
    return one["id"] >= N // 2


PLANTED = {
    "rows doubled": lambda s: s + [dict(one) for one in s[:20]],
    "epochs missing": lambda s: [one for one in s if not (one["epoch"] == 2 and one["id"] % 10 == 0)],
    "rows missing": lambda s: [one for one in s if one["id"] not in range(17)],
    "items of no plan": lambda s: [
        *s,
        sample("other-7", 1, "Who wrote it?", ["x1", "y2"], "A", "Who wrote it?\nA) x1\nB) y2", "A"),
    ],
    "several models": lambda s: [
        one | {"output": one["output"] | {"model": "m-other" if later(one) else "m-dated"}} for one in s
    ],
    "several temperatures": lambda s: [
        one | {"events": [{"event": "model", "config": {"temperature": 1.0 if later(one) else 0.5}}]} for one in s
    ],
    "times": lambda s: [one | {"completed_at": "2025-12-31T00:00:00+00:00"} if later(one) else one for one in s],
    "wordings": lambda s: reworded(s, lambda one, text: "Think step by step. " + text if later(one) else text),
    "own examples": lambda s: reworded(
        s, lambda one, text: f"Example: {one['input']} B\n\n{text}" if one["id"] % 10 == 0 else text
    ),
    "leaked answers": lambda s: reworded(
        s, lambda one, text: f"{text}\n(answer: {one['target']})" if one["id"] % 5 == 0 else text
    ),
    "keys at one place": lambda s: again(
        [one | {"target": "C" if one["id"] % 10 else one["target"]} for one in s], lambda one: "BC"[one["id"] % 3 > 0]
    ),
    "one answer always": lambda s: again(s, lambda one: "A"),
}


def of_some(samples, change, share=10):
    """With what `change` gives of every so-manieth item."""
    return [one | change(one) if one["id"] % share == 0 else one for one in samples]


def written(one, text, value="I", reason="stop"):
    """The same sample with another text, from which the scorer took nothing."""
    return {
        "messages": [one["messages"][0], {"role": "assistant", "content": text}],
        "output": one["output"] | {"choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": reason}]},
        "scores": {"choice": {"value": value, "answer": ""}},
    }


def asked_again(samples, key_of):
    """Fifteen items that ask the question of another under an id of their own."""
    by_id = {(one["id"], one["epoch"]): one for one in samples}
    return [
        one
        if one["id"] >= 15
        else sample(
            one["id"],
            one["epoch"],
            *(by_id[one["id"] + 50, one["epoch"]][key] for key in ("input", "choices")),
            key_of(by_id[one["id"] + 50, one["epoch"]]["target"]),
            by_id[one["id"] + 50, one["epoch"]]["messages"][0]["content"],
            one["scores"]["choice"]["answer"],
        )
        for one in samples
    ]


LONG_HEARD = {  # fault -> (what names it, the log with the fault); heard before the twelve above were
    "a question repeated": ("repeated items", lambda s: asked_again(s, lambda key: key)),
    "a question repeated with another key": (
        "contradicting golds",
        lambda s: asked_again(s, lambda key: LETTERS[LETTERS.index(key) - 1]),
    ),
    "keys changed after scoring": (
        "score against answer",
        lambda s: of_some(s, lambda one: {"target": LETTERS[LETTERS.index(one["target"]) - 1]}),
    ),
    "scores that contradict their answers": (
        "score against answer",
        lambda s: of_some(
            s,
            lambda one: {
                "scores": {"choice": one["scores"]["choice"] | {"value": "CI"[one["scores"]["choice"]["value"] == "C"]}}
            },
        ),
    ),
    "answers cut off": ("were cut off", lambda s: of_some(s, lambda one: written(one, "Let me think", reason="max_tokens"))),
    "answers filtered": ("were cut off", lambda s: of_some(s, lambda one: written(one, "I", reason="content_filter"))),
    "refusals": ("unreadable", lambda s: of_some(s, lambda one: written(one, "I'm sorry, but I can't help with that."))),
    "empty answers": ("unreadable", lambda s: of_some(s, lambda one: written(one, ""))),
    "one epoch asked in another wording": (
        "prompts",
        lambda s: reworded(s, lambda one, text: "Be brief. " + text if one["epoch"] == 2 else text),
    ),
}


def abouts(tmp_path, samples, name="a", reported=None):
    head = made.inspect_header(0, 2 * N)
    head["eval"] |= {"dataset": {"name": "woods", "samples": N, "sample_ids": list(range(N))}, "config": {"epochs": 2}}
    metrics = {"accuracy": {"name": "accuracy", "value": reported}}
    head["results"] = {"scores": [] if reported is None else [{"name": "choice", "scorer": "choice", "metrics": metrics}]}
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(head | {"samples": samples}), encoding="utf-8")
    store = Store.open(":memory:")
    try:
        return {one.about: one for one in audit(store, store_logs(survey([path]), store)).findings}
    finally:
        store.close()


# Several faults in one log, so that it is imported once for them all. None of them is named where
# the others of its group stand without it, which the slow tests below ask one by one.
TOGETHER = (
    ("rows doubled", "several temperatures", "own examples"),
    ("epochs missing", "leaked answers", "times"),
    ("rows missing", "wordings", "items of no plan"),
    ("several models", "a question repeated with another key", "answers cut off"),
    ("scores that contradict their answers", "a question repeated"),
    ("keys changed after scoring", "one epoch asked in another wording"),
    ("keys at one place",),
    ("one answer always",),
    ("refusals",),
    ("answers filtered",),
    ("empty answers",),
)
FAULTS = {fault: (fault, planted) for fault, planted in PLANTED.items()} | LONG_HEARD


def with_faults(faults):
    """A good log with these faults, planted one after the other, and what names each."""
    samples = clean()
    for fault in faults:
        samples = FAULTS[fault][1](samples)
    return samples, {FAULTS[fault][0] for fault in faults}


@pytest.mark.slow
@pytest.mark.parametrize("faults", TOGETHER, ids=", ".join)
def test_faults_of_one_log_are_each_named(tmp_path, faults):
    samples, names = with_faults(faults)
    assert names <= set(abouts(tmp_path, samples))


def test_every_fault_is_in_a_group():
    assert sorted(fault for faults in TOGETHER for fault in faults) == sorted(FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize(("faults", "fault"), [(group, fault) for group in TOGETHER if len(group) > 1 for fault in group])
def test_no_fault_of_a_group_is_named_without_it(tmp_path, faults, fault):
    samples, _ = with_faults([other for other in faults if other != fault])
    assert FAULTS[fault][0] not in abouts(tmp_path, samples)


@pytest.mark.slow
@pytest.mark.parametrize("fault", PLANTED)
def test_each_planted_fault_is_named(tmp_path, fault):
    assert fault in abouts(tmp_path, PLANTED[fault](clean()))


@pytest.mark.slow
@pytest.mark.parametrize("fault", LONG_HEARD)
def test_what_was_always_heard_is_still_named(tmp_path, fault):
    about, planted = LONG_HEARD[fault]
    assert about in abouts(tmp_path, planted(clean()))


@pytest.mark.slow
def test_a_headline_that_the_rows_do_not_give_is_named_and_one_that_they_do_is_not(tmp_path):
    samples = clean()
    share = sum(one["scores"]["choice"]["value"] == "C" for one in samples) / len(samples)
    assert "reported score" in abouts(tmp_path, samples, reported=share + 0.05)
    assert "reported score" not in abouts(tmp_path, samples, reported=share)


@pytest.mark.slow
def test_a_model_that_is_right_where_all_keys_are_one_gives_no_answer_whatever_the_question(tmp_path):
    of_one_key = again([one | {"target": "A"} for one in clean()], lambda one: "A")
    found = abouts(tmp_path, of_one_key)
    assert "keys at one place" in found and "one answer always" not in found


def with_fewer_options(samples, ask):
    """The same question with four, three or two options."""
    for one in samples:
        one["choices"] = one["choices"][: 4 - one["id"] % 3]
        shown = [f"{letter}. {option}" for letter, option in zip(LETTERS, one["choices"], strict=False)]
        one["messages"][0]["content"] = "\n".join([ask(one), one["input"], *shown, "Answer:"])
    return samples


@pytest.mark.slow
@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda one: "Answer with a letter.", marks=pytest.mark.slow),
        lambda one: f"Answer with one of {', '.join(LETTERS[: len(one['choices'])])}.",
    ],
)
def test_another_number_of_options_is_no_other_wording(tmp_path, ask):
    assert "wordings" not in abouts(tmp_path, with_fewer_options(clean(), ask))
    assert "wordings" in abouts(tmp_path, with_fewer_options(clean(), lambda one: ask(one) + " Be brief." * later(one)), "b")


@pytest.mark.slow
@pytest.mark.parametrize("n_options", [4, 0])
def test_an_audit_of_one_item_is_made(tmp_path, n_options):
    one = [row | {"choices": row["choices"][:n_options]} for row in clean()[:1]]
    assert "rows missing" in abouts(tmp_path, one)


@pytest.mark.slow
@pytest.mark.parametrize("n_logs", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_a_clean_twin_has_none_of_them(tmp_path, n_logs):
    heard = NEW | {about for about, _ in LONG_HEARD.values()} | {"reported score"}
    for seed in range(n_logs):
        assert not heard & set(abouts(tmp_path, clean(seed), str(seed)))


@pytest.mark.slow
def test_epochs_that_were_averaged_beforehand_are_missing(tmp_path):
    samples = [one | {"scores": {"choice": {"value": 0.5, "answer": "A"}}} for one in clean() if one["epoch"] == 1]
    assert f"{N} of {N} items have fewer than the 2 epochs" in abouts(tmp_path, samples)["epochs missing"].claim.text


@pytest.mark.slow
@pytest.mark.parametrize("n_logs", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_prompts_and_keys_of_many_clean_logs_raise_nothing(n_logs):
    n_hits = 0
    for seed in range(n_logs):
        draw = random.Random(seed)
        keys = [draw.randrange(4) for _ in range(N)]
        answers = [k if draw.random() < 0.7 else draw.randrange(4) for k in keys]
        questions = [f"Which of the woods of region {i} {seed} is densest?" for i in range(N)]
        items = pd.DataFrame(
            {
                "item_id": [f"w/{i}" for i in range(N)],
                "question": questions,
                "options": [[f"oak {i}", f"ash {i}", f"fir {i}", f"elm {i}"] for i in range(N)],
                "target": [str(k) for k in keys],
                "category": [""] * N,
            }
        )
        frame = pd.DataFrame(
            {
                "item_id": items["item_id"],
                "model": "m",
                "extractor": "choice",
                "axis": "identity",
                "answer": [str(a) for a in answers],
            }
        ).assign(is_base=True)
        prompts = pd.DataFrame(
            {"item_id": items["item_id"], "prompt": [f"Passage {draw.random()}.\n{q}\nA) …" for q in questions]}
        )
        n_hits += len(list(prompt_findings(AuditInput(frame, items, pd.DataFrame(), prompts=prompts))))
    assert n_hits == 0


def test_an_option_that_is_a_part_of_another_makes_no_other_wording():
    options = [["oak", "oak tree"] if i % 2 else ["elm", "ash tree"] for i in range(40)]
    questions = [f"Which is densest in region {i}?" for i in range(40)]
    items = pd.DataFrame(
        {
            "item_id": [f"w/{i}" for i in range(40)],
            "question": questions,
            "options": options,
            "target": [str(i // 2 % 2) for i in range(40)],
            "category": "",
        }
    )
    asked = [f"{q}\nA) {a}\nB) {b}" for q, (a, b) in zip(questions, options, strict=True)]
    prompts = pd.DataFrame({"item_id": items["item_id"], "prompt": asked})
    frame = pd.DataFrame(
        {
            "item_id": items["item_id"],
            "model": "m",
            "extractor": "choice",
            "axis": "identity",
            "answer": items["target"],
            "is_base": True,
        }
    )
    found = prompt_findings(AuditInput(frame, items, pd.DataFrame(), prompts=prompts))
    assert "wordings" not in {finding.about for finding in found}
