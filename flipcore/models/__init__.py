"""Models: each turns a Call into a Completion.

They come from data/models.toml, the user's own file and installed packages.
"""

from collections.abc import Mapping
from pathlib import Path

from flipcore.core.command_line import command
from flipcore.core.contracts import Backend
from flipcore.core.errors import BadInput
from flipcore.core.records import SANDBOX
from flipcore.models.cards import ModelCard
from flipcore.models.cards import model_cards as declared_cards
from flipcore.models.kinds import BACKENDS, open_card
from flipcore.models.kinds import ModelKind as ModelKind


def model_cards(path: Path | None = None) -> dict[str, ModelCard]:
    """Return all models by name: the declared ones, then those of installed packages.
    BadInput names the table and the key that is wrong."""
    cards = declared_cards(path)
    for kind in BACKENDS.values():
        for card in kind.cards:
            cards.setdefault(card.name, card)
    return cards


def open_backend(name: str, cards: Mapping[str, ModelCard] | None = None) -> Backend:
    """Open a model, the sandbox for code, or the Python function `module:function`.
    BadInput lists the models."""
    if name == SANDBOX:
        from flipcore.models.code_sandbox import CodeSandbox

        return CodeSandbox()
    cards = model_cards() if cards is None else cards
    if name in cards:
        return open_card(cards[name])
    if ":" in name:
        from flipcore.models.callable import PythonCallable

        return PythonCallable(name)
    raise BadInput(
        f"There is no model {name!r}; there are {', '.join(cards)}. Add one under Models, or by "
        f"`{command('models add')}`. A Python function is named module:function."
    )
