"""Faults planted in a good log (75 items × 2 epochs): each is named, and its clean twin gives no such finding."""

import json
import random
from dataclasses import replace

import pandas as pd
import pytest

from flipcore.claims.audit_input import AuditInput
from flipcore.claims.audit_prompts import _contains, _leaks_answer, _wording, prompt_findings
from flipcore.core.records import WRITTEN_ANSWER
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


def log_of(questions, prompts=None, options=(), targets="", item_ids=None, **columns):
    """A log with one item per question. A single text, or a tuple of options, is that of every item."""
    n = len(questions)
    items = pd.DataFrame({"item_id": item_ids or [f"t/{i}" for i in range(n)], "question": questions})
    items["options"] = options if isinstance(options, list) else [list(options)] * n
    items["target"] = targets
    asked = items[["item_id"]].assign(prompt=questions if prompts is None else prompts, **columns)
    frame = pd.DataFrame(columns=["item_id", "model", "extractor", "axis", "answer", "is_base"]).astype({"is_base": bool})
    return AuditInput(frame, items, pd.DataFrame(), prompts=asked)


def found_in(log, about):
    return [finding for finding in prompt_findings(log) if finding.about == about]


QUESTIONS = [f"Which wood of region {chr(97 + i // 26)}{chr(97 + i % 26)} is densest?" for i in range(200)]


def in_wordings(*sizes):
    """Questions, and their prompts in so many wordings of these sizes."""
    words = [f"{'really ' * k}now" for k, size in enumerate(sizes) for _ in range(size)]
    questions = QUESTIONS[: len(words)]
    return questions, [f"{question} Answer {word}." for question, word in zip(questions, words, strict=True)]


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((20,), ""),
        ((17, 3), "2 wordings, of 17 and 3 items."),
        ((19, 1), "2 wordings, of 19 and 1 items."),
        ((18, 1), ""),  # too few prompts
        ((39, 1), ""),  # one prompt in forty is no second wording
        ((38, 2), "2 wordings, of 38 and 2 items."),
        ((10, 6, 4, 3), "4 wordings, of 10 and 6 and 4 and 3 items."),
        ((10, 5, 4, 3, 2), ""),  # many wordings come from examples drawn per item
        ((38, 1, 1), ""),
        ((9, 8, 1), ""),
    ],
)
def test_a_second_wording_is_named_from_a_twentieth_of_twenty_items_on(sizes, words):
    found = found_in(log_of(*in_wordings(*sizes)), "wordings")
    assert [finding.claim.text for finding in found] == [f"The wording around the question changes: {words}"] * bool(words)
    # the rarest wording's items are the ones to look at
    assert all(finding.items == tuple(f"t/{i}" for i in range(sum(sizes[:-1]), sum(sizes))) for finding in found)
    assert all(finding.rank == 72 for finding in found)


@pytest.mark.parametrize(("n_second", "n_found"), [(20, 0), (19, 0)])
def test_tasks_and_items_without_options_have_wordings_of_their_own(n_second, n_found):
    n = 20 + n_second
    questions = QUESTIONS[:n]
    prompts = [f"{question} Answer {'now' if i < 20 else 'soon'}." for i, question in enumerate(questions)]
    ids = [f"{'one' if i < 20 else 'two'}/{i}" for i in range(n)]
    assert len(found_in(log_of(questions, prompts, item_ids=ids), "wordings")) == n_found
    options = [["oak tree"]] * 20 + [[]] * n_second
    assert len(found_in(log_of(questions, prompts, options=options), "wordings")) == n_found
    assert len(found_in(log_of(questions, prompts), "wordings")) == 1


def test_of_several_tasks_only_those_of_twenty_items_are_looked_at():
    def tasks_named(n_first):
        questions, prompts = in_wordings(n_first - 4, 4)
        others, other_prompts = in_wordings(16, 8)
        ids = [f"{task}/{i}" for task, n in (("one", n_first), ("few", len(others))) for i in range(n)]
        found = found_in(log_of(questions + others, prompts + other_prompts, item_ids=ids), "wordings")
        return [finding.items[0].partition("/")[0] for finding in found]

    assert tasks_named(19) == ["few"]
    assert tasks_named(20) == ["one", "few"]  # in the order of the log


def test_of_one_task_items_with_few_others_that_have_no_options_are_looked_at():
    questions, prompts = in_wordings(12, 7)
    questions, prompts = [*questions, *QUESTIONS[100:120]], [*prompts, *QUESTIONS[100:120]]
    options = [["oak tree"]] * 19 + [[]] * 20
    assert [finding.items[0] for finding in found_in(log_of(questions, prompts, options=options), "wordings")] == ["t/12"]


@pytest.mark.parametrize(
    ("prompt", "question", "options", "wording"),
    [
        ("Pick: Why? A) oak B) ash", "Why?", ["oak", "ash"], "Pick: A) "),
        ("Pick: Why? A) oak B) ash C) elm", "Why?", ["oak", "ash", "elm"], "Pick: A) "),
        ("Is a b?  A) a B) no", "Is a b?", ["a", "no"], "A) a B) "),  # a single letter is in many words
        ("Is it ab? ab", "Is it ab?", ["ab"], ""),
        ("Item 12 of 300: Why?", "Why?", [], "Item # of #: "),
        ("Why? \n", "Why?", [" x "], ""),
    ],
)
def test_a_wording_lacks_what_an_item_brings(prompt, question, options, wording):
    assert _wording(prompt, question, options).strip() == wording.strip()


def shown_twice(n_twice, n=40, system=None, question="Which wood of region {} is densest?"):
    """The first prompts show their own question as an example; with `system`, the system message does."""
    questions = [question.format(chr(97 + i // 26) + chr(97 + i % 26)) for i in range(n)]
    examples = [f"{text} Oak.\n" * (i < n_twice) for i, text in enumerate(questions)]
    if system:
        return log_of(questions, system=examples)
    return log_of(questions, [f"{example}{text}" for example, text in zip(examples, questions, strict=True)])


@pytest.mark.parametrize("is_system", [True, False])
@pytest.mark.parametrize(
    ("n_twice", "sentence"),
    [
        (0, ""),
        (1, "1 item stands among the examples of its own prompt."),
        (2, "2 items stand among the examples of their own prompt."),
        (35, "35 items stand among the examples of their own prompt."),
        (36, ""),  # that is the layout
        (40, ""),
    ],
)
def test_items_among_their_own_examples_are_named_where_few_are(n_twice, sentence, is_system):
    found = found_in(shown_twice(n_twice, system=is_system), "own examples")
    assert [finding.claim.text for finding in found] == [sentence] * bool(sentence)
    assert [(finding.rank, finding.items) for finding in found] == [(84, tuple(f"t/{i}" for i in range(n_twice)))] * bool(
        sentence
    )


@pytest.mark.parametrize(("question", "n_found"), [("Why so, {}?", 0), ("Why so, {}??", 1), ("Why is so {}?", 1)])
def test_a_question_of_less_than_twelve_characters_may_be_repeated_by_chance(question, n_found):
    assert (len(question.format("ab")) >= 12) == n_found
    assert len(found_in(shown_twice(3, question=question), "own examples")) == n_found


@pytest.mark.parametrize(
    ("prompt", "options", "targets", "leaks"),
    [
        ("Why? A) x B) y (answer: B)", "xy", "1", True),
        ("Why? A) x B) y (answer: A)", "xy", "1", False),
        ("Why? A) x B) y (answer: a)", "xy", "0", False),  # a word, not a label
        ("Why? A) x B) y Answer is A. Answer is B", "xy", "1", True),  # the last label counts
        ("Why? A) x B) y Answer is A. Answer is B", "xy", "0", False),
        ("Why? Answer is A. Answer is A. Answer is B", "xy", "1", True),
        ("Why? Answer is B. Answer is A. Answer is A", "xy", "1", False),
        ("Why? A) x B) y Answer is A. Answer is B", "xy", "0\n1", True),
        ("Why? A) x B) y Answer is C", "xy", "2", False),  # there is no third option
        ("Why? A) x B) y Answer:", "xy", "1", False),
        ("Answer is B. Why? A) x B) y", "xy", "1", False),  # before the question
        ("Who? A) x B) y (answer: B)", "xy", "1", False),  # another question
        ("Why? A) x B) y (answer: B)", "xy", "oak", False),
        ("Why? The answer: dense oak.", "", "dense oak", True),
        ("Why? Hint, the dense oak", "", "dense oak", True),
        ("Why? Think of a dense oak.", "", "dense oak", False),  # nothing says that it is the answer
        ("Why? The answer: oak dense.", "", "dense oak", False),
        ("Why? The answer: ash.", "", "dense oak\nash", True),
        ("Why? The answer: as.", "", "as", False),  # two letters may be there by chance
        ("Why? The answer: o a.", "", "o a", False),
        ("Who? The answer: ash.", "", "ash", False),
    ],
)
def test_a_right_answer_behind_the_question_leaks(prompt, options, targets, leaks):
    assert _leaks_answer(prompt, "Why?", list(options), targets.split("\n")) is leaks


@pytest.mark.parametrize(("target", "leaks"), [("oak", False), ("elm", True), ("is", False), ("up", False)])
def test_an_answer_that_is_in_the_question_or_short_does_not_leak(target, leaks):
    prompt = f"Is oak dense? Key: {target}"
    assert _leaks_answer(prompt, "Is oak dense?", [], [target]) is leaks


@pytest.mark.parametrize(
    ("words", "part", "is_in"),
    [("a b c", "a b", True), ("a b c", "b c", True), ("a b c", "a c", False), ("a b c", "c", True), ("a b", "a b", True)]
    + [("a", "a b", False), ("", "a", False), ("b a b c", "b c", True), ("x y z", "w", False)],
)
def test_words_follow_each_other(words, part, is_in):
    assert _contains(words.split(), part.split()) is is_in


def test_leaking_items_are_counted_and_items_without_a_right_answer_are_not():
    targets: list[str | None] = ["dense oak", None, "dense oak", "elm", None, *["elm"] * 15]
    log = log_of(QUESTIONS[:20], [f"{question} Answer: dense oak" for question in QUESTIONS[:20]], targets=targets)
    (finding,) = found_in(log, "leaked answers")
    assert finding.claim.text == "The right answer of 2 items stands in the prompt behind the question."
    assert (finding.rank, finding.items) == (90, ("t/0", "t/2"))


def keys_of(places, n_options):
    options = [[f"option {k}" for k in range(n_options)]] * len(places)
    return found_in(log_of(QUESTIONS[: len(places)], options=options, targets=places), "keys at one place")


@pytest.mark.parametrize(
    ("n_at_place", "n", "n_options", "share"),
    [
        (20, 20, 4, "100%"),
        (19, 19, 4, ""),  # too few
        (25, 40, 4, "62%"),
        (24, 40, 4, ""),  # six in ten
        (40, 60, 3, ""),  # twice the share by chance
        (41, 60, 3, "68%"),
        (40, 40, 2, ""),
        (40, 40, 1, ""),  # no choice
    ],
)
def test_keys_at_one_place_are_named_above_six_in_ten_and_twice_the_share_by_chance(n_at_place, n, n_options, share):
    found = keys_of(["0"] * n_at_place + ["1"] * (n - n_at_place), n_options)
    sentence = f"{share} of {n} right answers stand at A: always answering A scores as much."
    assert [finding.claim.text for finding in found] == [sentence] * bool(share)
    assert [finding.rank for finding in found] == [78] * bool(share)


def test_only_keys_that_are_places_among_options_count():
    assert keys_of(["2"] * 20 + [None] * 20 + ["oak"] * 20, 4)[0].claim.text.startswith("100% of 20 right answers stand at C")
    two = [["oak", "ash"]] * 5 + [["oak", "ash", "elm", "fir"]] * 15 + [["oak"]] * 30
    log = log_of(QUESTIONS[:50], options=two, targets=["1"] * 20 + ["0"] * 30)
    assert found_in(log, "keys at one place")[0].claim.text.startswith("100% of 20 right answers stand at B")
    assert not found_in(log_of([]), "keys at one place")


def answers_log(answers, keys, n_options=4, extractor="choice", axis="identity", more=(), is_base=True):
    """One model's answers by item; `more` are further (model, extractor, answers)."""
    n = len(keys)
    options = [[f"option {k}" for k in range(n_options)]] * n
    log = log_of(QUESTIONS[:n], options=options, targets=keys)
    parts = []
    for model, name, given in [("m-2", extractor, answers), *more]:
        part = pd.DataFrame({"item_id": log.items["item_id"][: len(given)], "answer": given})
        parts.append(part.assign(model=model, extractor=name, axis=axis, is_base=is_base))
    return replace(log, frame=pd.concat(parts, ignore_index=True))


def always(*arguments, **keywords):
    return found_in(answers_log(*arguments, **keywords), "one answer always")


CYCLE = [str(i % 4) for i in range(40)]  # a quarter of the keys at each place


@pytest.mark.parametrize(
    ("answers", "keys", "n_found"),
    [
        (["1"] * 40, CYCLE, 1),
        (["1"] * 20, CYCLE[:20], 1),
        (["1"] * 19, CYCLE[:19], 0),
        (["1"] * 36 + ["0"] * 4, CYCLE, 1),  # nine in ten
        (["1"] * 35 + ["0"] * 5, CYCLE, 0),
        (["1"] * 40, ["1"] * 30 + ["0"] * 10, 1),  # a quarter more than the keys
        (["1"] * 40, ["1"] * 31 + ["0"] * 9, 0),
        (["1"] * 40, ["0"] * 40, 1),
        ([None] * 20 + ["1"] * 20, CYCLE, 1),
        (["oak"] * 20 + ["1"] * 20, CYCLE, 1),
    ],
)
def test_one_answer_always_is_named_where_the_keys_vary(answers, keys, n_found):
    found = always(answers, keys)
    assert [(finding.model, finding.extractor, finding.rank) for finding in found] == [("m-2", "choice", 76)] * n_found


def test_one_answer_always_names_model_scorer_share_and_place():
    (finding,) = always(["2"] * 37 + ["0"] * 3, CYCLE)
    assert finding.claim.text == "m-2, choice: 92% of 40 answers are C, whatever the question is."
    assert finding.items == tuple(f"t/{i}" for i in range(40))


@pytest.mark.parametrize("keywords", [{"axis": "labels"}, {"is_base": False}, {"n_options": 1}])
def test_other_prompts_and_items_without_a_choice_show_no_one_answer(keywords):
    assert not always(["0"] * 40, CYCLE, **keywords)


@pytest.mark.parametrize("n_options", [2, 3])
def test_two_options_are_a_choice(n_options):
    assert always(["0"] * 40, [str(i % 2) for i in range(40)], n_options=n_options)


def test_models_are_named_in_the_order_of_the_log_and_our_extractors_only_alone():
    others = [("m-1", "choice", ["1"] * 40), ("m-1", WRITTEN_ANSWER, ["1"] * 40)]
    assert [(finding.model, finding.extractor) for finding in always(["1"] * 40, CYCLE, more=others)] == [
        ("m-2", "choice"),
        ("m-1", "choice"),
    ]
    assert [finding.extractor for finding in always(["1"] * 40, CYCLE, extractor=WRITTEN_ANSWER)] == [WRITTEN_ANSWER]


def test_an_item_that_is_not_listed_shows_nothing():
    log = answers_log(["0"] * 40, CYCLE)
    assert not list(prompt_findings(replace(log, items=log.items[:0], prompts=log.prompts[:0])))
