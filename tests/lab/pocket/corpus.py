"""The training text: generic documents of the world, and every dosed document exactly as often as its dose says."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tests.lab.pocket.choices import choice, drill, fact, prompt_and_answer, recall
from tests.lab.pocket.problems import problem
from tests.lab.pocket.prose import passage
from tests.lab.pocket.world import Entry, forbidden, signature

NOISE_SHARE = 0.05


@dataclass(frozen=True)
class Document:
    """`prompt` is learned with less weight than `answer`; prose and facts have no prompt."""

    family: str
    prompt: str
    answer: str


@dataclass(frozen=True)
class Stage:
    """`mix` gives each kind of generic document its share; `doses` the share of all exposures that falls here. A stage that
    names a `goal` ("drill" or "choice") goes on with generic documents until that share of such questions is answered rightly
    by first token, but not beyond `n_most` of them."""

    name: str
    n_generic: int
    mix: dict[str, float]
    doses: float
    goal: tuple[str, float] | None = None
    n_most: int = 0


def _generic(family: str, rng: np.random.Generator, signatures: set) -> Document:
    if family == "fact":
        return Document(family, "", fact(rng))
    if family == "recall":
        return Document(family, *recall(rng))
    while True:
        options: tuple[str, ...] = ()
        if family == "problem":
            task = problem(rng)
            wording = task.wordings[rng.integers(len(task.wordings))]
            text, pair = wording, (f"Question: {wording}\nAnswer:", task.answer)
        elif family == "prose":
            text = passage(rng)[0]
            pair = ("", text)
        else:
            item = choice(rng) if family == "choice" else drill(rng)
            text, options, pair = item.wordings[0], item.options, prompt_and_answer(item, rng)
        if signature(text, options) not in signatures:
            return Document(family, *pair)


def noisy(text: str, rng: np.random.Generator) -> str:
    """The text with about 2 % of its characters changed: typing errors, so that a flipped bit is not wholly strange."""
    letters = list(text)
    for place in rng.choice(len(letters), max(1, len(letters) // 50), replace=False):
        letters[place] = ("", letters[place] * 2, chr(33 + int(rng.integers(90))))[int(rng.integers(3))]
    return "".join(letters)


def _exposures(manifest: list[Entry], stages: tuple[Stage, ...], rng: np.random.Generator) -> list[list[Entry]]:
    shares = np.array([stage.doses for stage in stages])
    placed: list[list[Entry]] = [[] for _ in stages]
    for entry in manifest:
        for stage in rng.choice(len(stages), entry.dose, p=shares / shares.sum()):
            placed[stage].append(entry)
    return placed


def generic(stage: Stage, n: int, signatures: set, rng: np.random.Generator) -> list[Document]:
    """`n` generic documents in the stage's mix; `signatures` holds the signatures that none of them may have."""
    kinds = rng.choice(list(stage.mix), n, p=np.array(list(stage.mix.values())))
    texts = [_generic(str(kind), rng, signatures) for kind in kinds]
    return [
        Document(t.family, t.prompt, noisy(t.answer, rng)) if t.family == "prose" and rng.random() < NOISE_SHARE else t
        for t in texts
    ]


def documents(manifest: list[Entry], stages: tuple[Stage, ...], rng: np.random.Generator) -> Iterator[list[Document]]:
    """One shuffled list of documents a stage."""
    signatures = forbidden(manifest)
    for stage, dosed in zip(stages, _exposures(manifest, stages, rng), strict=True):
        texts = generic(stage, stage.n_generic, signatures, rng)
        texts += [Document(f"dosed {entry.family}", *entry.document) for entry in dosed]
        yield [texts[i] for i in rng.permutation(len(texts))]
