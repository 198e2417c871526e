"""A server that is gone costs a handful of attempts, not five a call; one that comes back is asked on."""

import asyncio
import socket

import pytest

from flipcore.core.records import Call
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models.openai.client import MAX_CONTROLS, SUSPECT_AFTER, OpenAICompatible
from flipcore.runs import runner
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.models.openai.test_client import WORDS, card
from tests.models.server import Server

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr("flipcore.models.openai.retries.FIRST_WAIT_S", 0.01)


def all_asked(url, n, **rest):
    """The backend and its completions of n calls at once."""

    async def main():
        backend = OpenAICompatible(card(url, **rest))
        try:
            return backend, await asyncio.gather(*(backend.complete(Call("lab", "r", WORDS, i)) for i in range(n)))
        finally:
            await backend.close()

    return asyncio.run(main())


def dead_url():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


def study(n=12):
    return Study(
        "dead", (ItemSource("flipscope_choice", n=n),), (Part("option_order", {"n": 3}),), (Part("regex"),), (ModelUse("lab"),)
    )


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Declares a model `lab` at an address, and opens a store."""

    def declared(url, n_in_flight=4):
        path = tmp_path / "models.toml"
        path.write_text(
            f'[lab]\nbackend = "openai_compatible"\nmodel = "m"\nendpoint = "{url}"\nprice_in = 0.0\n'
            f"price_out = 0.0\nn_in_flight = {n_in_flight}\ntimeout_s = 2.0\n",
            encoding="utf-8",
        )
        monkeypatch.setattr("flipcore.models.cards.MODELS_TOML", path)

    declared.store = Store.open(tmp_path / "flips.duckdb")
    yield declared
    declared.store.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [("status", 500), ("drop",), ("malformed",), ("status", 401), ("status", 404)],
    ids=lambda fault: "-".join(map(str, fault)),
)
def test_a_server_that_fails_everything_is_asked_once_a_call_in_flight_and_a_few_times_more(fault):
    with Server(*[fault] * 500) as server:
        backend, made = all_asked(server.url, 40)
        # the first to fail may try again before the fifth failure is in
        assert len(server.bodies) <= 40 + SUSPECT_AFTER + MAX_CONTROLS
    assert {one.status for one in made} == {"failed"} and backend.down and backend.down == made[-1].error


def test_a_server_that_fails_for_a_while_is_asked_one_call_at_a_time_and_then_by_all():
    with Server(*[("status", 503)] * (SUSPECT_AFTER + 2), delay_s=0.02) as server:
        backend, made = all_asked(server.url, 20)
        n_asked = len(server.bodies)
    assert {one.status for one in made} == {"ok"} and backend.down == ""
    # the answer that ends the trouble comes to a call on its way or, on a busy machine, to a control, which is one more
    assert 20 + SUSPECT_AFTER + 2 <= n_asked <= 20 + SUSPECT_AFTER + 2 + MAX_CONTROLS


@pytest.mark.parametrize("code", [429, 400])
def test_a_rate_limit_or_a_refused_request_is_no_sign_of_death(code):
    with Server(*[("status", code)] * 30) as server:
        backend, made = all_asked(server.url, 30, options={"n_attempts": 1})
    assert {one.status for one in made} == {"failed"} and backend.down == ""


def test_failures_that_are_not_in_a_row_never_add_up():
    faults = [fault for _ in range(20) for fault in (("status", 500), ("none",))]
    with Server(*faults) as server:
        backend = OpenAICompatible(card(server.url, options={"n_attempts": 1}))

        async def main():
            made = [await backend.complete(Call("lab", "r", WORDS, i)) for i in range(40)]
            await backend.close()
            return made

        made = asyncio.run(main())
    assert [one.status for one in made].count("ok") == 20 and backend.down == ""


@pytest.mark.slow
def test_a_run_on_a_dead_server_ends_failed_with_a_sentence_and_few_attempts(lab):
    lab(dead_url())
    progress = runner.run(study(), lab.store)
    assert progress.state == "failed" and progress.n_done < 15 < progress.n_calls
    assert "could not be reached" in progress.message and "Resume makes only the missing calls" in progress.message
    (row,) = studies.studies(lab.store).to_dict("records")
    assert (row["state"], row["message"]) == ("failed", progress.message)
    (n_attempts,) = lab.store.rows("SELECT sum(n_attempts) FROM completions")[0]
    assert n_attempts <= 4 + SUSPECT_AFTER + MAX_CONTROLS


@pytest.mark.slow
def test_a_run_that_its_server_left_goes_on_where_it_stopped(lab):
    with Server(*[("none",)] * 10, *[("drop",)] * 100) as server:
        lab(server.url, n_in_flight=1)
        first = runner.run(study(), lab.store)
        assert first.state == "failed"
        server.faults.clear()
        second = runner.run(study(), lab.store)
    assert (second.state, second.n_reused, second.n_failed) == ("done", 10, 0)
    assert set(studies.readouts(lab.store, study().study_id)["status"]) == {"ok"}


def test_a_missing_key_ends_the_run_without_a_request(lab, tmp_path, monkeypatch):
    monkeypatch.delenv("LAB_KEY", raising=False)
    with Server() as server:
        lab(server.url)
        path = tmp_path / "models.toml"
        path.write_text(path.read_text(encoding="utf-8") + 'api_key_env = "LAB_KEY"\n', encoding="utf-8")
        progress = runner.run(study(), lab.store)
        assert server.bodies == []
    assert progress.state == "failed" and "LAB_KEY" in progress.message
