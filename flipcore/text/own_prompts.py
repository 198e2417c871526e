"""A prompt in the user's own words: a template with named fields, rendered in a sandbox.

Templates are untrusted data. A template may use only fields, conditions, loops over the item's
lists, at most two deep, and a few filters. Without calls, assignments and arithmetic, it always
ends quickly. The length of the output is limited too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flipcore.core.errors import BadInput
from flipcore.core.records import Item

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.nodes import Filter, Node

FIELDS = {
    "question": "the question as this variant words it",
    "options": "the texts of the options in the order shown",
    "labels": "their labels",
    "choices": "pairs of label and text, for a loop",
    "letters": 'the labels in a row: "A,B,C,D"',
    "category": "the item's category as it is stored",
    "subject": "the category with blanks for underscores",
    "answer": "of an example: the label of the right option, or the right answer",
    "solution": "of an example: its worked solution",
}
FILTERS = tuple("trim upper lower capitalize title length join first last default string".split())
MAX_OUT = 200_000  # characters of one prompt
MAX_LOOPS = 2  # depth of nested loops
_LISTS = ("options", "labels", "choices")
# Types of Jinja's syntax nodes. Calls, assignments, macros, imports and arithmetic are left out,
# because with them a template could run code or never end.
_ALLOWED_NODES = frozenset(
    "Template Output TemplateData Name Getattr Getitem Const Filter If For CondExpr Compare "
    "Operand And Or Not Concat Test Slice Tuple Neg".split()
)


@dataclass(frozen=True)
class ItemView:
    """An item as a variant shows it: the wording of the question, and the options' order (indices
    of the item's options) and labels."""

    item: Item
    question: str
    order: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()

    def fields(self, *, with_answer: bool = False) -> dict[str, Any]:
        """Return the values of `FIELDS`; answer and solution only `with_answer`, for an example, so
        that no template can show the item's own."""
        options = [self.item.options[i] for i in self.order]
        values: dict[str, Any] = {
            "question": self.question,
            "options": options,
            "labels": list(self.labels),
            "choices": list(zip(self.labels, options, strict=True)),
            "letters": ",".join(self.labels),
            "category": self.item.category,
            "subject": self.item.category.replace("_", " "),
        }
        if with_answer:
            values |= {"answer": self.answer, "solution": self.item.solution}
        return values

    @property
    def answer(self) -> str:
        """The label of the first right option, or the first right answer."""
        right_answer = (self.item.target or "").split("\n")[0]
        return (
            self.labels[self.order.index(int(right_answer))]
            if self.order and right_answer
            else right_answer
        )


def rendered(text: str, fields: Mapping[str, Any], template_name: str = "The template") -> str:
    """Return the template `text` filled with `fields`. Raises BadInput for a template that cannot
    be used, and for a result that is too long."""
    from jinja2 import TemplateError

    template = _template(text, template_name)
    try:
        return _joined_up_to_limit(template.generate(fields), template_name)
    except TemplateError as error:
        raise BadInput(
            f"{template_name} cannot be filled: {error}. Its fields are {', '.join(FIELDS)}."
        ) from error
    except (TypeError, ValueError, ArithmeticError) as error:
        raise BadInput(
            f"{template_name} cannot be filled: {error}. Use the fields as text or in a loop."
        ) from error


def _joined_up_to_limit(pieces: Iterator[str], template_name: str) -> str:
    """Join the pieces; raise BadInput as soon as they are too long, before the rest is made."""
    kept, n_characters = [], 0
    for piece in pieces:
        kept.append(piece)
        n_characters += len(piece)
        if n_characters > MAX_OUT:
            raise BadInput(
                f"{template_name} gives more than {MAX_OUT:,} characters; at most {MAX_OUT:,} "
                "are sent. Shorten it."
            )
    return "".join(kept)


@lru_cache(maxsize=64)
def _template(text: str, template_name: str) -> "Template":
    """Return the compiled template after all checks; raises BadInput if one fails."""
    from jinja2 import StrictUndefined, TemplateSyntaxError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    environment.filters = {name: environment.filters[name] for name in FILTERS}
    environment.globals = {}  # no `range`, with which a loop could be endlessly long
    try:
        tree = environment.parse(text)
    except TemplateSyntaxError as error:
        message = f"{template_name} has a mistake in line {error.lineno}: {error.message}."
        raise BadInput(message) from error
    except RecursionError as error:
        raise BadInput(f"{template_name} is nested too deeply. Write it flatter.") from error
    _check(tree, template_name, n_loops=0, names=frozenset(FIELDS))
    try:
        return environment.from_string(text)
    except (TemplateSyntaxError, RecursionError, SyntaxError) as error:
        message = f"{template_name} cannot be used: {error}. Write it more simply."
        raise BadInput(message) from error


def _check(node: "Node", template_name: str, n_loops: int, names: frozenset[str]) -> None:
    """Raise BadInput for anything but the allowed nodes, filters, loops and names, recursively."""
    from jinja2 import nodes

    kind = type(node).__name__
    line = f"{template_name}, line {node.lineno},"
    if kind not in _ALLOWED_NODES:
        raise BadInput(
            f"{line} uses {kind.lower()}; a template may hold fields, if, for over options and the "
            "filters."
        )
    if isinstance(node, nodes.Filter) and node.name not in FILTERS:
        raise BadInput(f"{line} uses the filter {node.name!r}; there are {', '.join(FILTERS)}.")
    if isinstance(node, nodes.Filter) and node.name == "join" and not _joins_a_list(node):
        raise BadInput(
            f"{line} joins something else than {', '.join(_LISTS)}, or with more than one text. "
            "Write the text itself."
        )
    if isinstance(node, nodes.For):
        n_loops += 1
        is_over_list = isinstance(node.iter, nodes.Name) and node.iter.name in _LISTS
        if not is_over_list or node.recursive or n_loops > MAX_LOOPS:
            raise BadInput(
                f"{line} loops over something else than {', '.join(_LISTS)}, or more than "
                f"{MAX_LOOPS} deep."
            )
        loop_names = {
            *(name_node.name for name_node in node.target.find_all(nodes.Name)),
            getattr(node.target, "name", "loop"),
        }
        if loop_names & set(_LISTS):
            raise BadInput(
                f"{line} calls one of the things that it loops over like a list. Choose another "
                "name."
            )
        names |= {"loop", *loop_names}
    if isinstance(node, nodes.Name) and node.ctx == "load" and node.name not in names:
        raise BadInput(f"{line} reads {node.name!r}; the fields are {', '.join(FIELDS)}.")
    if isinstance(node, nodes.Getattr) and not (
        isinstance(node.node, nodes.Name) and node.node.name == "loop"
    ):
        raise BadInput(f"{line} reads an attribute; only loop has any.")
    for child in node.iter_child_nodes():
        _check(child, template_name, n_loops=n_loops, names=names)


def _joins_a_list(node: "Filter") -> bool:
    """Tell whether a join is of one of the lists, with a constant text. Nested joins, and joins of
    the letters of a text, would multiply the length."""
    from jinja2 import nodes

    is_list = isinstance(node.node, nodes.Name) and node.node.name in _LISTS
    has_constant_text = all(isinstance(argument, nodes.Const) for argument in node.args)
    return is_list and len(node.args) <= 1 and has_constant_text


def examples_text(examples: Sequence[ItemView], template: str, between: str) -> str:
    """Return all examples with their answers, each followed by `between`."""
    return "".join(_example_text(example, template) + between for example in examples)


def _example_text(example: ItemView, template: str) -> str:
    fields = example.fields(with_answer=True)
    return rendered(template, fields, template_name="The template of an example")


def example_turns(example: ItemView, question: str, template: str) -> tuple[str, str]:
    """Return an example as two turns: its question and its answer.

    The filled `template` must consist of the filled template `question`, at most one blank, and the
    answer. Raises BadInput for any other.
    """
    question_turn = rendered(question, example.fields())
    filled = _example_text(example, template)
    if not filled.startswith(question_turn) or not filled[len(question_turn) :].strip():
        raise BadInput(
            "The template of an example does not begin with the template of the question, "
            "followed by the answer, so it cannot be two turns. Begin it so, or set as_turns = "
            "false."
        )
    answer = filled[len(question_turn) :]
    return question_turn, answer[1:] if answer[0].isspace() else answer
