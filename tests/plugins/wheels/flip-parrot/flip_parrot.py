"""A kind of model, and one model of it: it names a label by the letters of the prompt, and takes it back now and then."""

import zlib

from flipcore.core.contracts import Backend
from flipcore.core.finish import STOP
from flipcore.core.records import Completion
from flipcore.models import ModelKind
from flipcore.models.cards import ModelCard


class Parrot(Backend):
    simulated = False
    abilities = frozenset({"generate"})

    def __init__(self, card):
        self.name, self.revision = card.name, "parrot-1"

    def why_not(self, ability):
        return "" if ability in self.abilities else f"A parrot cannot do {ability}."

    async def complete(self, call):
        number = zlib.crc32(call.request.prompt.encode())
        answer = f"The answer is {'AB'[number % 2]}."
        if number % 3 == 0:
            answer += " My sister would have said D"
        return Completion(call.call_id, "ok", answer, STOP, cost_usd=0.0)


CARD = ModelCard("parrot-1", "parrot", abilities=("generate",), price_in=0.0, price_out=0.0)
KIND = ModelKind("parrot", "Parrot", "It says a letter.", Parrot, (CARD,))
