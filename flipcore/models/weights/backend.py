"""Open weights as a backend: loaded at the first call, shared by all who ask the same checkpoint, let go when nobody does."""

import threading
from pathlib import Path
from weakref import WeakValueDictionary

from flipcore.core.errors import BadInput
from flipcore.core.finish import separate_reasoning
from flipcore.core.records import SPREAD, Call, Completion
from flipcore.models.batched import Batched, answers, prompt_of, scores
from flipcore.models.cards import ModelCard
from flipcore.models.weights.files import check_packages, folder_of, weights_digest
from flipcore.models.weights.inference import OpenModel, Text

BATCH = 16
DTYPE = "float32"
_in_memory: WeakValueDictionary[tuple[Path, str, str, str], OpenModel] = WeakValueDictionary()
_loading = threading.Lock()


class OpenWeights(Batched):
    """`card.model` is a folder or a name of the hub in this machine's cache; `card.api` says whether prompts are raw text
    ("completions") or set by the checkpoint's chat template ("chat"), which cannot be scored. `card.options` may hold `dtype`,
    `device` and `batch`. Raises BadInput where the checkpoint is not there and MissingPackage without torch or transformers."""

    def __init__(self, card: ModelCard) -> None:
        check_packages()
        super().__init__()
        self.card, self.name, self.called = card, card.name, card.name
        self.batch = card.options.get("batch", BATCH)
        self._folder = folder_of(card.model)
        self._dtype, self._device = card.options.get("dtype", DTYPE), card.options.get("device", "auto")
        self._weights = weights_digest(self._folder)
        without = " without system" if "system" in card.refuses else ""
        self.revision = f"{self._weights} {self._dtype} {card.api}{without}"
        can = frozenset(card.abilities) - ({"score", SPREAD} if card.api == "chat" else set())
        self.abilities = can | ({SPREAD} if "score" in can else set())  # what gives one gives the other
        self._model: OpenModel | None = None
        self._fault = ""

    @property
    def down(self) -> str:
        """Why nothing can be computed, or ""."""
        return self._fault

    def why_not(self, ability: str) -> str:
        if ability in self.abilities:
            return ""
        if ability in ("score", SPREAD) and self.card.api == "chat":
            return (
                f"{self.name} is asked through its chat template, which scores no given text. Add it with the completions API."
            )
        return f"{self.name} does not give {ability.replace('_', ' ')}, says its entry under Models."

    async def complete(self, call: Call) -> Completion:
        if call.request.ability not in self.abilities:
            return Completion(call.call_id, "failed", error=self.why_not(call.request.ability))
        if call.request.effort or call.request.reasoning_budget:
            return Completion(call.call_id, "failed", error=f"{self.name} does not take a reasoning effort or budget.")
        return await super().complete(call)

    async def close(self) -> None:
        await super().close()
        self._model = None

    def open(self) -> OpenModel:
        """The checkpoint in memory; BadInput where it cannot be loaded, which is then remembered."""
        if self._fault:
            raise BadInput(self._fault)
        if self._model is None:
            try:
                self._model = _shared(self._folder, self._weights, self._dtype, self._device)
            except BadInput as error:
                self._fault = str(error)
                raise
        return self._model

    def answered(self, calls: list[Call]) -> list[Completion]:
        model = self.open()
        if calls[0].request.kind == "score":
            return scores(calls, model)
        return [separate_reasoning(one) for one in answers(calls, model, [self._set(model, call) for call in calls])]

    def _set(self, model: OpenModel, call: Call) -> Text:
        request = call.request
        if self.card.api == "completions":
            return Text(prompt_of(call) + request.continuation)
        apart = "system" not in self.card.refuses
        return model.chat(request.prompt if apart else prompt_of(call), request.system if apart else "")


def _shared(folder: Path, weights: str, dtype: str, device: str) -> OpenModel:
    """The checkpoint in memory, loaded if it is not there yet: two studies of one model share it."""
    key = (folder, weights, dtype, device)
    with _loading:
        model = _in_memory.get(key)
        if model is None:
            model = _in_memory[key] = OpenModel.load(folder, dtype, device)
        return model
