"""Readouts of several models, written by hand: model -> way -> right or wrong of each item."""

import pandas as pd

OK, CUT, UNREADABLE, ABSENT = "ok", "cut", "unreadable", "absent"


def readouts(right: dict[str, dict[tuple[str, str, str], str]], families=None, role="benchmark") -> pd.DataFrame:
    """`right[model][axis, variant, extractor]` has a letter an item: 1 right, 0 wrong, c cut off, u unreadable, - absent."""
    rows = [
        {
            "model": model,
            "item_id": f"i{i}",
            "role": role,
            "axis": axis,
            "variant_id": f"i{i}-{variant if variant == 'base' else axis + variant}",
            "variant": variant,
            "sample": 0,
            "extractor": extractor,
            "status": {"c": CUT, "u": UNREADABLE, "-": ABSENT}.get(letter, OK),
            "is_correct": None if letter == "-" else letter == "1",
            "family": f"i{i}" if families is None else families[i],
        }
        for model, ways in right.items()
        for (axis, variant, extractor), letters in ways.items()
        for i, letter in enumerate(letters)
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(is_correct=frame["is_correct"].astype(object).where(frame["is_correct"].notna(), None))
