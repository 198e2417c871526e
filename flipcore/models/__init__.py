"""One way to get completions each: Call -> Completion. Which there are: data/models.toml and the user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flipcore.core.contracts import Backend
from flipcore.core.errors import BadInput
from flipcore.models.cards import ModelCard, model_cards


def _simulated(card: ModelCard) -> Backend:
    from flipcore.models.simulated import PROFILES, Simulated

    profile = card.options.get("profile", "clean")
    if profile not in PROFILES:
        raise BadInput(f"[{card.name}] has the unknown profile {profile!r}; choose one of {', '.join(PROFILES)}.")
    return Simulated(card.name, PROFILES[profile], card.options.get("seed", 0))


def _pocket(card: ModelCard) -> Backend:
    from flipcore.models.pocket import Pocket

    return Pocket(card.name)


def _openai_compatible(card: ModelCard) -> Backend:
    from flipcore.models.openai.client import OpenAICompatible

    return OpenAICompatible(card)


BACKENDS: dict[str, Callable[[ModelCard], Backend]] = {
    "openai_compatible": _openai_compatible,
    "pocket": _pocket,
    "simulated": _simulated,
}


def open_backend(name: str, cards: Mapping[str, ModelCard] | None = None) -> Backend:
    """The model of that name, or the Python function `module:function`; BadInput lists what there is."""
    cards = model_cards() if cards is None else cards
    if name in cards:
        card = cards[name]
        if card.backend not in BACKENDS:
            raise BadInput(f"[{name}] has the unknown backend {card.backend!r}; choose one of {', '.join(BACKENDS)}.")
        return BACKENDS[card.backend](card)
    if ":" in name:
        from flipcore.models.callable import PythonCallable

        return PythonCallable(name)
    raise BadInput(
        f"There is no model {name!r}; there are {', '.join(cards)}. Add one under Models, or by `python -m flipcore models add`. "
        "A Python function is named module:function."
    )


__all__ = ["BACKENDS", "ModelCard", "model_cards", "open_backend"]
