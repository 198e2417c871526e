"""The items of the invented world and their doses: which item was put how often, in which wording, into the training."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

import numpy as np

from flipcore.core.randomness import world_generator
from flipcore.core.records import Item
from tests.lab.pocket.choices import choice, framed
from tests.lab.pocket.problems import problem
from tests.lab.pocket.prose import passage

SEED = 20
TRAINING_SEED = 21  # of the shipped network and its text; the items come from SEED whatever it is
DOSES = {256: 60, 64: 40, 16: 40, 4: 40, 1: 40}  # exposures over the whole training: items a family
N_CONTROLS = 150  # never seen; thresholds may be calibrated on them
N_FRESH = 400  # never seen and never used by a calibration: the false-positive check
FAMILIES = ("problems", "choices", "prose")


@dataclass(frozen=True)
class Entry:
    """One item of the manifest. `paraphrases` are its other wordings (never trained on); `answer` continues the prompt."""

    family: str
    key: str
    question: str
    options: tuple[str, ...]
    target: str | None
    answer: str
    category: str
    paraphrases: tuple[str, ...]
    dose: int
    split: str  # "dosed", "control" or "fresh"

    @property
    def document(self) -> tuple[str, str]:
        """What the training text holds: the prompt of the product's plain layout, and its answer."""
        if self.family == "prose":
            return "", self.question
        if self.family == "choices":
            return framed(self.question, self.options), self.answer
        return f"Question: {self.question}\nAnswer:", self.answer

    @property
    def item(self) -> Item:
        name, kind = {
            "problems": ("pocket_problems", "number"),
            "choices": ("pocket_choice", "choice"),
            "prose": ("pocket_prose", "completion"),
        }[self.family]
        return Item.make(
            dataset=name,
            key=self.key,
            kind=kind,
            question=self.question,
            options=self.options,
            target=self.target,
            category=self.category,
            solution=self.answer.strip() if kind == "number" else "",
            meta={"dose": self.dose, "split": self.split, "paraphrases": list(self.paraphrases)},
        )


def _problem(rng: np.random.Generator) -> dict:
    task = problem(rng)
    turn = int(rng.integers(len(task.wordings)))
    others = task.wordings[:turn] + task.wordings[turn + 1 :]
    return {
        "question": task.wordings[turn],
        "options": (),
        "target": task.target,
        "answer": task.answer,
        "category": task.template,
        "paraphrases": others,
    }


def _choice(rng: np.random.Generator) -> dict:
    """What leaks is the published item with its key: the answer is the letter alone."""
    item = choice(rng)
    turn = int(rng.integers(len(item.wordings)))
    others = item.wordings[:turn] + item.wordings[turn + 1 :]
    return {
        "question": item.wordings[turn],
        "options": item.options,
        "target": str(item.target),
        "answer": f" {'ABCD'[item.target]}",
        "category": item.kind,
        "paraphrases": others,
    }


def _prose(rng: np.random.Generator) -> dict:
    text, other = passage(rng)
    return {"question": text, "options": (), "target": None, "answer": "", "category": "passage", "paraphrases": (other,)}


MAKERS: dict[str, Callable[[np.random.Generator], dict]] = {"problems": _problem, "choices": _choice, "prose": _prose}


def signature(question: str, options: Iterable[str]) -> tuple[str, frozenset[str]]:
    """Two items with one signature are the same item whatever the order of their options."""
    return question, frozenset(options)


def entries(seed: int = SEED) -> list[Entry]:
    """The whole manifest: 770 items a family, doses dealt at random over items of one making, so controls match."""
    manifest: list[Entry] = []
    for family in FAMILIES:
        rng = world_generator(seed, "pocket", family)
        plan = [(dose, "dosed") for dose, n in DOSES.items() for _ in range(n)]
        plan += [(0, "control")] * N_CONTROLS + [(0, "fresh")] * N_FRESH
        signatures: set[tuple[str, frozenset[str]]] = set()
        for number, (dose, split) in enumerate(plan):
            fields = MAKERS[family](rng)
            while not signatures.isdisjoint(forms := _signatures(fields)):
                fields = MAKERS[family](rng)
            signatures |= forms
            manifest.append(Entry(family=family, key=f"{number:03d}", dose=dose, split=split, **fields))
    return manifest


def _signatures(fields: dict) -> set[tuple[str, frozenset[str]]]:
    return {signature(text, fields["options"]) for text in (fields["question"], *fields["paraphrases"])}


def forbidden(manifest: Iterable[Entry]) -> set[tuple[str, frozenset[str]]]:
    """What no generic document may hold: every item of the manifest in every wording."""
    return {form for entry in manifest for form in _signatures(asdict(entry))}
