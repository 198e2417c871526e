"""Each readout by itself: its flip rate with the bounds that unreadable answers leave, and the rate as results arrived."""

import streamlit as st

from flipcore.charts.sequence import sequence
from flipcore.core.records import IDENTITY
from flipcore.extractors import title_of
from flipcore.stats.base.estimate import number_text, p_text
from flipcore.stats.flips.per_readout import alone, arriving
from pages.common import screen
from pages.common.cached import cached
from pages.common.notes import plain
from pages.common.tables import show_figure, show_table
from pages.flips.board_data import answers


def section(study_id: str, model: str, mode: str, policy: str) -> None:
    with st.expander("Each extractor by itself: bounds, any flip, and p beyond the noise floor"):
        show_table(
            "each-extractor",
            [
                {
                    "axis": one.axis.replace("_", " "),
                    "readout": title_of(one.extractor),
                    "T": one.T.text(),
                    "T at least": number_text(one.lowest),
                    "T at most": number_text(one.highest),
                    "pooled over pairs": number_text(one.micro),
                    "items that flip at all": one.any_flip.text(),
                    "modal agreement": number_text(one.modal_agreement),
                    "entropy, bits": number_text(one.entropy_bits),
                    "beyond the noise floor": p_text(p),
                    "items": one.n_items,
                    "note": one.note,
                }
                for one, p in _alone(study_id, model, mode, policy)
            ],
        )
        st.caption(
            "T at least and at most: what it could be, whatever the unreadable answers said (single samples only). Beyond the noise floor: "
            "is the change worse than a second sample of the same prompt? A permutation of the readouts within items; – "
            "where nothing was asked twice."
        )
    with st.expander("The flip rate as results arrived"):
        axes = [axis for axis in answers(study_id, model, mode).axes if axis != IDENTITY]
        axis = screen.select("Axis", axes, "arriving-axis", format_func=lambda name: name.replace("_", " "), width=280)
        paths = {title_of(name): path for name, path in _arriving(study_id, model, mode, axis, policy).items()}
        show_figure("arriving", lambda c: sequence(paths, c, "flip rate T"))
        st.caption(
            plain(
                "95 % limits that hold at every number of items at once, so that a study may be watched and stopped "
                "at any moment (empirical Bernstein confidence sequence, arXiv:2010.09686)."
            )
        )


@cached("Permuting the readouts", 12)
def _alone(study_id: str, model: str, mode: str, policy: str):
    return alone(answers(study_id, model, mode), policy)


@cached("Following the items as they arrived", 12)
def _arriving(study_id: str, model: str, mode: str, axis: str, policy: str):
    return arriving(answers(study_id, model, mode), axis, policy)
