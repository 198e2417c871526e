"""Testing one of the user's own models and keeping what was found out, whatever its kind."""

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from flipcore.access.observers import tell
from flipcore.models import own_models
from flipcore.models.cards import ModelCard
from flipcore.models.kinds import probed
from flipcore.models.probe_record import card_after, record_of, report


def ask_and_keep(card: ModelCard) -> list[str]:
    """Tests one of the user's own models, keeps what was found out, and returns what to say. Raises BadInput where the model
    cannot be asked; the card then stays as it was."""
    require(Permission.MODELS)
    tell("tested a model", card.name)
    before, record = record_of(card), probed(card)
    after = card_after(card, record)
    own_models.save(after, card.name)
    return report(after, before, record)
