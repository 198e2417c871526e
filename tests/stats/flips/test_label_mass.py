"""Labels that cannot be read as first tokens are said, and only where the mass is known and low throughout."""

import pandas as pd

from flipcore.stats.flips.label_mass import unreadable_labels


def rows(variant: str, masses: list) -> list[dict]:
    place = {"model": "lab", "extractor": "first_token", "axis": "label_set", "variant": variant}
    return [place | {"label_mass": mass} for mass in masses]


def test_digits_that_a_vocabulary_splits_are_named_with_their_count():
    frame = pd.DataFrame(
        rows("digits", [0.0] * 23) + rows("lower", [0.9] * 23) + rows("few", [0.0] * 3) + rows("unknown", [None] * 9)
    )
    (said,) = unreadable_labels(frame)
    assert "label set digits" in said and "23 of 23 answers" in said and "they hold 0.00" in said
    assert unreadable_labels(pd.DataFrame(rows("unknown", [None] * 9))) == []
