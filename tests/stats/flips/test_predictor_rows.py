import numpy as np
import pandas as pd

from flipcore.stats.flips.predictor import predictor_rows
from tests.stats.flips.test_surface import asked, frame


def base(**changes):
    row = {"item_id": "i", "probabilities": [0.5, 0.25, 0.25], "n_options": 3, "n_prompt_chars": 40, "is_correct": True}
    return pd.DataFrame([row | changes])


def test_a_row_holds_margin_entropy_and_whether_the_item_flipped():
    row = predictor_rows(frame(asked("i", "AAB")), base(), "regex").iloc[0]
    # margin .5 - .25; entropy of (1/2, 1/4, 1/4) is 1.5 bits; 40 characters are 10 tokens
    assert (row["margin"], row["entropy_bits"], row["n_prompt_tokens"], row["flipped"]) == (0.25, 1.5, 10, 1.0)


def test_an_item_without_first_token_shares_has_no_features_but_stays():
    row = predictor_rows(frame(asked("i", "AA")), base(probabilities=[]), "regex").iloc[0]
    assert np.isnan(row["margin"]) and np.isnan(row["entropy_bits"]) and row["flipped"] == 0.0


def test_an_undefined_cell_is_missing_and_not_stable():
    rows = predictor_rows(frame(asked("i", [None, None])), base(), "regex")
    assert rows["flipped"].isna().all()


def test_the_noise_floor_is_no_axis_to_predict():
    rows = predictor_rows(frame(asked("i", "AB") + asked("i", "A", "identity")), base(), "regex")
    assert rows["axis"].tolist() == ["option_order"]
