"""Items, variants and completions for the extractors' tests."""

from flipcore.axes.variants import variant
from flipcore.core.records import Completion, Item

METALS = ("rye", "barley", "tin", "oats")


def choice(options=METALS, target="2", question="Which of these is a metal?"):
    return Item.make(dataset="t", key="1", kind="choice", question=question, options=tuple(options), target=target)


def number(target="18", question="How many eggs?"):
    return Item.make(dataset="t", key="2", kind="number", question=question, target=target)


def shown(item, **rest):
    return variant(item, "identity", "base", "plain", **rest)


def said(text, **rest):
    return Completion("c", "ok", text=text, **rest)


FAILED = Completion("c", "failed", error="The server is down.")
