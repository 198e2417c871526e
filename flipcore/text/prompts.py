"""Prompt layouts: harmless ways to format an item, as named parts that join to the prompt."""

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
    """Return the first `n_options` labels of a set. Raises BadInput for an unknown set and for one
    with too few labels."""
    if name not in LABEL_SETS:
        raise BadInput(f"There is no label set {name!r}; choose one of {', '.join(LABEL_SETS)}.")
    if len(LABEL_SETS[name]) < n_options:
        raise BadInput(
            f"The label set {name!r} has {len(LABEL_SETS[name])} labels, but an item has "
            f"{n_options} options; choose a longer set or other items."
        )
    return LABEL_SETS[name][:n_options]


_REPLY = "Reply with the whole function in one code block.\n\n```python\n{}\n```\n"


@dataclass(frozen=True)
class Layout:
    """The parts of a prompt. `option` formats one option from its label and text, and `join` is the
    text between options. `code` is the whole prompt for an item that asks for a function."""

    title: str
    stem: str = "Question: {}\n"
    option: str = "{}. {}"
    join: str = "\n"
    cue: str = "\nAnswer:"
    number_cue: str = "Answer:"
    free_cue: str = "Answer:"
    code: str = f"Complete this Python function. {_REPLY}"


LAYOUTS: dict[str, Layout] = {
    "plain": Layout("Plain (A. option)"),
    "paren": Layout("Parentheses ((A) option)", option="({}) {}"),
    "bracket": Layout("Bracket (A) option", option="{}) {}"),
    "inline": Layout("On one line", join="; "),
    "bare": Layout(
        "Without headings",
        stem="{}\n",
        cue="\nThe answer is",
        number_cue="The answer is",
        free_cue="The answer is",
        code="{}",
    ),
    "helpful": Layout(
        "Helpful prompt",
        stem="Somebody who needs the true answer asks the question below. Take it literally, think "
        "of how the world really is, and do not repeat what people only believe.\n\n"
        "Question: {}\n",
        code="Somebody needs this Python function and will run it as you write it. Complete it. "
        f"{_REPLY}",
    ),
    "instruct": Layout(
        "Instructions for a chat model",
        stem="Answer the question below. Think it through briefly, then end with a line "
        '"Answer: " followed by your answer alone.\n\nQuestion: {}\n',
        cue='\n\nEnd with "Answer: " and one label.',
        number_cue='\nEnd with "Answer: " and one number.',
        free_cue='\nEnd with "Answer: " and the answer alone.',
        code=f"Think briefly about what this Python function must do, then complete it. {_REPLY}",
    ),
}


def layout_by_name(name: str) -> Layout:
    """Return the layout of that name; raises BadInput for an unknown one."""
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
    """Return the item in a layout.

    `order[i]` is the item's index of the option at position i, and `labels[i]` the label there. A
    completion item is its raw text in every layout, unless it has a solution: then it is a question
    with a free answer. Raises BadInput for an unknown layout, an order
    that is not a permutation, and labels that are too few or equal.
    """
    text, template = item.question if question is None else question, layout_by_name(layout)
    if item.kind == "completion" and not item.solution:
        return Prompt((("stem", text),), system)
    if item.kind == CODE:
        # Not `format`, which would fail at braces in the code.
        return Prompt((("stem", template.code.replace("{}", text)),), system)
    stem = ("stem", template.stem.format(text))
    if item.kind != "choice":
        cue = template.number_cue if item.kind == "number" else template.free_cue
        return Prompt((stem, ("cue", cue)), system)
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
