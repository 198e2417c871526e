"""Free text read by sameness of meaning: asked over HTTP and compared in pairs, with a key and without, interrupted, and labelled."""

import json
import re
import threading
from collections import Counter

import pytest

from flipcore.annotation import gates
from flipcore.annotation.judge_labels import label_row, labelled_readouts
from flipcore.api import StudyView
from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import declared_cards
from flipcore.models.cards import ModelCard
from flipcore.runs import runner
from flipcore.runs.plan import plan, projection
from flipcore.store.connection import Store
from flipcore.store.queries import budgets, judges, studies
from tests.models.server import Server

CITIES = dict(
    zip(
        "France Italy Spain Norway Japan Peru Cuba Egypt Kenya Ghana Iran Iraq China Nepal Greece Malta Latvia Oman Chile Fiji".split(),
        "Paris Rome Madrid Oslo Tokyo Lima Havana Cairo Nairobi Accra Tehran Baghdad Beijing Kathmandu Athens Valletta Riga Muscat "
        "Santiago Suva".split(),
        strict=True,
    )
)
QUESTION = "What is the capital of {}?"
PLANTED = list(CITIES)[:5]  # of these the fickle model changes its mind where the question is set out in another way
SAID = (
    *("{}", "It is {}.", "That must be {}, as every pupil knows.", "{} has that honour", "Beyond any doubt: {}", "{} it is"),
    *("Most atlases name {} here", "People govern from {}", "You are looking for {}", "The seat of government lies in {}"),
)


class World(Server):
    """Models that know the capitals and say them in ten ways, in turns; a judge that sees which city a text names. At its `at`-th
    comparison somebody interrupts."""

    def __init__(self, **rest):
        super().__init__(**rest)
        self.judged, self.n_said, self.at, self.interrupt = [], Counter(), 0, lambda: None

    def _proper(self, request, body):
        prompt = body["messages"][-1]["content"]
        text = self._verdict(prompt) if body["model"] == "judge" else self._said(body["model"], prompt)
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return {"choices": [choice], "usage": {"prompt_tokens": 20, "completion_tokens": 5}}

    def _said(self, model, prompt):
        land = re.search(r"capital of (\w+)\?", prompt)[1]
        self.n_said[model, land] += 1
        city = "Carthage" if model == "fickle" and land in PLANTED and not prompt.startswith("Question:") else CITIES[land]
        return SAID[self.n_said[model, land] % len(SAID)].format(city)

    def _verdict(self, prompt):
        self.judged.append(prompt)
        if len(self.judged) == self.at:
            self.interrupt()
        texts = [part.partition(">>>")[0] for part in prompt.split("<<<")[1:]]
        first, second = ([one for one in (*CITIES.values(), "Carthage") if one in text] for text in texts)
        return f"Final: {'same' if first == second else 'different'}"


@pytest.fixture
def world(monkeypatch):
    with World() as server:
        cards = declared_cards()
        for name, price in (("right", 0.0), ("fickle", 0.0), ("judge", 1.0)):
            at = {"model": name, "endpoint": server.url, "n_in_flight": 4, "price_in": price, "price_out": price}
            cards[name] = ModelCard(name, "openai_compatible", **at)
        monkeypatch.setattr("flipcore.models.declared_cards", lambda path=None: cards)
        yield server


@pytest.fixture
def store(tmp_path):
    opened = Store.open(tmp_path / "flips.duckdb")
    yield opened
    opened.close()


def declared(folder, *, with_key=True, **changes):
    rows = [{"id": land, "question": QUESTION.format(land), "answer": city} for land, city in CITIES.items()]
    path = folder / "capitals.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    columns = {"key": "id", "question": "question"} | ({"target": "answer"} if with_key else {"kind": "text"})
    parts = {
        "name": f"capitals, {'with' if with_key else 'no'} key",
        "items": (ItemSource("file", path=str(path), columns=columns),),
        "axes": (Part("prompt_format", {"layouts": ["bare"]}),),
        "extractors": (Part("same_meaning"),),
        "models": (ModelUse("right", max_tokens=32, n_samples=5), ModelUse("fickle", max_tokens=32, n_samples=5)),
        "judge": "judge",
        "budget_usd": 5.0,
    }
    return Study(**parts | changes)


def parts_of(store, study, model):
    """T, G and A of the reader, which is its own reference."""
    frame = StudyView(store, study.study_id).decomposition(model).frame
    return frame[frame["extractor"] == "same_meaning"].set_index("quantity")["value"].loc[["T", "G", "A"]].tolist()


@pytest.mark.parametrize("with_key", [True, False], ids=["with a key", "without"])
def test_a_model_that_says_the_right_thing_in_ten_ways_never_flips(tmp_path, store, world, with_key):
    study = declared(tmp_path, with_key=with_key)
    at_most = projection(plan(study)).n_calls
    assert runner.run(study, store).state == "done"
    assert {world.n_said[key] for key in world.n_said} == {10} and 0 < len(world.judged) < at_most
    frame = studies.readouts(store, study.study_id, everything=True)
    assert set(frame["status"]) == {"ok"}
    assert parts_of(store, study, "right") == [0.0, 0.0, 0.0]
    assert parts_of(store, study, "fickle") == pytest.approx([5 / 20, 5 / 20, 0.0])
    said = StudyView(store, study.study_id).text()
    if with_key:
        right = frame.groupby("model", observed=True)["is_correct"].mean()
        assert right["right"] == 1.0 and right["fickle"] == pytest.approx(1 - 5 / 20 / 2)
        assert "Score (benchmark items, same meaning)" in said
    else:
        assert frame["is_correct"].isna().all() and "Score" not in said
        with pytest.raises(BadInput, match="no score"):
            StudyView(store, study.study_id).score()


@pytest.mark.parametrize("at", [1, 25])
def test_an_interrupt_among_the_comparisons_loses_none_and_buys_none_twice(tmp_path, store, world, at):
    study, cancel = declared(tmp_path), threading.Event()
    world.at, world.interrupt = at, cancel.set
    assert runner.run(study, store, cancel=cancel).state == "cancelled"
    store.writer.flush()
    n_before = len(world.judged)
    stored = "SELECT count(*) FROM completions WHERE model = 'judge' AND status = 'ok'"
    assert store.rows(stored) == [(n_before,)] == store.rows("SELECT count(*) FROM purchases") and n_before >= at
    half = studies.readouts(store, study.study_id, everything=True)
    assert set(half["status"]) <= {"ok", "absent"} and half["status"].eq("absent").any()
    assert runner.run(study, store).state == "done"
    store.writer.flush()
    assert store.rows(stored) == [(len(world.judged),)] == store.rows("SELECT count(*) FROM purchases")
    assert budgets.spent_usd(store, study.study_id) == pytest.approx(25e-6 * len(world.judged))
    n = len(world.judged)
    assert runner.run(study, store).state == "done" and len(world.judged) == n
    assert parts_of(store, study, "fickle") == pytest.approx([5 / 20, 5 / 20, 0.0])


def test_what_comparisons_cost_at_most_is_said_before_any_is_bought(tmp_path, store, world):
    study = declared(tmp_path, budget_usd=0.01)
    whole = plan(study)
    assert projection(whole).n_calls == 2 * 20 * (10 + 10 * 11) and any("upper bound" in note for note in whole.notes)
    assert projection(plan(declared(tmp_path, with_key=False))).n_calls == 2 * 20 * (10 + 10 * 9)
    with pytest.raises(OverBudget, match="more than its budget"):
        runner.run(study, store)
    with pytest.raises(BadInput, match="Same meaning reads by another model, and the study names none"):
        runner.run(declared(tmp_path, judge=None), store)
    assert not world.bodies


def test_peoples_labels_open_its_gate_and_say_its_error_by_model(tmp_path, store, world):
    study = declared(tmp_path)
    runner.run(study, store)
    assert "nobody has labelled" in gates.reasons(store, study.study_id)["same_meaning"]
    n_compared, n_turned = judges.both_ways(store, study.study_id, "same_meaning")
    assert 2 * n_compared == len(world.judged) and n_turned == 0
    judges.keep_labels(store, list(labels(store, study)))
    rows = [row for row in labelled_readouts(store, study.study_id) if row["extractor"] == "same_meaning"]
    assert len(rows) == 400 and all(row["is_same"] for row in rows)
    assert gates.reasons(store, study.study_id) == {}


def labels(store, study):
    """A person reads every output: the city that it names."""
    for one in judges.outputs(store, study.study_id):
        text = judges.output(store, study.study_id, one["call_id"]) | {"call_id": one["call_id"]}
        yield label_row(text, "Ana", next(city for city in (*CITIES.values(), "Carthage") if city in text["text"]))


def test_the_pocket_models_answers_to_questions_without_a_key_are_read(tmp_path, store, world):
    """Problems with numbers, asked as free text."""
    path = tmp_path / "problems.csv"
    path.write_text("question\nTom has 3 apples and buys 4 more. How many has he?\nWhat is 12 minus 5?\n", encoding="utf-8")
    study = declared(
        tmp_path,
        items=(ItemSource("file", path=str(path), columns={"question": "question", "kind": "text"}),),
        models=(ModelUse("pocket", max_tokens=16, n_samples=2, temperature=0.7),),
    )
    assert runner.run(study, store).state == "done"
    frame = studies.readouts(store, study.study_id, everything=True)
    assert len(frame) == 8 and frame["is_correct"].isna().all() and "absent" not in set(frame["status"])
    assert "same meaning" in StudyView(store, study.study_id).text()
