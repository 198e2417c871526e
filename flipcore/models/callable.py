"""A Python function as a model: `module:function`, a function `answer(prompt) -> str` or an object
with `is_correct(item)`."""

import asyncio
import importlib
import inspect
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from flipcore.core.contracts import Backend
from flipcore.core.errors import BadInput
from flipcore.core.finish import STOP, separate_reasoning
from flipcore.core.records import Call, Completion, Item, Variant, digest
from flipcore.text.prompts import LAYOUTS

VARIABLE = "FLIPSCOPE_CALLABLES"  # modules, or module:function, separated by commas


class PythonCallable(Backend):
    """A backend that only generates. For an object with `is_correct(item)` (the interface of source
    000) it writes the right answer or a wrong one."""

    simulated = False
    abilities = frozenset({"generate"})

    def __init__(self, name: str) -> None:
        self.name = name
        self._function = _import_callable(name)
        self.revision = str(getattr(self._function, "revision", "")) or _source_digest(
            self._function
        )
        self._by_prompt: dict[str, tuple[Item, Variant]] = {}

    def prepare(
        self,
        items: Iterable[Item],
        variants: Iterable[Variant],
        roles: Mapping[str, str] | None = None,
    ) -> None:
        """Remember the item of each prompt, which `is_correct(item)` needs."""
        by_id = {item.item_id: item for item in items}
        self._by_prompt |= {
            v.prompt.text: (by_id[v.item_id], v) for v in variants if v.item_id in by_id
        }

    def why_not(self, ability: str) -> str:
        return f"{self.name} is a Python function: it gives text and no log-probabilities."

    async def complete(self, call: Call) -> Completion:
        try:
            text = await asyncio.to_thread(self._text, call)
        # The user's code may raise anything.
        except Exception as error:
            return Completion(
                call.call_id, "failed", error=f"{self.name} raised {type(error).__name__}: {error}"
            )
        if not isinstance(text, str):
            return Completion(
                call.call_id,
                "failed",
                error=f"{self.name} returned {type(text).__name__}, not the text of an answer.",
            )
        return separate_reasoning(
            Completion(call.call_id, "ok", text=text, finish_reason=STOP, cost_usd=0.0)
        )

    def _text(self, call: Call) -> str:
        if not hasattr(self._function, "is_correct"):
            return self._function(call.request.prompt)
        if call.request.prompt not in self._by_prompt:
            raise BadInput("is_correct(item) answers only the items of its own study")
        item, variant = self._by_prompt[call.request.prompt]
        is_right = bool(self._function.is_correct(_as_asked(item, variant)))
        if item.kind == "number":
            return f"#### {variant.target}" if is_right else f"#### {variant.target}1"
        if item.kind == "text":
            return (
                (variant.target or "").split("\n")[0] if is_right else "none of the right answers"
            )
        position = _right_position(variant)
        return variant.labels[position if is_right else (position + 1) % len(variant.labels)]


def _right_position(variant: Variant) -> int:
    """Return the position of the right option in the order shown."""
    if variant.target is None:
        raise BadInput("is_correct(item) needs items with a right answer")
    return variant.order.index(int(variant.target))


def _as_asked(item: Item, variant: Variant) -> Item:
    """Return the item with the variant's question and target, its options in the order shown."""
    stem = dict(variant.prompt.parts).get("stem", item.question)
    before, _, after = (
        LAYOUTS[variant.layout].stem.partition("{}") if variant.layout in LAYOUTS else ("", "", "")
    )
    target = variant.target if item.kind != "choice" else str(_right_position(variant))
    return replace(
        item,
        question=stem.removeprefix(before).removesuffix(after),
        target=target,
        options=tuple(item.options[i] for i in variant.order),
    )


def _source_digest(function) -> str:
    """Return a revision that changes with the function's source.
    So answers of an older version are not taken for answers of this one."""
    try:
        return digest(
            inspect.getsource(function if inspect.isroutine(function) else type(function))
        )
    except (OSError, TypeError):
        return "callable"


def _check_allowed(name: str) -> None:
    """Raise BadInput unless the admin allows this code.
    A study is data from anybody, so it cannot allow code itself. Call this before any import."""
    names = [entry.strip() for entry in os.environ.get(VARIABLE, "").split(",") if entry.strip()]
    if name.partition(":")[0] not in names and name not in names:
        raise BadInput(
            f"{name!r} is Python code that this Flipscope does not run: {VARIABLE} allows "
            f"{', '.join(names) or 'no module'}. Let the admin add its module to {VARIABLE}, then "
            "start again."
        )


def _check_own(name: str, target) -> None:
    """Raise BadInput for a function that an allowed module only imported (`from os import
    system`)."""
    module = name.partition(":")[0]
    names = [entry.strip() for entry in os.environ.get(VARIABLE, "").split(",")]
    owner = getattr(target, "__module__", None) or getattr(type(target), "__module__", None)
    if (
        name not in names
        and owner is not None
        and owner != module
        and not owner.startswith(f"{module}.")
    ):
        raise BadInput(
            f"{name!r} belongs to {owner} and not to {module}. Let the admin add {name!r} itself "
            f"to {VARIABLE}."
        )


def _import_callable(name: str):
    module, _, attribute = name.partition(":")
    _check_allowed(name)
    try:
        target = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # importing runs the user's code
        raise BadInput(
            f"{name} cannot be imported ({type(error).__name__}: {error}). Name it "
            "module:function, on the Python path."
        ) from error
    _check_own(name, target)
    target = target() if inspect.isclass(target) else target
    if not callable(target) and not hasattr(target, "is_correct"):
        raise BadInput(f"{name} is no function and has no method is_correct(item).")
    return target
