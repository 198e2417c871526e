"""The pocket model as a backend."""

from pathlib import Path

from flipcore.core.errors import MissingAbility
from flipcore.core.paths import POCKET
from flipcore.core.records import ABILITIES, Call, Completion
from flipcore.models.batched import Batched, answers, prompt_of, scores


class Pocket(Batched):
    """`generate`, `first_token_logprobs` and `score` on the shipped checkpoint, deterministic for a seed and sample."""

    called = "The pocket model"
    abilities = frozenset(ABILITIES)

    def __init__(self, name: str = "pocket", path: Path | None = None, bits: int = 16) -> None:
        """`bits` a weight: fewer than the checkpoint's 16 are those that its matrices are rounded to."""
        from flipcore.models.pocket_inference import PocketModel

        path = path or POCKET
        if not (path / "model.safetensors").is_file():
            raise MissingAbility(
                f"The pocket model is not in {path}: in a clone, train it with `python -m tests.lab.pocket train`."
            )
        super().__init__()
        self._model = PocketModel.load(path, bits)
        self.name, self.revision = name, self._model.revision

    def answered(self, calls: list[Call]) -> list[Completion]:
        if calls[0].request.kind == "score":
            return scores(calls, self._model)
        return answers(calls, self._model, [prompt_of(call) + call.request.continuation for call in calls])
