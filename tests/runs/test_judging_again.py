"""A judge with a prompt of the user's own reads stored answers again: priced first, capped, resumed, old readouts kept."""

import dataclasses
import re
import threading

import pytest

from flipcore.__main__ import main
from flipcore.annotation import gates
from flipcore.core.errors import BadInput, OverBudget
from flipcore.models import model_cards
from flipcore.reports.rereading import changes
from flipcore.runs import rereading
from flipcore.runs.cluster import place
from flipcore.runs.rereading import EXAMPLE, filled, judge_again, priced, stored_answers, versions_of
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.runs.test_rereading import imported

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")

JUDGE = "tests.runs.test_judging_again:last_number"
seen: list[str] = []


def last_number(prompt):
    """A judge that names the last number between the marks; none for 2."""
    seen.append(prompt)
    number = re.findall(r"\d+", prompt.partition("<<<")[2].partition(">>>")[0])[-1]
    return f"Final: {'none' if number == '2' else number}"


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_CALLABLES", JUDGE)
    seen.clear()
    opened = Store.open(tmp_path / "flips.duckdb")
    yield opened
    opened.close()


@pytest.mark.slow
def test_a_judge_reads_the_stored_answers_beside_what_was_read_before(tmp_path, store):
    study_id = imported(store, tmp_path / "run")
    before = studies.readouts(store, study_id, everything=True)
    judged = judge_again(store, study_id, JUDGE, EXAMPLE + "\n{nothing} of the study's")
    frame = studies.readouts(store, study_id, everything=True)
    assert judged.name == "judge v1" and frame[frame["extractor"] != "judge v1"].reset_index(drop=True).equals(before)
    part = frame[frame["extractor"] == "judge v1"].set_index("item_id")
    assert part["status"].value_counts().to_dict() == {"ok": 5, "unreadable": 1} and part["is_correct"].sum() == 3
    assert len(seen) == 6 and all("What is" in one and "{text}" not in one and "{nothing}" in one for one in seen)
    assert store.rows("SELECT count(*), count(parent_id) FROM completions") == [(12, 6)]
    assert judge_again(store, study_id, JUDGE, EXAMPLE + "\n{nothing} of the study's").name == "judge v1" and len(seen) == 6
    assert judge_again(store, study_id, JUDGE).name == "judge v2" and len(seen) == 12
    assert versions_of(store, study_id)["judge v2"]["params"] == {"model": JUDGE, "prompt": EXAMPLE}
    (change,) = changes(store, study_id, "regex", "judge v1")
    assert "judge v1 and regex read" in change.claim.text and len(change.items) == 1
    assert "not been compared with people" in gates.reasons(store, study_id)["judge v1"]


@pytest.mark.slow
def test_it_is_priced_before_it_runs_and_stops_at_its_budget(tmp_path, store, monkeypatch):
    cards = model_cards()
    card = dataclasses.replace(cards["simulated-clean"], name=JUDGE, backend="paid", price_in=10.0, price_out=1000.0)
    monkeypatch.setattr(rereading, "model_cards", lambda: cards | {JUDGE: card})
    opened = rereading.open_backend

    class Billing:
        """The same judge with a bill of 3 cents an answer."""

        def __init__(self, name):
            self.own = opened(name, {})

        def __getattr__(self, name):
            return getattr(self.own, name)

        async def complete(self, call):
            return dataclasses.replace(await self.own.complete(call), cost_usd=0.03)

    for module in (rereading, place):
        monkeypatch.setattr(module, "open_backend", lambda name, cards: Billing(name))
    study_id = imported(store, tmp_path / "run")
    price = priced(store, study_id, JUDGE, EXAMPLE)
    assert price.n_calls == 6 and price.cost_usd == pytest.approx(6 * 32 * 1e-3, rel=0.2)
    with pytest.raises(OverBudget, match="costs money and the study has no budget"):
        judge_again(store, study_id, JUDGE)
    with pytest.raises(OverBudget, match="more than its budget"):
        judge_again(store, study_id, JUDGE, budget_usd=0.05)
    assert not seen
    monkeypatch.setattr(rereading, "refusal", lambda *_: "")  # a server that bills more than was projected
    judged = judge_again(store, study_id, JUDGE, budget_usd=0.08)
    assert judged.name == "" and "before its budget is used up" in judged.sentence and 0 < len(seen) < 6
    assert not [name for name in studies.axes_and_extractors(store, study_id)[1] if name.startswith("judge")]
    n_asked = len(seen)
    assert priced(store, study_id, JUDGE, EXAMPLE).n_calls == 6 - n_asked
    assert judge_again(store, study_id, JUDGE, budget_usd=9).name == "judge v1" and len(seen) == 6
    assert priced(store, study_id, JUDGE, EXAMPLE).n_calls == 0


@pytest.mark.slow
def test_a_stopped_judge_shows_nothing_and_goes_on(tmp_path, store):
    study_id, cancel = imported(store, tmp_path / "run"), threading.Event()
    cancel.set()
    judged = judge_again(store, study_id, JUDGE, cancel=cancel)
    assert judged.name == "" and "0 of 6 answers before you stopped it" in judged.sentence
    assert judge_again(store, study_id, JUDGE).name == "judge v1"


def test_what_cannot_judge_is_a_sentence(tmp_path, store):
    study_id = imported(store, tmp_path / "run")
    for prompt, why in (
        ("Final:", "must hold {text}"),
        ("{text}", 'begins with "Final:"'),
        ("Final: {text}" * 9_000, "at most"),
    ):
        with pytest.raises(BadInput, match=why):
            judge_again(store, study_id, JUDGE, prompt)
    with pytest.raises(BadInput, match="There is no model 'nobody'"):
        judge_again(store, study_id, "nobody")


def test_a_field_that_stands_in_an_answer_is_not_filled_in(tmp_path, store):
    study_id = imported(store, tmp_path / "run")
    (answer, *_) = stored_answers(store, study_id, ["number"])
    hostile = dataclasses.replace(answer, completion=dataclasses.replace(answer.completion, text="{question} {options}"))
    assert "<<<\n{question} {options}\n>>>" in filled(EXAMPLE, hostile)


@pytest.mark.slow
def test_the_command_line_prices_and_judges(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FLIPSCOPE_CALLABLES", JUDGE)
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "own.duckdb"))
    with Opened() as opened:
        study_id = imported(opened, tmp_path / "run")
    prompt = tmp_path / "judge.txt"
    prompt.write_text(EXAMPLE, encoding="utf-8")
    seen.clear()
    assert main(["reread", study_id, "--judge", JUDGE, "--prompt", str(prompt), "--price"]) == 0 and not seen
    assert "6 calls" in capsys.readouterr().out
    assert main(["reread", study_id, "--judge", JUDGE, "--prompt", str(prompt)]) == 0
    said = capsys.readouterr().out
    assert "stored as the readout 'judge v1'" in said and "judge v1 and regex read" in said
    assert main(["reread", study_id, "--judge", JUDGE, "--prompt", "nowhere.txt"]) == 1
    assert "'nowhere.txt' is no text file" in capsys.readouterr().err
    assert main(["reread", study_id, "--extractor", "judge"]) == 1 and "--judge MODEL" in capsys.readouterr().err


class Opened:
    def __enter__(self):
        self.store = Store.open()
        return self.store

    def __exit__(self, *_):
        self.store.close()
