"""Free text read by sameness of meaning: asked over HTTP and compared in pairs, with a key and without, interrupted, and labelled."""

import json
import re
import threading
from collections import Counter
from contextlib import closing

import pytest

from flipcore.__main__ import main
from flipcore.annotation import gates
from flipcore.annotation.judge_labels import label_row, labelled_readouts
from flipcore.api import StudyView
from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load_report
from flipcore.models import declared_cards
from flipcore.models.cards import ModelCard
from flipcore.reports.exports.document import report
from flipcore.reports.read_by_people import extractor_errors
from flipcore.runs import runner
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.runs.plan import plan, projection, remaining
from flipcore.runs.rereading import judge_again, priced
from flipcore.store.connection import Store
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import budgets, judgements, judges, studies
from tests.datasets.recorded import harness_files
from tests.models.server import Server
from tests.stores import empty_store

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")

CITIES = dict(
    zip(
        "France Italy Spain Norway Japan Peru Cuba Egypt Kenya Ghana Iran Iraq China Nepal Greece Malta Latvia Oman Chile Fiji".split(),
        "Paris Rome Madrid Oslo Tokyo Lima Havana Cairo Nairobi Accra Tehran Baghdad Beijing Kathmandu Athens Valletta Riga Muscat "
        "Santiago Suva".split(),
        strict=True,
    )
)
QUESTION = "What is the capital of {}?"
# Of these the fickle model changes its mind where the question is set out in another way.
PLANTED = list(CITIES)[:10:2]
N_FEW = 4  # cities, where nothing needs more: comparisons grow with each
N_PLANTED = len(set(PLANTED) & set(list(CITIES)[:N_FEW]))
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
        return f"Final: {self.verdict_of(prompt)}"

    @staticmethod
    def verdict_of(prompt):
        texts = [part.partition(">>>")[0] for part in prompt.split("<<<")[1:]]
        first, second = ([one for one in (*CITIES.values(), "Carthage") if one in text] for text in texts)
        return "same" if first == second else "different"


def with_models(server, monkeypatch):
    """Two models that cost nothing and a judge that does, all at the server's address."""
    cards = declared_cards()
    for name, price in (("right", 0.0), ("fickle", 0.0), ("judge", 1.0)):
        at = {"model": name, "endpoint": server.url, "n_in_flight": 4, "price_in": price, "price_out": price}
        cards[name] = ModelCard(name, "openai_compatible", **at)
    monkeypatch.setattr("flipcore.models.declared_cards", lambda path=None: cards)


@pytest.fixture
def world(monkeypatch):
    with World() as server:
        with_models(server, monkeypatch)
        yield server


@pytest.fixture
def store(tmp_path):
    opened = empty_store(tmp_path / "flips.duckdb")
    yield opened
    opened.close()


def declared(folder, *, with_key=True, n_cities=N_FEW, **changes):
    cities = list(CITIES.items())[:n_cities]
    rows = [{"id": land, "question": QUESTION.format(land), "answer": city} for land, city in cities]
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


def parts_of(view, model):
    """T, G and A of the reader, which is its own reference."""
    frame = view.decomposition(model).frame
    return frame[frame["extractor"] == "same_meaning"].set_index("quantity")["value"].loc[["T", "G", "A"]].tolist()


TWO_SAMPLES = tuple(ModelUse(name, max_tokens=32, n_samples=2) for name in ("right", "fickle"))


@pytest.mark.slow
@pytest.mark.parametrize("with_key", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["with a key", "without"])
def test_a_model_that_says_the_right_thing_in_ten_ways_never_flips(tmp_path, store, world, with_key):
    study = declared(tmp_path, with_key=with_key)
    at_most = projection(plan(study)).n_calls
    assert runner.run(study, store).state == "done"
    assert {world.n_said[key] for key in world.n_said} == {10} and 0 < len(world.judged) < at_most
    frame = studies.readouts(store, study.study_id, everything=True)
    assert set(frame["status"]) == {"ok"}
    view = StudyView(store, study.study_id)
    assert parts_of(view, "right") == [0.0, 0.0, 0.0]
    assert parts_of(view, "fickle") == pytest.approx([N_PLANTED / N_FEW, N_PLANTED / N_FEW, 0.0])
    said = view.text()
    if with_key:
        right = frame.groupby("model", observed=True)["is_correct"].mean()
        assert right["right"] == 1.0 and right["fickle"] == pytest.approx(1 - N_PLANTED / N_FEW / 2)
        assert "Score (benchmark items, same meaning)" in said
    else:
        assert frame["is_correct"].isna().all() and "Score" not in said
        with pytest.raises(BadInput, match="no score"):
            view.score()


@pytest.mark.slow
@pytest.mark.parametrize("at", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_an_interrupt_among_the_comparisons_loses_none_and_buys_none_twice(tmp_path, store, world, at):
    # Of fewer cities all comparisons would be on their way at once.
    study, cancel = declared(tmp_path, n_cities=7, models=TWO_SAMPLES), threading.Event()
    world.at, world.interrupt = at, cancel.set
    assert runner.run(study, store, cancel=cancel).state == "cancelled"
    store.writer.flush()
    n_before = len(world.judged)
    stored = "SELECT count(*) FROM completions WHERE model = 'judge' AND status = 'ok'"
    assert store.rows(stored) == [(n_before,)] == store.rows("SELECT count(*) FROM purchases") and n_before >= at
    half = studies.readouts(store, study.study_id, everything=True)
    assert set(half["status"]) <= {"ok", "absent"} and half["status"].eq("absent").any()
    [(n_answered,)] = store.rows("SELECT count(*) FROM completions WHERE status = 'ok'")
    whole = plan(study, store)
    assert remaining(whole, store).n_calls == projection(whole).n_calls - n_answered
    assert runner.run(study, store).state == "done"
    store.writer.flush()
    assert store.rows(stored) == [(len(world.judged),)] == store.rows("SELECT count(*) FROM purchases")
    assert budgets.spent_usd(store, study.study_id) == pytest.approx(25e-6 * len(world.judged))
    n = len(world.judged)
    assert runner.run(study, store).state == "done" and len(world.judged) == n
    assert parts_of(StudyView(store, study.study_id), "fickle") == pytest.approx([4 / 7, 4 / 7, 0.0])


def test_what_comparisons_cost_at_most_is_said_before_any_is_bought(tmp_path, store, world):
    study = declared(tmp_path, budget_usd=0.005)
    whole = plan(study)
    assert projection(whole).n_calls == 2 * N_FEW * (10 + 10 * 11) and any("upper bound" in note for note in whole.notes)
    assert projection(plan(declared(tmp_path, with_key=False))).n_calls == 2 * N_FEW * (10 + 10 * 9)
    with pytest.raises(OverBudget, match="more than its budget"):
        runner.run(study, store)
    with pytest.raises(BadInput, match="Same meaning reads by another model, and the study names none"):
        runner.run(declared(tmp_path, judge=None), store)
    assert not world.bodies


@pytest.mark.slow  # quick ones of labels that open a gate: tests/annotation/test_judge_labels.py
def test_peoples_labels_open_its_gate_and_say_its_error_by_model(tmp_path, store, world, monkeypatch):
    """Of three questions the judge takes any two answers for one: it misreads the fickle model where that says Carthage."""
    lax = tuple(QUESTION.format(land) for land in PLANTED[:3])
    monkeypatch.setattr(
        world, "verdict_of", lambda prompt: "same" if any(one in prompt for one in lax) else World.verdict_of(prompt)
    )
    study = declared(tmp_path, n_cities=10)  # 200 outputs: the gate opens from 100 labels
    runner.run(study, store)
    assert "nobody has labelled" in gates.reasons(store, study.study_id)["same_meaning"]
    n_compared, n_turned = judges.both_ways(store, study.study_id, "same_meaning")
    assert 2 * n_compared == len(world.judged) and n_turned == 0
    judgements.keep(store, OUTPUT_LABELS, list(labels(store, study)))
    errors = {one.model: one for one in extractor_errors(labelled_readouts(store, study.study_id))}
    assert {model: (one.n, one.error.value) for model, one in errors.items()} == {
        "right": (100, 0.0),
        "fickle": (100, 15 / 100),
    }
    assert errors["fickle"].kinds["wrong counted right"] == 15
    assert gates.reasons(store, study.study_id) == {}


@pytest.mark.slow
def test_no_way_out_claims_anything_by_a_reader_whose_gate_is_closed(tmp_path, store, world, monkeypatch):
    """A judge that takes any two answers for one makes a perfect score and no flip; nobody has labelled."""
    monkeypatch.setattr(world, "verdict_of", lambda prompt: "same")
    study = declared(tmp_path, n_cities=7, models=TWO_SAMPLES)
    runner.run(study, store)
    view = StudyView(store, study.study_id)
    whole = view.whole
    results = [view.score(), view.ranking(), *(view.decomposition(model) for model in ("right", "fickle"))]
    assert not any(one.is_made for result in results for one in result.claims)
    assert not any(result.frame["is_claimed"].any() for result in results)
    said = [whole.text(), json.dumps(whole.as_dict(), ensure_ascii=False), view.audit().text()]
    for text in (*said, report(store, study.study_id, 1)):
        assert "nobody has labelled" in text and "1.00 right" not in text and "of answers change" not in text
    # The audit's line on every choice names what is not claimed; the report explains the word.
    claimed = [re.sub(r"Not claimed: that \w+ scores higher than \w+\.", "", text) for text in said]
    assert not any("scores higher" in text for text in claimed)


def labels(store, study):
    """A person reads every output: the city that it names."""
    for one in judges.outputs(store, study.study_id):
        text = judges.output(store, study.study_id, one["call_id"]) | {"call_id": one["call_id"]}
        yield label_row(text, "Ana", next(city for city in (*CITIES.values(), "Carthage") if city in text["text"]))


@pytest.mark.slow
def test_the_pocket_models_answers_to_questions_without_a_key_are_read(tmp_path, store, world):
    """Problems with numbers, asked as free text: what is compared is the working with its result."""
    problems = [item.question for item in load_report(ItemSource("pocket_problems", n=4)).items]
    path = tmp_path / "problems.jsonl"
    path.write_text("".join(json.dumps({"question": one}) + "\n" for one in problems), encoding="utf-8")
    study = declared(
        tmp_path,
        items=(ItemSource("file", path=str(path), columns={"question": "question", "kind": "text"}),),
        models=(ModelUse("pocket", max_tokens=96, n_samples=2, temperature=0.7),),
    )
    assert runner.run(study, store).state == "done"
    frame = studies.readouts(store, study.study_id, everything=True)
    assert len(frame) == 16 and frame["is_correct"].isna().all()
    assert frame["status"].eq("ok").sum() >= 12
    assert "pocket, same meaning" in StudyView(store, study.study_id).text()


ALIASES = {"Turkey": ["Ankara", "Angora", "Ancyra"], "India": ["New Delhi"], "Ireland": ["Dublin", "Baile Átha Cliath"]}
WRITTEN = {
    "Turkey": ["It is Ankara.", "Angora", "the old Angora, you mean? Ankara by its present name", "Istanbul is the seat"],
    "India": ["New Delhi", "They govern the whole country from New Delhi, where parliament sits, since 1931", "", "Mumbai"],
    "Ireland": [
        "Baile Átha Cliath",
        "Dublin it is, on the Liffey, and has been for as long as the state exists",
        "Cork",
        "Cork it is",
    ],
}


def log(folder, texts=WRITTEN):
    """Outputs of TriviaQA as lm-evaluation-harness writes them, four samples a question, with every alias."""
    rows = [
        {
            "doc_id": at,
            "doc": {"question": QUESTION.format(land), "question_id": land, "answer": {"value": names[0], "aliases": names}},
            "target": names,
            "arguments": {"gen_args_0": {"arg_0": f"Question: {QUESTION.format(land)}\nAnswer:", "arg_1": {"until": ["\n"]}}},
            "resps": [texts[land]],
            "filtered_resps": texts[land][:1],
            "filter": "remove_whitespace",
            "metrics": ["exact_match"],
            "doc_hash": f"{at:064x}",
            "exact_match": 1.0,
        }
        for at, (land, names) in enumerate(ALIASES.items())
    ]
    return harness_files.lines(folder / "samples_triviaqa_2025-01-01T00-00-00.jsonl", rows)


def by_city(prompt):
    """The log's judge: the city that a text names, by any of its names."""
    texts = [part.partition(">>>")[0] for part in prompt.split("<<<")[1:]]
    names = {name: aliases[0] for aliases in ALIASES.values() for name in aliases} | dict.fromkeys(
        ["Istanbul", "Cork", "Mumbai"]
    )
    first, second = ({city or name for name, city in names.items() if name.lower() in text.lower()} for text in texts)
    return "same" if first == second else "different"


@pytest.mark.slow
def test_a_logs_outputs_are_read_again_with_every_alias_and_an_interrupt_loses_nothing(tmp_path, store, world, monkeypatch):
    monkeypatch.setattr(world, "verdict_of", by_city)
    study_id = store_logs(survey([log(tmp_path)], {"model": "m"}), store)
    how = {"extractor": "same_meaning", "budget_usd": 1.0}
    price = priced(store, study_id, "judge", extractor="same_meaning")
    cancel = threading.Event()
    world.at, world.interrupt = 5, cancel.set
    stopped = judge_again(store, study_id, "judge", cancel=cancel, **how)
    assert stopped.name == "" and "0 of 12 answers before you stopped it" in stopped.sentence
    n_before = len(world.judged)
    assert 0 < priced(store, study_id, "judge", extractor="same_meaning").n_calls <= price.n_calls - n_before
    judged = judge_again(store, study_id, "judge", **how)
    store.writer.flush()
    assert judged.name == "same_meaning v1" and len(world.judged) == len(set(world.judged)) <= price.n_calls
    assert store.rows("SELECT count(*) FROM purchases") == [(len(world.judged),)]
    assert priced(store, study_id, "judge", extractor="same_meaning").n_calls == 0
    frame = studies.readouts(store, study_id, everything=True)
    read = frame[frame["extractor"] == "same_meaning v1"]
    right = {land: read[read["item_id"] == item]["is_correct"].tolist() for item, land in item_lands(store)}
    assert right == {"Turkey": [True] * 3 + [False], "India": [True, True, False, False], "Ireland": [True, True, False, False]}
    matched = frame[frame["extractor"] == "text_match"]
    assert matched["is_correct"].sum() < read["is_correct"].sum() and (read["status"] == "unreadable").sum() == 1
    cork = read[read["item_id"].isin([item for item, land in item_lands(store) if land == "Ireland"])]["answer"]
    assert cork.nunique() == 2
    assert "has labelled" in gates.reasons(store, study_id)["same_meaning v1"]
    with pytest.raises(BadInput, match="or name same_meaning"):
        judge_again(store, study_id, "judge", extractor="regex")


def item_lands(store):
    return [
        (item, re.search(r"of (\w+)\?", question)[1]) for item, question in store.rows("SELECT item_id, question FROM items")
    ]


@pytest.mark.slow
def test_the_command_line_prices_and_reads_by_sameness_of_meaning(tmp_path, world, monkeypatch, capsys):
    monkeypatch.setattr(world, "verdict_of", by_city)
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "own.duckdb"))
    with closing(Store.open()) as opened:
        study_id = store_logs(survey([log(tmp_path)], {"model": "m"}), opened)
    words = ["reread", study_id, "--extractor", "same_meaning"]
    assert main(words) == 1 and "--judge MODEL" in capsys.readouterr().err
    assert main([*words, "--judge", "judge", "--price"]) == 0 and not world.judged
    assert "as if no two answers meant the same, at most " in capsys.readouterr().out
    assert main([*words, "--judge", "judge", "--budget", "1"]) == 0 and world.judged
    assert "stored as the readout 'same_meaning v1'" in capsys.readouterr().out
