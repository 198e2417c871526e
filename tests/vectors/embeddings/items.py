"""Small sets of entries with a known make-up."""

from flipcore.core.records import Item

TOPICS = {"animals": "dog cat horse cow sheep goat hen duck", "numbers": "three seven nine eleven twelve twenty forty sixty"}


def entry(key, question, *options, dataset="made", kind="choice", **rest) -> Item:
    return Item.make(dataset=dataset, key=str(key), kind=kind, question=question, options=options, **rest)


def topical(topic: str, n: int, dataset: str = "made", **rest) -> list[Item]:
    """`n` questions about two of the topic's words each, every text different."""
    words = TOPICS[topic].split()
    return [
        entry(
            f"{topic}{i}",
            f"Is the {words[i % 8]} before the {words[(i // 8 + i + 1) % 8]} in row {i}?",
            "yes",
            "no",
            dataset=dataset,
            **rest,
        )
        for i in range(n)
    ]
