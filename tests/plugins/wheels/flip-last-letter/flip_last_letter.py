"""An extractor: the last label that stands alone in the written answer."""

import re
from dataclasses import dataclass
from typing import ClassVar

from flipcore.core.contracts import Extractor, Need
from flipcore.core.records import OK, Reading
from flipcore.extractors.readings import no_answer, text_request, unreadable


@dataclass(frozen=True)
class LastLetter(Extractor):
    name: ClassVar[str] = "last_letter"
    title: ClassVar[str] = "Last letter"
    about: ClassVar[str] = "The last label that stands alone in the answer."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})
    abilities: ClassVar[frozenset[str]] = frozenset({"generate"})

    def needs(self, item, variant, ask, so_far):
        return [Need(text_request(variant, ask))]

    def read(self, item, variant, completions):
        nothing = no_answer(completions)
        if nothing:
            return nothing
        labels = [word for word in re.findall(r"\w+", completions[0].text) if word in variant.labels]
        if not labels:
            return unreadable("No label stands alone in the answer.")
        return Reading(OK, answer=str(variant.order[variant.labels.index(labels[-1])]))


EXTRACTOR = LastLetter()
