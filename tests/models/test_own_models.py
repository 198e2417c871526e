"""The user's own models: kept in the user's own folder, checked wherever they come from, and the same on the command line."""

import pytest

from flipcore.__main__ import main
from flipcore.core.errors import BadInput
from flipcore.models import model_cards, open_backend, own_models
from flipcore.models.cards import UNTESTED, WEIGHTS, check_own
from flipcore.models.own_models import NEVER, PRESETS, card_from, preset_line
from flipcore.models.probe_record import record_of
from tests.models.manners import MANNERS, Mannered

pytestmark = pytest.mark.usefixtures("allowed_folders")

BY_NAME = {manner.name: manner for manner in MANNERS}
KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("flipcore.models.openai.retries.FIRST_WAIT_S", 0.01)
    return tmp_path / "home"


def own(name="mine", **changes):
    return card_from(name, "vllm", "m", **changes)


def test_a_model_that_is_added_is_there_for_every_study_and_gone_when_removed(home):
    assert own_models.own_cards() == {} and not home.exists()
    own_models.save(own())
    assert open_backend("mine").abilities == {"generate"} and "simulated-clean" in model_cards()
    assert [path.name for path in home.iterdir()] == ["models.toml"]
    own_models.remove("mine")
    assert "mine" not in model_cards()
    with pytest.raises(BadInput, match="none of your own"):
        own_models.remove("mine")


def test_a_card_comes_back_as_it_was_saved():
    card = own(
        options={"extra_body": {"top_k": 1}},
        price_in=0.1,
        price_out=0.2,
        cutoff="2025-06",
        requests_per_minute=60,
        after_rl=True,
    )
    own_models.save(card)
    assert own_models.own_cards() == {"mine": card}


def test_an_own_model_stands_before_a_shipped_entry_of_its_name():
    own_models.save(own("local-vllm", endpoint="http://localhost:9000/v1"))
    assert model_cards()["local-vllm"].endpoint == "http://localhost:9000/v1"


@pytest.mark.parametrize(
    "changes, word",
    [
        ({"name": "a:b"}, "no colon"),
        ({"name": ""}, "name"),
        ({"name": "pocket"}, "carry a label"),
        ({"name": "simulated-clean"}, "carry a label"),
        ({"endpoint": ""}, "address of the server is missing"),
        ({"endpoint": "file:///etc/passwd"}, "http://"),
        ({"endpoint": f"https://user:{KEY}@host/v1"}, "key or a query"),
        ({"endpoint": f"https://host/v1?key={KEY}"}, "key or a query"),
        ({"endpoint": "http://host:99999999/v1"}, "no address"),
        ({"api_key_env": KEY}, "no name of an environment variable"),
        ({"model": " "}, "which model"),
        ({"api": "telepathy"}, "chat or completions"),
        ({"price_in": -1.0}, "price_in"),
        ({"price_in": float("nan")}, "price_in"),
        ({"n_in_flight": 0}, "n_in_flight"),
        ({"timeout_s": True}, "timeout_s"),
        ({"cutoff": "last summer"}, "year-month"),
        ({"refuses": ("moon",)}, "refuses"),
        ({"backend": "simulated"}, "not 'simulated'"),
    ],
)
def test_what_cannot_be_asked_or_holds_a_key_is_refused_and_not_repeated(changes, word, home):
    from dataclasses import replace

    with pytest.raises(BadInput, match=word) as caught:
        own_models.save(replace(own(), **changes))
    assert KEY not in str(caught.value) and not home.exists()


def test_a_file_that_somebody_wrote_by_hand_keeps_to_the_same_bounds(home):
    home.mkdir()
    for text, word in (
        ("mine = 3", "must be a table, not int"),
        (f'[mine]\nbackend = "openai_compatible"\nendpoint = "http://h/v1"\napi_key_env = "{KEY}"', "environment variable"),
        ('[mine]\nbackend = "openai_compatible"\nendpoint = "h"', "no address"),
        ('[mine]\nbackend = "openai_compatible"\nendpoint = "http://h/v1"\nprice_in = "much"', "price_in"),
        ("[mine", "cannot be read"),
    ):
        (home / "models.toml").write_text(text)
        with pytest.raises(BadInput, match=word) as caught:
            model_cards()
        assert KEY not in str(caught.value)


def test_a_name_is_given_once_and_can_be_changed():
    own_models.save(own())
    with pytest.raises(BadInput, match="already"):
        own_models.save(own())
    own_models.save(own("other"), replaces="mine")
    assert list(own_models.own_cards()) == ["other"]


@pytest.mark.slow
def test_an_edit_that_means_another_model_forgets_the_test_and_another_price_does_not():
    with Mannered(BY_NAME["refuses max_tokens"]) as server:
        own_models.save(own(endpoint=server.url))
        assert main(["models", "test", "mine"]) == 0
        card = own_models.own_cards()["mine"]
    assert record_of(card) and card.options["max_tokens_name"] == "max_completion_tokens"
    assert own_models.edited(card, price_in=3.0).probe == card.probe
    moved = own_models.edited(card, endpoint="http://localhost:1/v1")
    assert (moved.probe, moved.abilities, moved.refuses) == ({}, ("generate",), ())
    assert "max_tokens_name" not in moved.options and "extra_body" in moved.options


def test_every_preset_makes_a_card_and_says_where_it_was_read_and_whether_it_was_tried():
    for name, preset in PRESETS.items():
        card = card_from("x", name, "m", **({"endpoint": "http://h/v1"} if name == "other" else {}))
        assert check_own(card) == card and card.abilities == UNTESTED[card.backend]
        if name != "other":
            assert preset.source.startswith("https://") and preset.source in preset_line(preset)
            assert preset.trial == NEVER or "never tried" in preset.trial or preset.backend == WEIGHTS
    assert {"openai", "anthropic", "gemini", "openrouter", "vllm", "llama.cpp", "ollama"} <= set(PRESETS)


@pytest.mark.parametrize(
    ("endpoint", "price"),
    [("http://localhost:8/v1", 0.0), ("http://127.0.0.1:8/v1", 0.0), ("http://[::1]:8/v1", 0.0), ("http://10.0.0.1/v1", None)]
    + [("http://localhost.example.org/v1", None), ("http://[", None)],
)
def test_a_server_of_this_machine_costs_nothing_unless_somebody_says_a_price(endpoint, price):
    assert card_from("x", "other", "m", endpoint=endpoint).price_in == price
    assert card_from("x", "other", "m", endpoint=endpoint, price_in=2.0).price_out is None
    assert own_models.edited(card_from("x", "other", "m"), endpoint=endpoint).price_out == price


@pytest.mark.slow
def test_the_command_line_adds_tests_lists_and_removes(capsys, monkeypatch, home):
    monkeypatch.setenv("LAB_KEY", KEY)
    with Mannered(BY_NAME["refuses temperature"]) as server:
        words = [
            "mine",
            "--model",
            "m",
            "--endpoint",
            server.url,
            "--key-env",
            "LAB_KEY",
            "--price-in",
            "1",
            "--price-out",
            "2",
        ]
        assert main(["models", "add", *words]) == 0
        said = capsys.readouterr().out
        assert "Refused parameters: temperature; left out" in said and "Take 2 or more samples" in said
        assert main(["models", "add", *words]) == 1
        assert "already" in capsys.readouterr().err
    with Mannered(BY_NAME["plain"]) as server:
        assert main(["models", "add", *words[:4], server.url, *words[5:], "--replace", "--no-test"]) == 0
        assert main(["models", "test", "mine"]) == 0
        assert main(["models", "test", "mine"]) == 0
        assert "Nothing changed since the last test." in capsys.readouterr().out
    assert main(["models", "list"]) == 0
    listed = capsys.readouterr().out
    assert "mine" in listed and "tested 20" in listed and "simulated-clean" in listed
    assert KEY not in (home / "models.toml").read_text() and KEY not in listed
    assert main(["models", "test", "gone"]) == 1 and "none of your own" in capsys.readouterr().err
    assert main(["models", "remove", "mine"]) == 0 and own_models.own_cards() == {}


@pytest.mark.slow
def test_a_server_that_is_down_leaves_the_model_stored_and_untested(capsys):
    assert main(["models", "add", "mine", "--model", "m", "--endpoint", "http://127.0.0.1:9/v1"]) == 1
    assert "Is its server running" in capsys.readouterr().err
    assert own_models.own_cards()["mine"].probe == {}


def test_an_unwritable_folder_is_a_sentence(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "file"))
    with pytest.raises(BadInput, match="FLIPSCOPE_HOME"):
        own_models.save(own())
