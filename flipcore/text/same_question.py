"""The same question under several ids: such items count as one cluster."""

from collections.abc import Hashable, Iterable, Sequence

from flipcore.core.records import Item

NO_QUESTION = "(no question in the log)"  # stands for a question that a log does not show


def question_key(
    question: str, options: Sequence[str] = (), right: str = ""
) -> tuple[str, ...] | None:
    """Return a key that is equal for items with the same question; None without a known question.

    Case, spaces and the order of the options do not count. `right` is the right answer in words.
    Equal texts with different answers depend on something outside the text, so they differ.
    """
    text = _folded(question)
    if not text or text == _folded(NO_QUESTION):
        return None
    return (text, _folded(right), *sorted(map(_folded, options)))


def item_key(item: Item) -> tuple[str, ...] | None:
    """Return the `question_key` of an item."""
    right = item.target or ""
    if item.options and right.isdecimal() and int(right) < len(item.options):
        right = item.options[int(right)]
    return question_key(item.question, item.options, right)


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def joined_clusters(clusters: Iterable[str], keys: Iterable[Hashable | None]) -> list[str]:
    """Return each item's cluster after joining clusters that have a question in common. A joined
    cluster gets the first of its names in alphabetical order. None as a key joins nothing."""
    names = list(clusters)
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.get(name, name) != name:
            name = parent[name]
        return name

    name_of_key: dict[Hashable, str] = {}
    for name, key in zip(names, keys, strict=True):
        if key is None:
            continue
        first, second = sorted((root(name_of_key.setdefault(key, name)), root(name)))
        parent[second] = first
    return [root(name) for name in names]
