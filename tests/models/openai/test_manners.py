"""A test finds out every manner of server; a study on it has true statuses, and no wording of the same sum is a flip."""

import json

import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import own_models
from flipcore.models.openai.probe import probed
from flipcore.models.own_models import card_from
from flipcore.models.probe_record import card_after
from flipcore.runs import runner
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.models.manners import MANNERS, Mannered

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
N = 3


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    path = tmp_path_factory.mktemp("items") / "items.jsonl"
    rows = [{"question": f"What is {i} plus {i + 3}?", "answer": str(2 * i + 3), "id": i} for i in range(2, 2 + N)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return ItemSource("file", path=str(path), columns={"question": "question", "target": "answer", "key": "id"})


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = Store.open(tmp_path_factory.mktemp("manners") / "flips.duckdb")
    yield opened
    opened.close()


@pytest.mark.cell
@pytest.mark.parametrize("manner", MANNERS, ids=lambda manner: manner.name)
def test_it_is_found_out_and_a_study_on_it_has_true_statuses_and_no_false_flip(manner, items, store, tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
    monkeypatch.setattr("flipcore.models.openai.retries.FIRST_WAIT_S", 0.01)
    axes, reader = (Part("prompt_format", {"layouts": ["bare"]}),), (Part("regex"),)
    study = Study(manner.name, (items,), axes, reader, (ModelUse("mine", max_tokens=64, stop=("\n\n\n",)),))
    with Mannered(manner) as server:
        card = card_from("mine", "other", "m", endpoint=server.url, price_in=0.0, price_out=0.0)
        if not manner.problem:
            record = probed(card)
            assert {key: getattr(record, key) for key in manner.finds} == manner.finds
            card = card_after(card, record)
        own_models.save(card)
        server.limited = manner.limited
        last = runner.run(study, store)
    frame = studies.readouts(store, study.study_id)
    assert len(frame) == 2 * N and set(frame["status"]) == set(manner.statuses)
    assert last.state == ("failed" if manner.problem else "done"), last.message
    assert set(frame["is_correct"].dropna()) == ({True} if manner.statuses == ("ok",) else set() if manner.problem else {False})
    answers = frame[frame["status"] == "ok"].groupby("item_id")["answer"].nunique()
    assert (answers == 1).all()  # the same sum, asked in two ways, has one answer
    assert bool(last.cut) == (manner.statuses == ("cut",))
