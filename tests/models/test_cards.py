from dataclasses import replace

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import ABILITIES
from flipcore.models import BACKENDS, model_cards, open_backend


def test_every_shipped_card_names_a_backend_and_abilities_that_exist():
    cards = model_cards()
    assert {"pocket", "simulated-clean", "openai-chat", "local-vllm"} <= set(cards)
    for card in cards.values():
        assert card.backend in BACKENDS and set(card.abilities) <= set(ABILITIES)
        assert card.price_in is not None and card.price_out is not None


def test_every_card_but_the_pockets_opens_without_a_key_or_a_network(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    cards = model_cards()
    for name in set(cards) - {"pocket"}:
        backend = open_backend(name, cards)
        assert backend.name == name and backend.revision
        for ability in ABILITIES:
            assert (ability in backend.abilities) == (backend.why_not(ability) == "")


def test_revisions_differ_where_the_model_does():
    cards = model_cards()
    simulated = [open_backend(name, cards).revision for name in cards if name.startswith("simulated")]
    assert len(set(simulated)) == len(simulated) == 8


def test_a_card_that_a_caller_changed_is_whole_for_the_next(tmp_path):
    path = tmp_path / "models.toml"
    path.write_text('[a]\nbackend = "simulated"\noptions = { profile = "clean", more = { depth = 1 } }')
    card = model_cards(path)["a"]
    card.options["more"]["depth"] = 2
    card.probe["seen"] = True
    again = model_cards(path)["a"]
    assert again.options["more"] == {"depth": 1} and again.probe == {}


def test_keys_are_named_and_never_written_down():
    assert all(card.api_key_env == "" or card.api_key_env.isupper() for card in model_cards().values())


@pytest.mark.parametrize(
    "text, word",
    [
        ('[m]\nbackend = "simulated"\nprize_in = 1.0', "prize_in"),
        ("[m]\nmodel = 'x'", "backend"),
        ("[m", "cannot be read"),
        ('[m]\nbackend = "simulated"\nabilities = ["sing"]', "ability"),
    ],
)
def test_a_wrong_file_is_a_sentence_that_names_the_table_or_the_line(tmp_path, text, word):
    path = tmp_path / "models.toml"
    path.write_text(text)
    with pytest.raises(BadInput, match=word):
        model_cards(path)


def test_an_unknown_model_backend_or_profile_is_a_sentence_with_what_there_is(tmp_path):
    with pytest.raises(BadInput, match="simulated-clean"):
        open_backend("gpt-9")
    path = tmp_path / "models.toml"
    path.write_text('[a]\nbackend = "carrier pigeon"\n[b]\nbackend = "simulated"\noptions = { profile = "perfect" }')
    with pytest.raises(BadInput, match="openai_compatible"):
        open_backend("a", model_cards(path))
    with pytest.raises(BadInput, match="clean"):
        open_backend("b", model_cards(path))


@pytest.mark.parametrize("bits", ["4", 4.5, True, 1])
def test_a_pocket_model_of_no_such_bits_is_refused_with_its_name(bits):
    cards = model_cards()
    with pytest.raises(BadInput, match="bits"):
        open_backend("pocket-4bit", {"pocket-4bit": replace(cards["pocket-4bit"], options={"bits": bits})})
