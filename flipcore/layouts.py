"""Prompt layouts: the same item set out in different harmless ways, as named parts whose concatenation is the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.errors import BadInput
from flipcore.records import Item, Prompt

LABEL_SETS: dict[str, tuple[str, ...]] = {
    "upper": tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    "lower": tuple("abcdefghijklmnopqrstuvwxyz"),
    "digits": tuple(str(i) for i in range(1, 27)),
    "pqrs": tuple("PQRSTUVWXYZ"),
    "roman": ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
}


def labels_of(name: str, n_options: int) -> tuple[str, ...]:
    """The first labels of a set; BadInput when the set is shorter than the options."""
    if name not in LABEL_SETS:
        raise BadInput(f"There is no label set {name!r}; choose one of {', '.join(LABEL_SETS)}.")
    if len(LABEL_SETS[name]) < n_options:
        raise BadInput(f"The label set {name!r} has {len(LABEL_SETS[name])} labels, but an item has {n_options} options; "
                       "choose a longer set or other items.")
    return LABEL_SETS[name][:n_options]


@dataclass(frozen=True)
class Layout:
    """`option` formats one option from label and text; `join` puts them together."""

    title: str
    stem: str
    option: str
    join: str
    cue: str
    number_cue: str


LAYOUTS: dict[str, Layout] = {
    "plain": Layout("Plain (A. option)", "Question: {}\n", "{}. {}", "\n", "\nAnswer:", "Answer:"),
    "paren": Layout("Parentheses ((A) option)", "Question: {}\n", "({}) {}", "\n", "\nAnswer:", "Answer:"),
    "bracket": Layout("Bracket (A) option", "Question: {}\n", "{}) {}", "\n", "\nAnswer:", "Answer:"),
    "inline": Layout("On one line", "Question: {}\n", "{}. {}", "; ", "\nAnswer:", "Answer:"),
    "bare": Layout("Without headings", "{}\n", "{}. {}", "\n", "\nThe answer is", "The answer is"),
    "instruct": Layout(
        "Instructions for a chat model",
        "Answer the question below. Think it through briefly, then end with a line \"Answer: \" followed by your answer "
        "alone.\n\nQuestion: {}\n", "{}. {}", "\n", "\n\nEnd with \"Answer: \" and one label.",
        "\nEnd with \"Answer: \" and one number."),
}


def prompt(item: Item, *, question: str | None = None, order: Sequence[int] | None = None,
           labels: Sequence[str] | None = None, layout: str = "plain", system: str = "") -> Prompt:
    """The item in a layout. `order[i]` is the item's index of the option at position i."""
    if layout not in LAYOUTS:
        raise BadInput(f"There is no prompt layout {layout!r}; choose one of {', '.join(LAYOUTS)}.")
    text, chosen = item.question if question is None else question, LAYOUTS[layout]
    if item.kind == "completion":
        return Prompt((("stem", text),), system)
    stem = ("stem", chosen.stem.format(text))
    if item.kind == "number":
        return Prompt((stem, ("cue", chosen.number_cue)), system)
    order = range(len(item.options)) if order is None else order
    labels = labels_of("upper", len(item.options)) if labels is None else labels
    shown = chosen.join.join(chosen.option.format(label, item.options[i]) for label, i in zip(labels, order, strict=True))
    return Prompt((stem, ("options", shown), ("cue", chosen.cue)), system)

