"""Prompt layouts: an item set out in different harmless ways, as named parts whose concatenation is
the prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.core.errors import BadInput
from flipcore.core.records import CODE, Item, Prompt

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
        raise BadInput(
            f"The label set {name!r} has {len(LABEL_SETS[name])} labels, but an item has "
            f"{n_options} options; choose a longer set or other items."
        )
    return LABEL_SETS[name][:n_options]


_WHOLE = "Reply with the whole function in one code block.\n\n```python\n{}\n```\n"


@dataclass(frozen=True)
class Layout:
    """`option` formats one option from label and text; `join` puts them together. `code` is all of
    it where a function is asked for."""

    title: str
    stem: str
    option: str
    join: str
    cue: str
    number_cue: str
    free_cue: str = "Answer:"
    code: str = f"Complete this Python function. {_WHOLE}"


LAYOUTS: dict[str, Layout] = {
    "plain": Layout(
        "Plain (A. option)",
        "Question: {}\n",
        option="{}. {}",
        join="\n",
        cue="\nAnswer:",
        number_cue="Answer:",
    ),
    "paren": Layout(
        "Parentheses ((A) option)",
        "Question: {}\n",
        option="({}) {}",
        join="\n",
        cue="\nAnswer:",
        number_cue="Answer:",
    ),
    "bracket": Layout(
        "Bracket (A) option",
        "Question: {}\n",
        option="{}) {}",
        join="\n",
        cue="\nAnswer:",
        number_cue="Answer:",
    ),
    "inline": Layout(
        "On one line",
        "Question: {}\n",
        option="{}. {}",
        join="; ",
        cue="\nAnswer:",
        number_cue="Answer:",
    ),
    "bare": Layout(
        "Without headings",
        "{}\n",
        option="{}. {}",
        join="\n",
        cue="\nThe answer is",
        number_cue="The answer is",
        free_cue="The answer is",
        code="{}",
    ),
    "helpful": Layout(
        "Helpful prompt",
        "Somebody who needs the true answer asks the question below. Take it literally, think of "
        "how the world really is, and do not repeat what people only believe.\n\nQuestion: {}\n",
        option="{}. {}",
        join="\n",
        cue="\nAnswer:",
        number_cue="Answer:",
        code="Somebody needs this Python function and will run it as you write it. Complete it. "
        f"{_WHOLE}",
    ),
    "instruct": Layout(
        "Instructions for a chat model",
        'Answer the question below. Think it through briefly, then end with a line "Answer: " '
        "followed by your "
        "answer alone.\n\nQuestion: {}\n",
        option="{}. {}",
        join="\n",
        cue='\n\nEnd with "Answer: " and one label.',
        number_cue='\nEnd with "Answer: " and one number.',
        free_cue='\nEnd with "Answer: " and the answer alone.',
        code=f"Think briefly about what this Python function must do, then complete it. {_WHOLE}",
    ),
}


def layout_by_name(name: str) -> Layout:
    """The layout of that name. Raises BadInput with those there are."""
    if name not in LAYOUTS:
        raise BadInput(f"There is no prompt layout {name!r}; choose one of {', '.join(LAYOUTS)}.")
    return LAYOUTS[name]


def prompt(
    item: Item,
    *,
    question: str | None = None,
    order: Sequence[int] | None = None,
    labels: Sequence[str] | None = None,
    layout: str = "plain",
    system: str = "",
) -> Prompt:
    """The item in a layout. `order[i]` is the item's index of the option at position i, `labels[i]`
    the label there.

    A completion item is its raw text in every layout, but where it has a solution it is a question
    with an answer in free words and is laid out like a problem. Raises BadInput for an unknown
    layout, an order that is no permutation, and labels that are too few or not different.
    """
    text, template = item.question if question is None else question, layout_by_name(layout)
    if item.kind == "completion" and not item.solution:
        return Prompt((("stem", text),), system)
    if item.kind == CODE:
        # Code has braces of its own, at which `format` would fail.
        return Prompt((("stem", template.code.replace("{}", text)),), system)
    stem = ("stem", template.stem.format(text))
    if item.kind != "choice":
        return Prompt(
            (stem, ("cue", template.number_cue if item.kind == "number" else template.free_cue)),
            system,
        )
    order = tuple(range(len(item.options)) if order is None else order)
    labels = tuple(labels_of("upper", len(item.options)) if labels is None else labels)
    _check(item, order, labels=labels)
    lines = [
        template.option.format(label, item.options[i])
        for label, i in zip(labels, order, strict=True)
    ]
    return Prompt((stem, ("options", template.join.join(lines)), ("cue", template.cue)), system)


def _check(item: Item, order: tuple[int, ...], labels: tuple[str, ...]) -> None:
    n_options = len(item.options)
    if sorted(order) != list(range(n_options)):
        raise BadInput(
            f"The order {list(order)} does not name each of the {n_options} options of "
            f"{item.item_id} once; give a permutation of 0 to {n_options - 1}."
        )
    if len(labels) != n_options or len(set(labels)) != n_options:
        raise BadInput(
            f"{item.item_id} has {n_options} options, but the labels are "
            f"{', '.join(labels) or 'none'}; give one different label for each option."
        )
