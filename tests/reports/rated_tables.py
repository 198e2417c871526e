"""Tables in which several people rated each output."""

import json

PEOPLE = ("anna", "bilal", "chen")


def verdict(i, k):
    return {"correct": int((i + k * (i % 3 == 0)) % 3 > 0)}


def grade(i, k):
    return {"rating": 1 + (i + 2 * k * (i % 3 == 0)) % 5}


def rated(folder, score, *, prompts=(), people=PEOPLE, has_question=False):
    """A table of ratings by several people of each output."""
    rows = []
    for i in range(24):
        for prompt in prompts or ("",):
            for k, who in enumerate(people):
                row = {
                    "item_id": f"d{i}",
                    "annotator": who,
                    "response": f"The {prompt} summary of document {i} is this.",
                    **score(i, k),
                }
                if prompt or has_question:
                    row["prompt"] = f"{prompt} Summarize the long document of number {i}."
                rows.append(row | ({"variant": prompt} if prompt else {}))
    path = folder / "rated.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path
