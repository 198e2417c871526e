"""`python -m flipcore models list | add | test | remove`: manages the user's own models."""

import argparse

from flipcore.core.command_line import command
from flipcore.core.errors import BadInput
from flipcore.core.paths import own_models_toml
from flipcore.models import model_cards, own_models
from flipcore.models.cards import ADDED, APIS, DTYPES, WEIGHTS, ModelCard, place_of
from flipcore.models.own_models import PRESETS, ask_and_keep, card_from
from flipcore.models.probe_record import ProbeRecord, lines, record_of, warnings

HELP = "which models can be asked: list, add, test, remove"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `models` and their options."""
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="every model that a study can name")
    add = actions.add_parser(
        "add", help="a model of a server, or open weights; it is tested at once"
    )
    add.add_argument("name", help="what studies call it")
    add.add_argument(
        "--preset", default="other", choices=tuple(PRESETS), help="fills in what is not given"
    )
    add.add_argument(
        "--model",
        required=True,
        help="what the server calls it; for open weights their folder or name",
    )
    add.add_argument("--endpoint", metavar="URL", help="for example http://localhost:8000/v1")
    add.add_argument("--api", choices=APIS, help="chat, or completions for raw text")
    add.add_argument(
        "--key-env",
        metavar="VARIABLE",
        help="the environment variable that holds the key; the key is not stored",
    )
    add.add_argument("--price-in", type=float, metavar="USD", help="a million tokens in")
    add.add_argument("--price-out", type=float, metavar="USD", help="a million tokens out")
    add.add_argument(
        "--dtype", choices=DTYPES, help="the precision of open weights (default float32)"
    )
    add.add_argument(
        "--device",
        metavar="NAME",
        help="where open weights are computed: cpu, cuda, cuda:1 (default auto)",
    )
    add.add_argument("--cutoff", metavar="DATE", help="end of its training, YYYY-MM-DD")
    add.add_argument(
        "--after-rl",
        action="store_true",
        help="its maker trained it by reinforcement learning after pre-training",
    )
    add.add_argument("--replace", action="store_true", help="change the model of that name")
    add.add_argument("--no-test", action="store_true", help="ask it nothing now")
    for action, about in (
        ("test", "ask it again and say what changed"),
        ("remove", "forget one of your own models"),
    ):
        actions.add_parser(action, help=about).add_argument("name")


def act(options: argparse.Namespace) -> int:
    """Do the action and return 0. Raises BadInput if it fails."""
    return {"list": _list, "add": _add, "test": _test, "remove": _remove}[options.action](options)


def _list(options: argparse.Namespace) -> int:
    own_cards = own_models.own_cards()
    for name, card in model_cards().items():
        record = record_of(card)
        owner = "own" if name in own_cards else "shipped"
        print(f"{name:28} {owner:8} {card.backend:18} {_state(card, record)}")
    add = command("models add NAME --preset openai --model MODEL")
    print(f"Your own models: {own_models_toml()}. Add one: {add}")
    return 0


def _state(card: ModelCard, record: ProbeRecord | None) -> str:
    if card.backend not in ADDED:
        return ""
    return f"{place_of(card)}, " + (f"tested {record.at[:10]}" if record else "never tested")


def _add(options: argparse.Namespace) -> int:
    card = card_from(
        options.name,
        options.preset,
        options.model,
        endpoint=options.endpoint,
        api=options.api,
        api_key_env=options.key_env,
        price_in=options.price_in,
        price_out=options.price_out,
        cutoff=options.cutoff,
        after_rl=options.after_rl,
        options=_options(options),
    )
    own_models.save(card, card.name if options.replace else "")
    print(f"{card.name} is stored in {own_models_toml()}.")
    note = PRESETS[options.preset].trial
    if note:
        print(f"The preset {options.preset}: {note}.")
    return 0 if options.no_test else _test_card(card)


def _options(options: argparse.Namespace) -> dict | None:
    """Return the settings of open weights; None keeps the preset's own."""
    card_options = {"dtype": options.dtype, "device": options.device}
    weights_options = {key: value for key, value in card_options.items() if value is not None}
    if weights_options and PRESETS[options.preset].backend != WEIGHTS:
        raise BadInput(
            "--dtype and --device are for open weights alone: add --preset transformers, or leave"
            " them out."
        )
    return weights_options or None


def _test(options: argparse.Namespace) -> int:
    return _test_card(own_models.own_card(options.name))


def _test_card(card: ModelCard) -> int:
    sentences = ask_and_keep(card)
    after = own_models.own_card(card.name)
    record = record_of(after)
    if record is not None:
        print("\n".join(f"  {label}: {text}" for label, text in lines(record).items()))
        sentences += warnings(after, record)
    print("\n".join(sentences))
    return 0


def _remove(options: argparse.Namespace) -> int:
    own_models.remove(options.name)
    print(
        f"{options.name} is no longer in {own_models_toml()}. What it answered stays in the"
        " database."
    )
    return 0
