"""Write a study's variants with its own prompt in place of a layout, and choose the examples.

An item is never its own example. Items that this study or an earlier one set aside are no examples,
and neither are items of another role, wherever the examples come from.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import cycle, islice
from typing import Any

from flipcore.axes.variants import collapsed
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator, nth_sample
from flipcore.core.records import CONTINUATION, EXAMPLE_TURNS, Item, Prompt, Variant
from flipcore.core.study import BY_SEED, LM_EVAL, OwnPrompt, Study
from flipcore.models.cards import model_cards
from flipcore.protocols import rotation
from flipcore.text.own_prompts import ItemView, example_turns, examples_text, rendered
from flipcore.text.prompt_presets import resolved
from flipcore.text.prompts import LAYOUTS, labels_of

OWN = "own"  # the layout of variants written with the user's own prompt
LM_EVAL_SEED = 1234  # lm-eval's default seed for examples
_ITEM_PARTS = ("stem", "options", "cue")


@dataclass(frozen=True)
class _Pool:
    """Candidates for examples. `items` are all candidates as stored. `usable` are those that may be
    shown, each with its index in `items`, in the order in which the study takes them."""

    items: tuple[Item, ...]
    usable: tuple[tuple[Item, int], ...]

    @cached_property
    def usable_rows(self) -> frozenset[int]:
        """Indices in `items` of those that may be shown."""
        return frozenset(i for _, i in self.usable)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(item.item_id for item, _ in self.usable)

    @cached_property
    def _rank(self) -> dict[str, int]:
        return {item.item_id: rank for rank, (item, _) in enumerate(self.usable)}

    @cached_property
    def _usable_items(self) -> list[Item]:
        return [item for item, _ in self.usable]

    def without(self, item: Item) -> Sequence[Item]:
        """Return the items that may be shown before `item`: all but `item` itself."""
        if self.counts[item.item_id] > 1:
            return [example for example in self._usable_items if example.item_id != item.item_id]
        # Slicing is much faster than comparing ids, and this runs once per item.
        rank = self._rank.get(item.item_id, len(self.usable))
        return self._usable_items[:rank] + self._usable_items[rank + 1 :]


@dataclass(frozen=True)
class PromptPlan:
    """A study's own prompt, with the candidates for its examples. `pools` are by (role, kind), or
    one under ("", "") where the examples come from a split. `hidden` item ids are never shown.
    `_pools` and `_draws` are caches."""

    prompt: OwnPrompt
    layout: str
    seed: int
    pools: Mapping[tuple[str, str], tuple[Item, ...]]
    roles: Mapping[str, str]
    hidden: frozenset[str]
    _pools: dict[tuple[str, str, str], _Pool] = field(
        default_factory=dict, compare=False, repr=False
    )
    _draws: dict[tuple[str, int], list[int]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def material(self) -> dict[str, Any]:
        """The facts about the prompt that axes need."""
        return {"n_examples": self.prompt.n_examples, "has_system": bool(self.prompt.system)}

    def examples(self, item: Item, selection: str = "") -> list[Item]:
        """Return the examples before the item, in order. `selection` is "" for the study's own,
        "order-1" and so on for the same ones shuffled, and "choice-1" and so on for others, as far
        as there are any. Raises BadInput if too few may be shown."""
        pool, n_examples = self._pool(item), self.prompt.n_examples
        n_usable = len(pool.usable) - pool.counts[item.item_id]
        if n_usable < n_examples:
            where = f" of the category {item.category!r}" if self.prompt.same_category else ""
            raise BadInput(
                f"{n_examples} examples{where} were asked for, and {n_usable} may be shown. Ask"
                " for fewer."
            )
        if selection.startswith("choice"):
            is_drawn_per_item = self.prompt.pick == LM_EVAL
            usable = list(self._in_order(pool, item)) if is_drawn_per_item else pool.without(item)
            return [usable[i] for i in self._draw(selection, n_usable)[:n_examples]]
        shown = list(islice(self._in_order(pool, item), n_examples))
        if selection.startswith("order"):
            rng = generator(self.seed, "example order", item.item_id, selection)
            return [shown[i] for i in rng.permutation(n_examples)]
        return shown

    def _in_order(self, pool: _Pool, item: Item) -> Iterator[Item]:
        """Yield every possible example for the item, beginning with those that are shown."""
        drawn_rows: Sequence[int] = ()
        if self.prompt.pick == LM_EVAL and self.prompt.n_examples:
            # As lm-eval draws them, so that its prompts can be reproduced: for each item anew, and
            # from all candidates, of which some may not be shown.
            n_items, n_examples = len(pool.items), self.prompt.n_examples
            drawn_rows = nth_sample(LM_EVAL_SEED, n_items, n_examples, _row_in_split(item))
            for row in drawn_rows:
                example = pool.items[row]
                if row in pool.usable_rows and example.item_id != item.item_id:
                    yield example
        drawn = set(drawn_rows)
        for example, row in pool.usable:
            if row not in drawn and example.item_id != item.item_id:
                yield example

    def _pool(self, item: Item) -> _Pool:
        """Return the (cached) pool for items of this item's role, kind and category."""
        role = self.roles.get(item.item_id, "")
        key = (role, item.kind, item.category if self.prompt.same_category else "")
        if key not in self._pools:
            items = self.pools.get(("", ""), self.pools.get((role, item.kind), ()))
            if self.prompt.same_category:
                items = tuple(example for example in items if example.category == item.category)
            order: Sequence[int] = range(len(items))
            if self.prompt.pick == BY_SEED:
                order = self._draw("examples", len(items))
            usable = []
            for row in order:
                example = items[row]
                may_show = example.item_id not in self.hidden and example.target is not None
                if may_show and self.roles.get(example.item_id, role) == role:
                    usable.append((example, row))
            self._pools[key] = _Pool(items, tuple(usable))
        return self._pools[key]

    def _draw(self, selection: str, n: int) -> list[int]:
        """Return a random permutation of n indices, the same one for all items."""
        if (selection, n) not in self._draws:
            names = ("examples",) if selection == "examples" else ("example choice", selection)
            self._draws[selection, n] = generator(self.seed, *names).permutation(n).tolist()
        return self._draws[selection, n]

    def write_variants(self, variants: Sequence[Variant], item: Item) -> list[Variant]:
        """Return the variants of one axis with the own prompt; continuations stay as they are."""
        if item.kind == "completion" and not item.solution:
            return list(variants)
        return collapsed([self._with_own_prompt(variant, item) for variant in variants])

    def _with_own_prompt(self, variant: Variant, item: Item) -> Variant:
        parts = dict(variant.prompt.parts)
        if variant.layout == CONTINUATION or "stem" not in parts:
            return variant
        # The stem is the question within the layout's own words, such as "Question: {}".
        stem_format = LAYOUTS[variant.layout].stem if variant.layout in LAYOUTS else ""
        lead, _, end = stem_format.partition("{}")
        question = parts["stem"].removeprefix(lead).removesuffix(end)
        view = ItemView(item, question, variant.order, variant.labels)
        text_before = rendered(self.prompt.before, view.fields(), "The text before the examples")
        own_system = str(variant.params.get("system", self.prompt.system))
        in_system = self.prompt.before_as_system or self.prompt.as_turns
        system = "\n\n".join(filter(None, (own_system, text_before if in_system else "")))
        examples = [
            _as_example(example)
            for example in self.examples(item, str(variant.params.get("examples", "")))
        ]
        question_parts = self._question(variant, view)
        extra = [
            (name, f"{text.strip()}\n\n")
            for name, text in variant.prompt.parts
            if name not in _ITEM_PARTS
        ]
        front = self._front("" if in_system else text_before, examples)
        return replace(
            variant, prompt=Prompt((*front, *extra, *question_parts), system), layout=OWN
        )

    def _front(self, text_before: str, examples: Sequence[ItemView]) -> tuple[tuple[str, str], ...]:
        """Return the prompt's parts before the question: one part, or the turns of a chat."""
        template = self.prompt.example or f"{self.prompt.template} {{{{ answer }}}}"
        if self.prompt.as_turns:
            turns: list[str] = []
            for example in examples:
                turns += example_turns(example, self.prompt.template, template)
            return tuple(zip(cycle(EXAMPLE_TURNS), turns, strict=False))
        text = text_before + examples_text(examples, template, self.prompt.between)
        return (("examples", text),) if text else ()

    def _question(self, variant: Variant, view: ItemView) -> tuple[tuple[str, str], ...]:
        """Return the prompt's parts from the filled template. A variant of another layout, or with
        the question after the options, keeps its own words."""
        names = [name for name, _ in variant.prompt.parts]
        if variant.layout != self.layout or (
            "options" in names and names.index("options") < names.index("stem")
        ):
            return tuple(pair for pair in variant.prompt.parts if pair[0] in _ITEM_PARTS)
        text = rendered(self.prompt.template, view.fields())
        lead, question, cue = text.partition(view.question)
        return tuple(pair for pair in (("lead", lead), ("stem", question), ("cue", cue)) if pair[1])


def _as_example(item: Item) -> ItemView:
    n = len(item.options)
    return ItemView(item, item.question, tuple(range(n)), labels_of("upper", n) if n else ())


def _row_in_split(item: Item) -> int:
    """Return the item's row in its split, a part of its id. Raises BadInput if it is not."""
    key = item.item_id.partition("/")[2].partition("@")[0]
    if not key.isdecimal():
        raise BadInput(
            f"lm-eval's examples follow from an item's row in its split, and {item.item_id} holds"
            " none. Choose pick = first."
        )
    return int(key)


def prompt_plan(
    study: Study, items: Sequence[tuple[Item, str]], hidden: frozenset[str]
) -> PromptPlan | None:
    """Return the plan of the study's own prompt; None if the study has none. Raises BadInput
    if the protocol or a model cannot use it."""
    if study.prompt is None:
        return None
    if study.protocol.name == rotation.PROTOCOL.name:
        raise BadInput(
            "The rotation protocol writes prompts of its own. Take single_shot, or leave the own"
            " prompt out."
        )
    own_prompt = resolved(study.prompt)
    if own_prompt.as_turns and own_prompt.n_examples:
        _check_chat(study)
    pools: dict[tuple[str, str], tuple[Item, ...]] = {}
    if own_prompt.examples_from is not None and own_prompt.n_examples:
        from flipcore.datasets import load_report

        pools[("", "")] = tuple(load_report(own_prompt.examples_from).items)
    else:
        by_kind: dict[tuple[str, str], list[Item]] = {}
        for item, role in items:
            by_kind.setdefault((role, item.kind), []).append(item)
        pools = {key: tuple(members) for key, members in by_kind.items()}
    roles = {item.item_id: role for item, role in items}
    return PromptPlan(own_prompt, study.layout, study.seed, pools=pools, roles=roles, hidden=hidden)


def _check_chat(study: Study) -> None:
    """Raise BadInput for a model without a chat: examples as turns would run together."""
    cards = model_cards()
    for use in study.models:
        card = cards.get(use.name)
        if card is None or (
            card.backend != "simulated"
            and (card.backend, card.api) != ("openai_compatible", "chat")
        ):
            raise BadInput(
                "Examples as turns of a conversation need a model that a server is asked for by"
                f" chat, and {use.name} is not. Set as_turns = false, or choose another model."
            )
