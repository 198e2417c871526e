"""Small multiples: one panel a model, one scale."""

import numpy as np

from flipcore.charts.by_model import flip_panels
from flipcore.charts.theme import LIGHT


def test_every_panel_has_its_own_cells_and_all_share_one_scale():
    rates = {"A": np.array([[0.0, 1.0], [np.nan, 0.5]]), "B<b>": np.array([[0.2, 0.2], [0.1, 0.0]])}
    figure = flip_panels(rates, ["option_order", "label_set"], LIGHT, "items")
    assert [one.z.shape for one in figure.data] == [(2, 2), (2, 2)] and {one.coloraxis for one in figure.data} == {"coloraxis"}
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    assert [one.text for one in figure.layout.annotations] == ["A", "B&lt;b&gt;"]
