"""Purposes of a new study: plain questions, each with the axes and extractors that answer it."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from flipcore.axes import AXES
from flipcore.core.contracts import Extractor
from flipcore.core.errors import FlipscopeError
from flipcore.core.study import Study
from flipcore.extractors import EXTRACTORS
from flipcore.models import model_cards, open_backend

ANSWERS = ("first_token", "regex", "cloze", "text_match", "unit_tests")
LOSSES = ("answer_loss", "question_loss", "min_k", "rouge_l", "ncd")


@dataclass(frozen=True)
class Purpose:
    """A question in the user's words, and the names of the axes and extractors that it needs."""

    name: str
    question: str
    about: str
    axes: tuple[str, ...]
    extractors: tuple[str, ...]

    def parts_for(self, kinds: Collection[str]) -> set[str]:
        """Return the names of its axes and extractors that apply to items of these kinds."""
        names = set()
        for registry, chosen in ((AXES, self.axes), (EXTRACTORS, self.extractors)):
            for name in chosen:
                if registry[name].applies_to & set(kinds):
                    names.add(name)
        return names


PURPOSES = (
    Purpose(
        "flips",
        "Do harmless changes flip the answer?",
        "Other order, labels and format.",
        ("identity", "option_order", "label_set", "prompt_format"),
        ANSWERS,
    ),
    Purpose(
        "score",
        "Would other prompts change the score?",
        "Many changes at once.",
        ("identity", "combined"),
        ANSWERS,
    ),
    Purpose(
        "memory",
        "Does it remember these questions?",
        "Needs control questions too.",
        ("identity", "paraphrase", "numeric_resample", "entity_rename", "bit_flip"),
        ("regex", *LOSSES),
    ),
)


def is_asked(purpose: Purpose, study: Study, kinds: Collection[str]) -> bool:
    """Tell whether a study of items of these kinds has every axis and extractor of a purpose."""
    declared = {part.name for part in (*study.axes, *study.extractors)}
    wanted = purpose.parts_for(kinds)
    return bool(wanted) and wanted <= declared


def parts_of(purposes: Iterable[Purpose]) -> set[str]:
    """Return the names of the axes and extractors of all these purposes."""
    names: set[str] = set()
    for purpose in purposes:
        names.update(purpose.axes, purpose.extractors)
    return names


def why_unread(extractor: Extractor, models: Iterable[str]) -> str:
    """Say why no model can be read by an extractor; "" if one can."""
    reasons = []
    for name in models:
        try:
            backend = open_backend(name, model_cards())
        except FlipscopeError:
            # The page reports this error where the model is chosen.
            return ""
        missing = [ability for ability in extractor.abilities if ability not in backend.abilities]
        if not missing:
            return ""
        reasons.append(f"{name}: {backend.why_not(missing[0])}")
    return reasons[0] if reasons else ""
