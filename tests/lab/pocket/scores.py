"""Every detector's scores on the manifest, measured once from inference and kept beside the card that is written from them."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.paths import POCKET
from flipcore.detectors.completion import DETECTORS as COMPLETIONS
from flipcore.detectors.ts_guessing import DETECTORS as GUESSES
from flipcore.models.pocket_inference import PocketModel
from flipcore.stats.memory.exceedance import SetTest, set_test
from tests.lab.pocket.measures import (
    answer_loss,
    beside_reference,
    completion,
    context_loss,
    min_k,
    min_k_plus,
    numbers,
    pearl,
    published_answer,
    question_loss,
    resampled,
)
from tests.lab.pocket.world import Entry

SCORES = POCKET / "scores.json"
DIGITS = 5
PEARL = "PEARL (ROUGE-L), prose"
DROP = "drop, numbers resampled, problems"
BEFORE, AFTER = "right as written, problems", "right with new numbers, problems"
GROUPS = ("fresh", "0", "1", "4", "16", "64", "256")
DETECTORS: dict[str, tuple[str, Callable[[PocketModel, Sequence[Entry]], np.ndarray]]] = {
    "question loss, problems": ("problems", question_loss),
    "question loss, choices": ("choices", question_loss),
    "question loss, prose": ("prose", question_loss),
    "answer loss, problems": ("problems", answer_loss),
    "answer loss, choices": ("choices", answer_loss),
    "min-k %, problems": ("problems", min_k),
    "min-k %, choices": ("choices", min_k),
    "min-k %, prose": ("prose", min_k),
    "min-k %++, problems": ("problems", min_k_plus),
    "min-k %++, choices": ("choices", min_k_plus),
    "min-k %++, prose": ("prose", min_k_plus),
    **{
        f"{one.title}, {family}": (family, partial(completion, measure=one.measure))
        for one in COMPLETIONS
        for family in ("problems", "choices", "prose")
    },
    **{
        f"{detector.title}, choices": ("choices", partial(completion, measure=detector.measure, axis_name=detector.axis))
        for detector in GUESSES
    },
}
# Tried and not shipped, for what they see where the truth is known.
ANSWER_KEPT = "published answer to new numbers, problems"
FAILED: dict[str, tuple[str, Callable[[PocketModel, Sequence[Entry]], np.ndarray]]] = {
    ANSWER_KEPT: ("problems", published_answer),
    **{f"CoDeC, {family}": (family, context_loss) for family in ("problems", "choices", "prose")},
}
# Measured once beside a model that is not shipped (`python -m tests.lab.pocket reference`), and kept as long as the model is the same.
BESIDE = {f"loss beside a reference model, {family}": family for family in ("problems", "choices", "prose")}
Families = dict[str, dict[str, list[Entry]]]  # family -> group -> its entries
Scores = dict[str, dict[str, np.ndarray]]  # detector -> group -> one value an item, in the manifest's order
TITLES = (*DETECTORS, *BESIDE, DROP, PEARL, *FAILED)
MEASURED = tuple(title for title in TITLES if title not in BESIDE)


def own_test(title: str, d: np.ndarray, d0: np.ndarray) -> SetTest:
    """The test of a set by the detector that a title begins with."""
    if title == ANSWER_KEPT:
        return COMPLETIONS[1].set_test(d, d0)
    for detector in (*COMPLETIONS, *GUESSES):
        if title.startswith(detector.title):
            return detector.set_test(d, d0)
    return set_test(d, d0)


def scores_of(title: str, model: PocketModel, families: Families, n_samples: int = 10) -> Scores:
    """One detector's scores of each group, large where memory is suspected, with what they are made of; PEARL takes `n_samples` a
    level."""
    if title == PEARL:
        return {title: {name: pearl(model, entries, n_samples) for name, entries in families["prose"].items()}}
    if title == DROP:
        answers = {name: right(model, entries) for name, entries in families["problems"].items()}
        before, after = ({name: both[i] for name, both in answers.items()} for i in (0, 1))
        return {title: {name: before[name] - after[name] for name in answers}, BEFORE: before, AFTER: after}
    family, measure = (DETECTORS | FAILED)[title]
    return {title: {name: measure(model, entries) for name, entries in families[family].items()}}


def kept_scores(model: PocketModel, families: Families) -> Scores:
    """Every detector's scores: those that are stored for this model, and the others, measured and stored one by one."""
    revision, scores = read_scores() if SCORES.exists() else (model.revision, {})
    scores = scores if revision == model.revision else {}
    for title in MEASURED:
        if title not in scores:
            scores |= scores_of(title, model, families)
            write_scores(scores, model.revision)
    return {title: scores[title] for title in TITLES if title in scores}


def write_beside(model: PocketModel, reference: PocketModel, families: Families) -> None:
    """Store losses beside a reference model with the other scores of this model."""
    revision, scores = read_scores()
    if revision != model.revision:
        raise BadInput("The stored scores are another model's: run `python -m tests.lab.pocket decisions` first.")
    for title, family in BESIDE.items():
        scores[title] = {name: beside_reference(model, reference, entries) for name, entries in families[family].items()}
    write_scores(scores, revision)


def right(model: PocketModel, entries: Sequence[Entry]) -> tuple[np.ndarray, np.ndarray]:
    """(right as written, right with new numbers) of each problem, 1 or 0; NaN twice where the rewrite method refuses."""
    values = np.full((2, len(entries)), np.nan)
    pairs = [(i, entry, rewrite) for i, entry in enumerate(entries) if (rewrite := resampled(entry)) is not None]
    before = numbers(model, [entry.question for _, entry, _ in pairs])
    after = numbers(model, [question for _, _, (question, _) in pairs])
    for (i, entry, (_, target)), was, now in zip(pairs, before, after, strict=True):
        values[:, i] = was == entry.target, now == target
    return values[0], values[1]


def write_scores(scores: Scores, revision: str, path: Path = SCORES) -> None:
    """JSON with the model's revision; NaN is null."""
    plain = {
        title: {name: [None if np.isnan(x) else round(float(x), DIGITS) for x in values] for name, values in groups.items()}
        for title, groups in scores.items()
    }
    path.write_text(json.dumps({"revision": revision, "scores": plain}) + "\n", encoding="utf-8")


def read_scores(path: Path = SCORES) -> tuple[str, Scores]:
    """(revision of the model, scores) as `write_scores` left them."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return content["revision"], {
        title: {name: np.array(values, dtype=float) for name, values in groups.items()}
        for title, groups in content["scores"].items()
    }
