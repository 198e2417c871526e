"""Kinds of model: each opens the backend of a card and tests it.

A package may offer its own kinds (`flipscope.models`), together with cards of models that are
available as soon as it is installed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from flipcore.core.contracts import Backend
from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.core.plugins import Registry
from flipcore.models.cards import SERVED, WEIGHTS, ModelCard
from flipcore.models.probe_record import ProbeRecord


@dataclass(frozen=True)
class ModelKind:
    """A kind of model; `name` is the `backend` of its cards.

    `open` makes the backend of a card. `probe` tests the model of a card; None if it has no test.
    `cards` are models that need no entry in data/models.toml; an entry of the same name overrides
    them.
    """

    name: str
    title: str
    about: str
    open: Callable[[ModelCard], Backend]
    cards: tuple[ModelCard, ...] = ()
    probe: Callable[[ModelCard], ProbeRecord] | None = None


def _simulated(card: ModelCard) -> Backend:
    from flipcore.models.simulated import PROFILES, Simulated

    profile = card.options.get("profile", "clean")
    if profile not in PROFILES:
        raise BadInput(
            f"[{card.name}] has the unknown profile {profile!r}; choose one of "
            f"{', '.join(PROFILES)}."
        )
    return Simulated(card.name, PROFILES[profile], card.options.get("seed", 0))


def _pocket(card: ModelCard) -> Backend:
    from flipcore.models.pocket_inference import Pocket

    bits = card.options.get("bits", 16)
    if not isinstance(bits, int) or isinstance(bits, bool):
        raise BadInput(f"[{card.name}] has {bits!r} bits; write a whole number, such as bits = 4.")
    return Pocket(card.name, bits=bits)


def _openai_compatible(card: ModelCard) -> Backend:
    from flipcore.models.openai.client import OpenAICompatible

    return OpenAICompatible(card)


def _server_test(card: ModelCard) -> ProbeRecord:
    from flipcore.models.openai.probe import probed

    return probed(card)


def _open_weights(card: ModelCard) -> Backend:
    from flipcore.models.weights.backend import OpenWeights

    return OpenWeights(card)


def _weights_test(card: ModelCard) -> ProbeRecord:
    from flipcore.models.weights.backend import probed

    return probed(card)


def _fault(kind: ModelKind) -> str:
    """Return a fault of a kind that types cannot express, as a clause; "" if there is none."""
    if not callable(kind.open):
        return "its `open` cannot be called with a card."
    wrong = [
        card for card in kind.cards if not isinstance(card, ModelCard) or card.backend != kind.name
    ]
    return f"its card {wrong[0]!r} is no ModelCard with backend = {kind.name!r}." if wrong else ""


BACKENDS: Registry[ModelKind] = Registry(
    "kind of model",
    "models",
    kind=ModelKind,
    shipped=(
        ModelKind(
            SERVED,
            "OpenAI-compatible server",
            about="Any server that speaks OpenAI's API.",
            open=_openai_compatible,
            probe=_server_test,
        ),
        ModelKind(
            WEIGHTS,
            "Open weights",
            about="A checkpoint on this machine, computed in this process.",
            open=_open_weights,
            probe=_weights_test,
        ),
        ModelKind(
            "pocket",
            "Pocket model",
            about="The small language model of the repository, computed here.",
            open=_pocket,
        ),
        ModelKind(
            "simulated",
            "Simulated model",
            about="Planted truth, for calibration and tests.",
            open=_simulated,
        ),
    ),
    fault=_fault,
)


def open_card(card: ModelCard) -> Backend:
    """Open the model of a card; BadInput for an unknown kind, or where its package fails."""
    if card.backend not in BACKENDS:
        raise BadInput(
            f"[{card.name}] has the unknown backend {card.backend!r}; choose one of "
            f"{', '.join(BACKENDS)}."
        )
    try:
        return BACKENDS[card.backend].open(card)
    except FlipscopeError:
        raise
    except Exception as error:  # a package's own code may raise anything
        raise BadInput(BACKENDS.failure(card.backend, error)) from error


def probed(card: ModelCard) -> ProbeRecord:
    """Test the model now; BadInput where its kind has no test, or the model cannot be asked."""
    kind = BACKENDS.get(card.backend)
    if kind is None or kind.probe is None:
        raise BadInput(f"{card.name} is of a kind that has no test: {card.backend}.")
    return kind.probe(card)
