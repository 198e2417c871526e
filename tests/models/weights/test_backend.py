"""Open weights as a model of a study: added, tested, asked, and compared with the pocket model as a study sees it."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from flipcore.__main__ import main
from flipcore.core.errors import BadInput
from flipcore.core.paths import DATA, POCKET
from flipcore.core.records import Call, Request
from flipcore.core.study import ModelUse, Part, Study
from flipcore.models import model_cards, open_backend, own_models
from flipcore.models.cards import checked
from flipcore.models.probe_record import record_of
from flipcore.runs.demo import fill_store
from flipcore.runs.embargo import is_sent_away
from flipcore.runs.runner import run
from flipcore.store.connection import Store
from flipcore.store.queries import studies as queries
from tests.models.weights.checkpoints import card, copy

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not (POCKET / "model.safetensors").is_file(), reason="the pocket checkpoint is not here"),
]
PROMPT = "Question: Which of these is a metal?\nA. rye\nB. barley\nC. tin\nD. oats\nAnswer:"
KEY = ["item_id", "axis", "variant_id", "sample", "extractor"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def torch():
    pytest.importorskip("transformers", reason="open weights need it: pip install -r requirements-transformers.txt")
    return pytest.importorskip("torch", reason="open weights need it: pip install -r requirements-transformers.txt")


def answers(backend, requests):
    async def main():
        try:
            calls = [Call("m", "r", request) for request in requests]
            return await asyncio.gather(*(backend.complete(call) for call in calls))
        finally:
            await backend.close()

    return asyncio.run(main())


REQUESTS = [
    Request("generate", PROMPT, "Be brief.", max_tokens=6),
    Request("generate", PROMPT, max_tokens=6, temperature=1.0, seed=3),
    Request("first_token", PROMPT, max_tokens=1, top_k=20),
    Request("first_token", PROMPT, continuation=" ", max_tokens=1, top_k=20),
    Request("score", PROMPT, continuation=" tin"),
    Request("score", "", continuation=PROMPT),
]


@pytest.mark.slow
def test_a_study_gets_what_the_pocket_model_gives(torch):
    ours, theirs = answers(open_backend("pocket"), REQUESTS), answers(open_backend("open", {"open": card()}), REQUESTS)
    for mine, its in zip(ours, theirs, strict=True):
        assert (its.status, its.text, its.finish_reason, its.cost_usd) == ("ok", mine.text, mine.finish_reason, 0.0), its.error
        assert (its.n_tokens_in, its.n_tokens_out) == (mine.n_tokens_in, mine.n_tokens_out)
        for one, other in ((mine.top_logprobs, its.top_logprobs), (dict(mine.tokens or ()), dict(its.tokens or ()))):
            common = set(one or ()) & set(other or ())
            assert len(common) >= 0.9 * len(one or ()) and all(abs(one[t] - other[t]) < 2e-4 for t in common)


@pytest.mark.slow
def test_a_chat_model_scores_nothing_and_says_how_it_could(torch):
    backend = open_backend("open", {"open": card(api="chat")})
    assert "score" not in backend.abilities and "completions API" in backend.why_not("score")
    text, scored, effort = answers(backend, [REQUESTS[0], REQUESTS[4], Request("generate", "x", max_tokens=1, effort="low")])
    assert (text.status, scored.status, effort.status) == ("ok", "failed", "failed") and "effort" in effort.error


@pytest.mark.slow
def test_weights_that_cannot_be_loaded_fail_every_call_with_one_sentence_and_the_run_is_told(torch, tmp_path):
    folder = copy(tmp_path / "broken")
    (folder / "model.safetensors").write_bytes(b"nothing")
    backend = open_backend("open", {"open": card(folder)})
    assert backend.down == ""
    first, second = answers(backend, REQUESTS[:2])
    assert first.status == second.status == "failed" and "could not be loaded" in first.error == second.error
    assert "could not be loaded" in backend.down


@pytest.mark.slow
def test_two_studies_of_one_checkpoint_hold_it_once(torch):
    one, other = (open_backend("open", {"open": card()}) for _ in range(2))
    assert one.open() is other.open()
    finer = open_backend("open", {"open": card(options={"dtype": "bfloat16"})})
    assert finer.open() is not one.open() and finer.revision != one.revision


@pytest.mark.slow
def test_it_is_added_tested_listed_and_removed_on_the_command_line(torch, capsys, home):
    words = ["models", "add", "mine", "--preset", "transformers", "--model", str(POCKET)]
    assert main([*words, "--dtype", "float32", "--device", "cpu"]) == 0
    said = capsys.readouterr().out
    assert "First-token log-probabilities: 20 alternatives" in said and "Log-probabilities of a given text: yes" in said
    assert "Answers as: llama, " in said and "cpu, float32" in said and "Seed: the same seed gives the same text" in said
    stored = own_models.own_cards()["mine"]
    assert set(stored.abilities) == {"generate", "first_token_logprobs", "score"} and record_of(stored).scores
    assert (stored.price_in, stored.price_out) == (0.0, 0.0) and not is_sent_away("mine")
    assert main(["models", "test", "mine"]) == 0 and "Nothing changed since the last test." in capsys.readouterr().out
    assert main(["models", "list"]) == 0 and "in this process, raw text, float32" in capsys.readouterr().out


@pytest.mark.slow
def test_a_template_that_refuses_a_system_prompt_is_found_out_and_it_then_stands_before_the_question(torch, tmp_path):
    refusing = (
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}{{ messages[0]['content'] }}"
    )
    folder = copy(tmp_path / "a", **{"tokenizer_config.json": {"chat_template": refusing}})
    own_models.save(card(folder, "mine", api="chat"))
    assert main(["models", "test", "mine"]) == 0
    stored = own_models.own_cards()["mine"]
    assert "system" in stored.refuses and "score" not in stored.abilities
    (with_system,) = answers(open_backend("mine"), [REQUESTS[0]])
    assert with_system.status == "ok", with_system.error


def test_without_the_packages_it_is_a_sentence_at_every_door(monkeypatch, capsys):
    monkeypatch.setattr("flipcore.models.weights.backend.find_spec", lambda name: None)
    assert main(["models", "add", "mine", "--preset", "transformers", "--model", str(POCKET)]) == 1
    assert "requirements-transformers.txt" in capsys.readouterr().err and "mine" in model_cards()


@pytest.mark.parametrize(
    "changes, word",
    [
        ({"options": {"dtype": "int4"}}, "dtype"),
        ({"options": {"device": "cuda:x; rm"}}, "device"),
        ({"options": {"batch": 0}}, "batch"),
        ({"endpoint": "http://h/v1"}, "leave endpoint"),
        ({"api": "telepathy"}, "chat or completions"),
    ],
)
def test_a_card_that_cannot_be_computed_is_refused(changes, word):
    with pytest.raises(BadInput, match=word):
        checked(card(**changes))


def test_settings_of_open_weights_are_refused_for_a_server(capsys):
    assert main(["models", "add", "x", "--preset", "vllm", "--model", "m", "--device", "cpu", "--no-test"]) == 1
    assert "--preset transformers" in capsys.readouterr().err


@pytest.mark.slow
def test_loss_test_cloze_and_pearl_read_the_same_of_it_as_of_the_pocket_model(torch, tmp_path):
    memory = Study.read(DATA / "memory.toml")
    study = replace(
        memory,
        items=tuple(replace(source, n=2) for source in memory.items),
        extractors=tuple(Part(name) for name in ("regex", "answer_loss", "question_loss", "min_k", "cloze", "rouge_l")),
        models=(ModelUse("pocket", max_tokens=24), ModelUse("open", max_tokens=24)),
    )
    own_models.save(card(name="open"))
    store = Store.open(tmp_path / "flips.duckdb")
    fill_store(store)
    assert run(study, store).state == "done"
    frame = queries.readouts(store, study.study_id, everything=True)
    ours, theirs = (frame[frame["model"] == name].set_index(KEY).sort_index() for name in ("pocket", "open"))
    assert len(ours) == len(theirs) > 100 and (ours["status"] == theirs["status"]).all()
    assert ours["answer"].fillna("-").equals(theirs["answer"].fillna("-"))
    assert theirs["value"].notna().sum() > 50
    # PEARL's continuations are sampled: where a draw falls within rounding of two tokens' border, one goes on with the other token
    is_sampled = ours.index.get_level_values("extractor") == "rouge_l"
    close = np.isclose(ours["value"].to_numpy(float), theirs["value"].to_numpy(float), atol=2e-3, equal_nan=True)
    assert close[~is_sampled].all() and close[is_sampled].mean() > 0.98
    store.close()
