"""Pairs to review, and a store that holds them."""

from flipcore.store.queries import review

SAME = {"meaning": "yes", "difficulty": "yes", "solution_path": "yes"}
OTHER = SAME | {"meaning": "no"}


def made_pairs(n, dataset="set", generator="maker"):
    return [
        {
            "pair_id": f"{dataset}-{generator}-{i:03d}",
            "dataset": dataset,
            "item_id": f"{dataset}/{i}",
            "generator": generator,
            "original": f"How many apples are in box {i}?",
            "paraphrase": f"Box {i} holds how many apples?",
        }
        for i in range(n)
    ]


def stored(store, pairs):
    review.keep_pairs(store, pairs)
    return {pair["pair_id"]: pair for pair in pairs}
