"""A study in small, for the backends' tests: items, variants, and a backend's completions."""

import asyncio

from flipcore.axes import axis_of as axis
from flipcore.core.contracts import Material
from flipcore.core.randomness import generator
from flipcore.core.records import Call, Item, Request


def items(n, n_options=4):
    return [
        Item.make(
            dataset="sim",
            key=str(i),
            kind="choice",
            question=f"Question {i}?",
            target=str(i % n_options),
            options=tuple(f"option {i} {j}" for j in range(n_options)),
        )
        for i in range(n)
    ]


def variants(of, name="option_order", **params):
    return [v for item in of for v in axis(name, params).variants(item, "plain", generator(0, item.item_id), Material())]


def asked(backend, requests, samples=(0,)):
    """Completions of all requests and samples, in order."""

    async def main():
        try:
            return [
                await backend.complete(Call(backend.name, backend.revision, request, sample))
                for request in requests
                for sample in samples
            ]
        finally:
            await backend.close()

    return asyncio.run(main())


def words(variant):
    return Request("generate", variant.prompt.text, max_tokens=64, temperature=0.7)


def first(variant):
    return Request("first_token", variant.prompt.text, max_tokens=1, top_k=20)
