"""How a model is asked for a paraphrase: one prompt, or a chain in which each step rewrites what the last one wrote.

Source 001 chains a translation to French and back, other names for named entities, and restructured clauses. A prompt is a
template with the one field {text}; a page may show it and let it be edited.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.core.wordings import PARAPHRASE, into, language_of

_ONLY = "Reply with the rewritten text alone.\n\nText: {text}\n\nRewritten:"
_PLAIN = "Say the text in other words. Keep every number, name, unit and negation, what is asked, and how hard it is. " + _ONLY
_FRENCH = "Translate the text into French. Reply with the translation alone.\n\nText: {text}\n\nFrench:"
_BACK = "Translate the text into English. Reply with the translation alone.\n\nText: {text}\n\nEnglish:"
_ENTITIES = (
    "Replace places, objects and organisations in the text by others of the same kind where that changes nothing "
    "about the answer. Keep people's names, numbers and units. " + _ONLY
)
_CLAUSES = (
    "Put the clauses and sentences of the text into another order or form: active for passive, one sentence for two. "
    "Keep every fact, number, name and negation. " + _ONLY
)


@dataclass(frozen=True)
class Recipe:
    """`steps` are templates, applied one after the other."""

    name: str
    title: str
    about: str
    steps: tuple[str, ...]
    change: str = PARAPHRASE

    def with_steps(self, steps: Sequence[str]) -> "Recipe":
        """The recipe with edited prompts, under a name of its own if they differ; raises BadInput for one without {text}."""
        for number, step in enumerate(steps, start=1):
            if step.count("{text}") != 1:
                raise BadInput(
                    f"The prompt of step {number} has {{text}} {step.count('{text}')} times; it needs it once, "
                    "where the text to be rewritten goes."
                )
        name = self.name if tuple(steps) == self.steps else f"{self.name}, edited {digest(*steps)[:6]}"
        return replace(self, name=name, steps=tuple(steps))

    def prompt(self, step: int, text: str) -> str:
        """The prompt of a step; braces in the text stay as they are."""
        return self.steps[step].replace("{text}", text)


TRANSLATION = "translation"


def translation(language: str) -> Recipe:
    """Asks for a translation. Raises BadInput for what is no name of a language."""
    name = language_of(into(language))
    step = (
        f"Translate the text into {name}. Keep every number, formula, name, unit and negation, what is asked, and how hard it is. "
        f"Reply with the translation alone.\n\nText: {{text}}\n\n{name}:"
    )
    return Recipe(f"{TRANSLATION} into {name}", f"Into {name}", "One translation.", (step,), into(name))


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("paraphrase", "Paraphrase", "One prompt: the same in other words.", (_PLAIN,)),
        Recipe("back_translation", "To French and back", "Two translations.", (_FRENCH, _BACK)),
        Recipe("restructured", "Clauses restructured", "The same facts in another order and form.", (_CLAUSES,)),
        Recipe(
            "chain",
            "The source's chain",
            "To French and back, other places and things, clauses restructured.",
            (_FRENCH, _BACK, _ENTITIES, _CLAUSES),
        ),
    )
}
