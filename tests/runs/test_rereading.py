"""Stored outputs read again: new readouts beside the old ones, the difference said, no call made, nothing set aside shown."""

import asyncio
import re
from dataclasses import replace
from itertools import chain, combinations
from types import SimpleNamespace

import pytest

from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.records import BASE, Call, Completion, Item, Prompt, Request, Variant
from flipcore.reports.audit import audit
from flipcore.reports.rereading import changes, old_readout
from flipcore.runs import rereading, runner
from flipcore.runs.cost import NOTHING
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.runs.plan import plan
from flipcore.runs.rereading import CAN_REREAD, Answer, fitting, params_of, reread, version_of, versions_of
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.datasets.recorded import harness_files as written
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")

LAST_NUMBER = {"expression": r"(-?\d+)", "group": "1"}


def imported(store, folder):
    return store_logs(survey([written.lm_eval(folder).parent]), store)


@pytest.mark.slow
def test_a_pattern_reads_a_log_again_beside_what_was_read_before(tmp_path, store):
    study_id = imported(store, tmp_path / "run")
    before = studies.readouts(store, study_id, everything=True)
    n_calls = store.rows("SELECT count(*) FROM completions")
    name = reread(store, study_id, "pattern", {"expression": r"makes (\d)"})
    frame = studies.readouts(store, study_id, everything=True)
    assert name == "pattern v1" and store.rows("SELECT count(*) FROM completions") == n_calls
    kept = frame[frame["extractor"] != name].reset_index(drop=True)
    assert kept.equals(before)
    new = frame[frame["extractor"] == name].set_index("item_id")["answer"]
    old = frame[frame["extractor"] == "regex"].set_index("item_id")["answer"]
    assert len(new) == 6 and (new == old.str[:1]).all() and (new != old).any()
    (change,) = changes(store, study_id, "regex", name)
    assert set(change.items) == set(new.index[new != old]) and change.share.value == pytest.approx((new != old).mean())
    assert (
        "pattern v1 and regex read" in change.claim.text and "Score on the base prompts: 66.7% by regex" in change.claim.detail
    )
    assert change.claim.assertion is None


@pytest.mark.slow
def test_the_same_again_is_the_same_version_and_another_is_the_next(tmp_path, store):
    study_id = imported(store, tmp_path / "run")
    assert reread(store, study_id, "pattern", LAST_NUMBER) == reread(store, study_id, "pattern", LAST_NUMBER) == "pattern v1"
    assert reread(store, study_id, "pattern", {"expression": r"(\d)$"}) == "pattern v2"
    assert reread(store, study_id, "regex") == "regex v2"  # the first was read when it was imported
    assert list(versions_of(store, study_id)) == ["pattern v1", "pattern v2", "regex v2"]
    assert old_readout(store, study_id, "regex v2") == "regex" == old_readout(store, study_id, "pattern v1")
    (change,) = changes(store, study_id, "regex", "regex v2")
    assert change.share.value == 0 and change.items == () and change.claim.text.endswith("read all 6 texts alike.")


def test_an_equal_re_reading_keeps_its_name_and_another_is_the_next(store):
    """A parameter that repeats a default makes no other pattern; a judge is equal only word for word."""
    known = [("pattern", LAST_NUMBER), ("judge", {"judge": "m"}), ("pattern", {"expression": "(x)"})]
    for extractor, params in known:
        rereading._store_versions(store, "s", version_of(store, "s", extractor, params)[1])
    names = ["pattern v1", "judge v1", "pattern v2"]
    assert list(versions_of(store, "s")) == names and versions_of(store, "t") == {}
    assert [version_of(store, "s", *reading)[0] for reading in known] == names
    without_default = {"expression": LAST_NUMBER["expression"]}
    assert version_of(store, "s", "pattern", without_default)[0] == "pattern v1"
    assert version_of(store, "s", "pattern", {"expression": "(y)"})[0] == "pattern v3"
    assert version_of(store, "s", "judge", {"judge": "n"})[0] == "judge v2"


@pytest.mark.slow
def test_an_own_study_is_read_again_as_its_run_read_it(store):
    study = tiny_study()
    runner.run(study, store)
    name = reread(store, study.study_id, "regex")
    frame = studies.readouts(store, study.study_id, everything=True)
    columns = ["model", "item_id", "axis", "variant_id", "sample", "status", "answer", "is_correct", "reason"]
    new, old = (frame[frame["extractor"] == one][columns].reset_index(drop=True) for one in (name, "regex"))
    assert new.equals(old) and len(new) == 6 * (2 + 3) + 4 * 2


@pytest.mark.slow
def test_items_that_are_set_aside_are_in_no_difference(store):
    study = tiny_study(name="half aside", confirmatory_share=0.5)
    hidden = {one.item.item_id for one in plan(study, store).items if one.confirmatory}
    runner.run(study, store)
    name = reread(store, study.study_id, "pattern", {"expression": r"(zzz)"})
    (change,) = changes(store, study.study_id, "regex", name)
    assert hidden and not hidden & set(change.items) and change.share.n == 10 - len(hidden)


def test_what_cannot_read_stored_answers_is_a_sentence(tmp_path, store):
    study_id = imported(store, tmp_path / "run")
    assert "judge" not in CAN_REREAD and "first_token" not in CAN_REREAD and "regex" in CAN_REREAD
    with pytest.raises(BadInput, match="cannot read stored answers; choose one of regex, text_match, pattern"):
        reread(store, study_id, "first_token")
    with pytest.raises(BadInput, match="no written answer to a text item"):
        reread(store, study_id, "text_match")
    with pytest.raises(BadInput, match="is no regular expression"):
        reread(store, study_id, "pattern", {"expression": "("})
    with pytest.raises(BadInput, match="There is no study"):
        reread(store, "nowhere", "regex")
    assert versions_of(store, study_id) == {}


@pytest.mark.slow
def test_the_command_line_says_the_difference_and_the_audit_shows_it(tmp_path, monkeypatch, capsys):
    from flipcore.__main__ import main
    from flipcore.reports.audit import audit

    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "own.duckdb"))
    with_store = Store.open()
    study_id = imported(with_store, tmp_path / "run")
    with_store.close()
    assert main(["reread", study_id, "--set", r"expression=makes (\d)", "group=1"]) == 0
    said = capsys.readouterr().out
    assert "'pattern v1'" in said and "pattern v1 and regex read" in said
    assert main(["reread", study_id, "--set", "expression"]) == 1 and "write KEY=VALUE" in capsys.readouterr().err
    with_store = Store.open()
    first = audit(with_store, study_id).findings[0]
    with_store.close()
    assert (first.about, first.extractor, first.axis) == ("re-read", "pattern v1", "identity") and first.items


@pytest.mark.slow
def test_the_audit_counts_each_own_text_once_however_many_changes_share_it(store):
    study = tiny_study()
    runner.run(study, store)
    name = reread(store, study.study_id, "pattern", {"expression": r"(zzz)"})
    frame = studies.readouts(store, study.study_id, everything=True)
    base = frame[(frame["variant"] == "base") & (frame["extractor"] == name)]
    n_texts = len(base.drop_duplicates(["item_id", "sample"]))
    assert n_texts < len(base)  # the base of another change is the same text
    (lost,) = (one.claim for one in audit(store, study.study_id).findings if one.about == "unreadable")
    assert f"({n_texts:,} of {n_texts:,})" in lost.text
    n_read = int(re.search(r"reads ([\d,]+) of these", lost.detail)[1])
    assert 0 < n_read <= n_texts


def table(store, folder, header, rows):
    path = folder / "table.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return store_logs(survey([str(path)]), store)


@pytest.mark.slow
def test_a_pattern_is_compared_with_what_the_study_was_read_by_and_never_with_itself(tmp_path, store, monkeypatch):
    """Of a table without a readout of Flipscope's the first name was the pattern's own."""
    rows = [f"q{i},Say {i}?,I think it is word{i}.,word{i}" for i in range(20)]
    study_id = table(store, tmp_path, "id,question,output,target", rows)
    name = reread(store, study_id, "pattern", {"expression": r"(word\d+)"})
    second = reread(store, study_id, "pattern", {"expression": r"is (word\d+)"})
    # a default that is said, as the page says it, makes no other pattern
    assert reread(store, study_id, "pattern", {"expression": r"(word\d+)", "group": "1"}) == name
    first_read = {old_readout(store, study_id, one) for one in (name, second)}
    assert (name, second) == ("pattern v1", "pattern v2") and not first_read & {name, second}
    only = ((), (name, second))  # where the rest was never read
    monkeypatch.setattr("flipcore.reports.rereading.studies.axes_and_extractors", lambda *of_study: only)
    assert [old_readout(store, study_id, one) for one in (name, second)] == ["", name]


@pytest.mark.slow
def test_only_what_has_a_text_to_read_is_offered(tmp_path, store):
    study_id = table(store, tmp_path, "item_id,model,score", [f"q{i},m,{i % 2}" for i in range(20)])
    assert fitting(store, study_id) == []
    with pytest.raises(BadInput, match="holds no written answer"):
        reread(store, study_id, "pattern", {"expression": r"(\d+)"})
    study = tiny_study()
    runner.run(study, store)
    assert "regex" in fitting(store, study.study_id)


@pytest.mark.parametrize(("n_stored", "n_open"), [(0, 2), (1, 1), (2, 1), (3, 0)])
def test_a_judge_is_priced_for_what_is_open_behind_its_stored_replies(n_stored, n_open, monkeypatch):
    """Two calls are asked at once, and a third one once both have their replies."""
    first, second, third = (SimpleNamespace(call_id=name) for name in "abc")
    stored = {call.call_id for call in (first, second, third)[:n_stored]}

    def read(block, backend, replies):
        return [(None, [first, second] + [third] * ({"a", "b"} <= set(replies)))]

    def stored_replies(store, call_ids):
        return [{"call_id": name} for name in call_ids if name in stored]

    method = SimpleNamespace(kinds=(), read=read, most_calls=lambda judgements, open_calls: list(open_calls))
    monkeypatch.setattr(rereading, "open_backend", lambda judge, cards: None)
    monkeypatch.setattr(rereading, "_judging_method", lambda judge, prompt, extractor: method)
    monkeypatch.setattr(rereading, "_blocks", lambda store, study_id, kinds: [None, None])
    monkeypatch.setattr(rereading, "planning", SimpleNamespace(completions=stored_replies))
    monkeypatch.setattr(rereading, "rows", SimpleNamespace(completion_of=lambda row: row))
    n_calls = lambda calls, card: replace(NOTHING, n_calls=len(calls))  # noqa: E731
    monkeypatch.setattr(rereading, "projected", n_calls)
    assert rereading.priced(None, "study", "judge").n_calls == 2 * n_open  # of two blocks


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("Final: {text}" + "x" * (rereading.MAX_CHARS - 12), "has 20,001 characters; at most 20,000"),
        ("Final: none", "must hold {text}"),
        ("{text}", "must ask for one line"),
        ("Final: {text}" + "x" * (rereading.MAX_CHARS - 13), ""),
        (rereading.EXAMPLE, ""),
    ],
)
def test_a_judges_prompt_holds_the_text_and_asks_for_a_final_line(prompt, reason):
    if reason:
        with pytest.raises(BadInput, match=reason):
            rereading.checked_prompt(prompt)
    else:
        assert rereading.checked_prompt(prompt) == prompt


ITEM = Item("i", "d", "number", "What is 1 + 1?", target="2")


def answer_of(text="It is 2.", **fields):
    """A stored answer of model m to the item."""
    variant = Variant("i", "identity", BASE, Prompt((("stem", ITEM.question),)), "2")
    return Answer("m", ITEM, variant, variant_id="v", sample=0, completion=Completion("c", "ok", text=text, **fields))


def judged(answer, *reply, **fields):
    """The reading by a judge, and its number of calls, before or after its reply."""
    method = rereading._ByOwnPrompt("judge", rereading.EXAMPLE)
    backend = SimpleNamespace(name="judge", revision="r")
    ((_, reading, calls),) = method.read([answer], backend, {})
    if reply:
        replies = {calls[0].call_id: Completion(calls[0].call_id, text=reply[0], **{"status": "ok"} | fields)}
        ((_, reading, calls),) = method.read([answer], backend, replies)
    assert all(call.parent_id == "c" and call.sample == 0 for call in calls)
    return reading.status, reading.answer, len(calls)


def test_an_answer_is_judged_by_the_reply_to_its_own_call():
    assert judged(answer_of()) == ("absent", None, 1)
    assert judged(answer_of(), "Final: 2") == ("ok", "2", 1)
    assert judged(answer_of(), "Final: none") == ("unreadable", None, 1)
    assert judged(answer_of(), "Final: 2", finish_reason="length") == ("unreadable", None, 1)  # it may go on as 20
    assert judged(answer_of(), "", status="failed") == ("absent", None, 1)


@pytest.mark.parametrize(
    ("fields", "status"), [({"text": " "}, "unreadable"), ({"text": "It is", "finish_reason": "length"}, "cut")]
)
def test_an_answer_that_says_nothing_is_not_judged(fields, status):
    assert judged(answer_of(**fields)) == (status, None, 0)


MODELS_AND_ITEMS = [("m", "i"), ("m", "i"), ("m", "i"), ("m", "j"), ("n", "j"), ("n", "j")]


def test_a_block_never_splits_the_answers_of_a_model_to_an_item(monkeypatch):
    answers = [replace(answer_of(), model=model, item=replace(ITEM, item_id=item)) for model, item in MODELS_AND_ITEMS]
    monkeypatch.setattr(rereading, "stored_answers", lambda store, study_id, kinds: iter(answers))
    for size, lengths in ((1, [3, 1, 2]), (2, [3, 3]), (3, [3, 3]), (4, [4, 2]), (6, [6])):
        monkeypatch.setattr(rereading, "_BLOCK", size)
        blocks = list(rereading._blocks(None, "s", ()))
        assert [len(block) for block in blocks] == lengths and list(chain.from_iterable(blocks)) == answers
    answers.clear()
    assert list(rereading._blocks(None, "s", ())) == []


class Asked:
    """An asking that answers each call at once, or stops after so many."""

    def __init__(self, n_replies=100, ending="", n_failed=0):
        self.n_left, self._ending, self.why = n_replies, ending, "The server is down."
        self.backends = {"judge": SimpleNamespace(name="judge", revision="r")}
        self.progress = SimpleNamespace(n_failed=n_failed)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        pass

    @property
    def ending(self):
        return self._ending if self.n_left < 0 else ""

    def check_stopped(self):
        return bool(self.ending)

    async def replies(self, calls):
        self.n_left -= len(calls)
        return {call.call_id: Completion(call.call_id, "ok", text="Final: 2") for call in calls}


def judge_blocks(monkeypatch, asking, texts=("It is 2.", "It is 3.", " "), kinds=rereading.KINDS):
    """The result of a judge who reads these texts in blocks of one, what was stored, and the progress."""
    kept, told = [], []
    blocks = [[replace(answer_of(text), completion=Completion(f"c {n}", "ok", text=text))] for n, text in enumerate(texts)]
    monkeypatch.setattr(rereading, "_blocks", lambda store, study_id, kinds: iter(blocks))
    monkeypatch.setattr(rereading, "version_of", lambda *words: ("judge v1", {}))
    monkeypatch.setattr(rereading, "keep_version", lambda *words: kept.extend(words[-1]))
    method = rereading._ByOwnPrompt("judge", rereading.EXAMPLE)
    monkeypatch.setattr(method, "kinds", kinds, raising=False)
    result = asyncio.run(rereading._Judging(None, "s", method, asking).go(told.append))
    return result, kept, [(progress.n_done, progress.n_all) for progress in told]


@pytest.mark.parametrize(("n_failed", "rest"), [(0, ""), (1, " 1 call failed; the same again asks only those.")])
def test_a_judges_readouts_are_stored_once_all_answers_are_judged(monkeypatch, n_failed, rest):
    result, kept, told = judge_blocks(monkeypatch, Asked(n_failed=n_failed))
    assert (result.name, told) == ("judge v1", [(1, 3), (2, 3), (3, 3)])
    assert result.sentence == f"judge judged 3 answers; stored as the readout 'judge v1'.{rest}"
    assert [(readout.is_correct, len(readout.source_ids)) for readout in kept] == [(True, 2), (True, 2), (False, 1)]
    assert [readout.source_ids[0] for readout in kept] == ["c 0", "c 1", "c 2"]


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ("over_budget", " before its budget is used up. The same again asks only the missing ones."),
        ("cancelled", " before you stopped it. The same again asks only the missing ones."),
        ("failed", ". The server is down."),
    ],
)
def test_a_judge_who_stopped_early_leaves_no_readout(monkeypatch, ending, why):
    result, kept, told = judge_blocks(monkeypatch, Asked(n_replies=1, ending=ending))
    assert (result.name, result.sentence) == ("", f"The judge read 1 of 3 answers{why}") and kept == [] and told == [(1, 3)]


@pytest.mark.parametrize(
    ("kinds", "what"), [(rereading.KINDS, "answer,"), (("number", "text"), "answer to a number or text item,")]
)
def test_a_judge_without_an_answer_to_read_says_so(monkeypatch, kinds, what):
    with pytest.raises(BadInput, match=f"holds no written {what} so there is nothing to judge"):
        judge_blocks(monkeypatch, Asked(), texts=(), kinds=kinds)


def test_comparisons_are_priced_at_their_most_less_those_that_were_made():
    """Three texts to compare in pairs; of an item whose calls all have replies no more is asked."""
    method = object.__new__(rereading._ByComparison)
    method.judge = "judge"
    by_pairs = lambda item, requests: list(combinations([request.max_tokens for request in requests], 2))  # noqa: E731
    method.reader = SimpleNamespace(judge_requests=by_pairs)
    calls = [Call("judge", "r", Request("generate", text)) for text in "xyz"]
    texts = ("a" * 8, "b" * 41, "b" * 41, "c" * 4)
    open_item = [(answer_of(text), None, [call] if call else []) for text, call in zip(texts, [*calls, None], strict=True)]
    done = replace(answer_of(), item=replace(ITEM, item_id="done"))
    other = Call("judge", "r", Request("generate", "other"))
    for n_open, n_most in ((3, 3), (2, 2), (1, 1), (0, 0)):
        still_open = {call.call_id: call for call in calls[3 - n_open :]}
        most = method.most_calls([*open_item, (done, None, [other])], still_open)
        assert len(most) == n_most and all(call.model == "judge" for call in most)
        assert all(set(call.request) < {2, 10, 1} for call in most)  # in tokens of four characters


def test_a_judge_reads_by_a_prompt_or_as_an_extractor_that_compares():
    (name, *_) = rereading.COMPARING_EXTRACTORS
    assert rereading._judging_method("m", "", name).extractor == name
    assert rereading._judging_method("m", rereading.EXAMPLE, "judge").params == {"model": "m", "prompt": rereading.EXAMPLE}
    with pytest.raises(BadInput, match="No judge reads stored answers as 'regex'"):
        rereading._judging_method("m", rereading.EXAMPLE, "regex")


def test_the_name_of_a_re_reading_is_one_that_the_study_does_not_have(store, monkeypatch):
    def name(*names):
        monkeypatch.setattr(rereading.studies, "axes_and_extractors", lambda store, study_id: ((), names))
        return version_of(store, "s", "regex", {})[0]

    assert name() == "regex v1" and name("regex") == "regex v2" and name("text_match") == "regex v1"
    assert name("regex v1") == "regex v2" and name("regex", "regex v2", "regex v3") == "regex v4"


def test_readouts_are_stored_in_batches(store, monkeypatch):
    monkeypatch.setattr(rereading, "_BATCH", 2)
    batches, add = [], store.writer.add_together
    monkeypatch.setattr(store.writer, "add_together", lambda parts: batches.append(len(parts[0][1])) or add(parts))
    reading = rereading.unreadable("It says nothing.")
    readouts = [
        replace(answer_of(), variant_id=f"v{n}").readout("regex v1", reading, is_correct=None, sources=["c"]) for n in range(5)
    ]
    assert rereading._store_readouts(store, "s", readouts) == 5 and batches == [2, 2, 1]
    assert store.rows("SELECT count(*) FROM readouts") == store.rows("SELECT count(*) FROM readout_sources") == [(5,)]


@pytest.mark.parametrize(
    ("words", "params"),
    [([], {}), (["expression=a=b", "group=2"], {"expression": "a=b", "group": "2"}), (["expression="], {"expression": ""})],
)
def test_words_set_the_parameters_of_an_extractor(words, params):
    assert params_of("pattern", words) == params


def test_a_word_that_sets_nothing_is_refused():
    with pytest.raises(BadInput, match="'group' sets nothing; write KEY=VALUE"):
        params_of("pattern", ["group"])


@pytest.fixture
def judge_again(monkeypatch):
    """What a judge is told when it begins, and which items were kept from whom."""
    kept_from, budgets_set = [], []
    money = SimpleNamespace(
        set_budget=lambda store, study_id, usd: budgets_set.append(usd),
        budget_usd=lambda store, study: (budgets_set or [1.0])[-1],
        spent_usd=lambda store, study_id: 0.25,
    )

    def judging(store, study_id, method, asking):
        async def go(on_progress):
            on_progress(rereading.JudgeProgress(1, 2))
            return asking

        return SimpleNamespace(go=go)

    def price(store, study_id, judge, prompt, extractor):
        return replace(NOTHING, n_calls=1, cost_usd=0.5)

    for name, stand_in in {
        "require": lambda permission: None,
        "studies": SimpleNamespace(declared=lambda store, study_id: tiny_study()),
        "budgets": money,
        "planning": SimpleNamespace(members=lambda store, study_id: [{"item_id": "i"}]),
        "under_embargo": lambda store, ids: ids,
        "check_embargo": lambda ids, judge, may_send, how: kept_from.append((ids, judge, may_send)),
        "priced": price,
        "Asking": lambda *words, **named: (words, named),
        "_Judging": judging,
    }.items():
        monkeypatch.setattr(rereading, name, stand_in)

    def begin(judge, **how):
        return rereading.judge_again(None, "s", judge, **how), kept_from

    return begin


def test_a_judge_begins_with_what_is_left_of_the_budget_and_its_calls_are_the_studys(judge_again):
    told = []
    ((_, study_id, judges, _, cap, spent), how), kept_from = judge_again("judge", on_progress=told.append)
    assert (study_id, judges, cap, spent, how["links_calls"], how["cancel"]) == ("s", ["judge"], 1.0, 0.25, True, None)
    assert kept_from == [(["i"], "judge", False)] and told == [rereading.JudgeProgress(1, 2)]
    assert judge_again("judge", budget_usd=2.0)[0][0][4] == 2.0
    with pytest.raises(OverBudget, match=r"\$0.74"):
        judge_again("judge", budget_usd=0.74)


def test_a_model_of_the_study_has_seen_its_items_already(judge_again):
    (model,) = (use.name for use in tiny_study().models)
    assert judge_again(model)[1] == [] and judge_again("judge", may_send_retro=True)[1] == [(["i"], "judge", True)]


def test_a_re_reading_is_kept_with_its_readouts_under_its_name(store):
    reading = rereading.unreadable("It says nothing.")
    readout = answer_of().readout("judge v1", reading, is_correct=None, sources=["c"])
    rereading.keep_version(store, "s", "judge v1", "judge", {"model": "m"}, [readout])
    assert versions_of(store, "s")["judge v1"]["params"] == {"model": "m"}
    assert store.rows("SELECT model, item_id, extractor, status FROM readouts") == [("m", "i", "judge v1", "unreadable")]
