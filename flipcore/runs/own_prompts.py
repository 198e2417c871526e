"""A study's own prompt put in the place of its layout: which examples stand before an item, and every variant in those words.

An item that this study or an earlier one set aside is nobody's example, no item is its own, and none of another role in the study is,
wherever the examples come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flipcore.axes.variants import collapsed
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator, nth_sample
from flipcore.core.records import CONTINUATION, Item, Prompt, Variant
from flipcore.core.study import BY_SEED, LM_EVAL, OwnPrompt, Study
from flipcore.protocols import rotation
from flipcore.text.own_prompts import ItemView, examples_text, rendered
from flipcore.text.prompt_presets import resolved
from flipcore.text.prompts import LAYOUTS, labels_of

if TYPE_CHECKING:
    from flipcore.store.connection import Store

OWN = "own"  # the layout of variants in the user's own words
LM_EVAL_SEED = 1234  # the seed of its examples
_ITEM_PARTS = ("stem", "options", "cue")


@dataclass(frozen=True)
class PromptPlan:
    """`pools` are by (role, kind), or one under ("", "") where the examples come from a split; `hidden` items are never shown."""

    own: OwnPrompt
    layout: str
    seed: int
    pools: Mapping[tuple[str, str], tuple[Item, ...]]
    roles: Mapping[str, str]
    hidden: frozenset[str]

    @property
    def material(self) -> dict[str, Any]:
        """What axes are told of it."""
        return {"n_examples": self.own.n_examples, "has_system": bool(self.own.system)}

    def examples(self, item: Item, how: str = "") -> list[Item]:
        """What stands before the item, in order. Raises BadInput where there are too few. `how` is "" or what the axis of their
        order and choice asks for: "order-1" the same ones shuffled, "choice-1" others as far as there are any."""
        usable = self._usable(item)
        first, n = usable[: self.own.n_examples], self.own.n_examples
        if how.startswith("order"):
            shuffle = generator(self.seed, "example order", item.item_id, how).permutation(n)
            return [first[i] for i in shuffle]
        if how.startswith("choice"):
            draw = generator(self.seed, "example choice", how).permutation(len(usable))
            return [usable[i] for i in draw[:n]]
        return first

    def _usable(self, item: Item) -> list[Item]:
        """Everything that may stand before the item, those first that do. BadInput where there are too few."""
        own = self.own
        pool = self.pools.get(("", ""), self.pools.get((self.roles.get(item.item_id, ""), item.kind), ()))
        if own.same_category:
            pool = tuple(one for one in pool if one.category == item.category)
        order = list(dict.fromkeys([*self._order(item, len(pool)), *range(len(pool))]))
        role, others = self.roles.get(item.item_id, ""), self.hidden | {item.item_id}
        usable = [
            one
            for one in (pool[i] for i in order)
            if one.item_id not in others and one.target is not None and self.roles.get(one.item_id, role) == role
        ]
        if len(usable) < own.n_examples:
            where = f" of the category {item.category!r}" if own.same_category else ""
            raise BadInput(f"{own.n_examples} examples{where} were asked for, and {len(usable)} may be shown. Ask for fewer.")
        return usable

    def _order(self, item: Item, size: int) -> Sequence[int]:
        if self.own.pick == LM_EVAL and self.own.n_examples:
            return nth_sample(LM_EVAL_SEED, size, self.own.n_examples, _row(item))
        if self.own.pick == BY_SEED:
            return [int(i) for i in generator(self.seed, "examples").permutation(size)]
        return range(size)

    def applied(self, variants: Sequence[Variant], item: Item) -> list[Variant]:
        """The variants of one axis in the study's own words; those that ask for a continuation stay as they are."""
        if item.kind == "completion" and not item.solution:
            return list(variants)
        return collapsed([self._worded(one, item) for one in variants])

    def _worded(self, variant: Variant, item: Item) -> Variant:
        parts = dict(variant.prompt.parts)
        if variant.layout == CONTINUATION or "stem" not in parts:
            return variant
        lead, _, end = LAYOUTS[variant.layout].stem.partition("{}") if variant.layout in LAYOUTS else ("", "", "")
        question = parts["stem"].removeprefix(lead).removesuffix(end)
        view = ItemView(item, question, variant.order, variant.labels)
        before = rendered(self.own.before, view.fields(), "The text before the examples")
        own_system = str(variant.params.get("system", self.own.system))
        system = "\n\n".join(filter(None, (own_system, before if self.own.before_as_system else "")))
        examples = [_as_example(one) for one in self.examples(item, str(variant.params.get("examples", "")))]
        front = ("" if self.own.before_as_system else before) + self._examples_text(examples)
        middle = self._question(variant, view)
        extra = [(name, f"{text.strip()}\n\n") for name, text in variant.prompt.parts if name not in _ITEM_PARTS]
        every = ((("examples", front),) if front else ()) + (*extra, *middle)
        return replace(variant, prompt=Prompt(every, system), layout=OWN)

    def _examples_text(self, examples: Sequence[ItemView]) -> str:
        template = self.own.example or f"{self.own.template} {{{{ answer }}}}"
        return examples_text(examples, template, self.own.between)

    def _question(self, variant: Variant, view: ItemView) -> tuple[tuple[str, str], ...]:
        """The template filled; a variant of another layout, or with the question behind the options, keeps its own words behind
        the same examples."""
        names = [name for name, _ in variant.prompt.parts]
        if variant.layout != self.layout or ("options" in names and names.index("options") < names.index("stem")):
            return tuple(pair for pair in variant.prompt.parts if pair[0] in _ITEM_PARTS)
        text = rendered(self.own.template, view.fields())
        lead, question, rest = text.partition(view.question)
        return tuple(pair for pair in (("lead", lead), ("stem", question), ("cue", rest)) if pair[1])


def _as_example(item: Item) -> ItemView:
    n = len(item.options)
    return ItemView(item, item.question, tuple(range(n)), labels_of("upper", n) if n else ())


def _row(item: Item) -> int:
    """The item's row in its split, which its id holds."""
    key = item.item_id.partition("/")[2].partition("@")[0]
    if not key.isdecimal():
        raise BadInput(
            f"lm-eval's examples follow from an item's row in its split, and {item.item_id} holds none. Choose pick = first."
        )
    return int(key)


def prompt_plan(
    study: Study, items: Sequence[tuple[Item, str]], hidden: frozenset[str], store: Store | None = None
) -> PromptPlan | None:
    """None where the study has no prompt of its own. `hidden` items were set aside, by this study or an earlier one."""
    if study.prompt is None:
        return None
    if study.protocol.name == rotation.PROTOCOL.name:
        raise BadInput("The rotation protocol writes prompts of its own. Take single_shot, or leave the own prompt out.")
    own, pools = resolved(study.prompt), {}
    if own.examples_from is not None and own.n_examples:
        from flipcore.datasets import load_report

        pools[("", "")] = tuple(load_report(own.examples_from).items)
    else:
        for item, role in items:
            pools[role, item.kind] = (*pools.get((role, item.kind), ()), item)
    return PromptPlan(own, study.layout, study.seed, pools, {item.item_id: role for item, role in items}, hidden)
