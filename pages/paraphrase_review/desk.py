"""The form for judgements that people give one question at a time, such as labels of outputs.

It asks for name and order, shows the progress and the next question, and can undo and stop.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from flipcore.access.acting import Permission, acting
from flipcore.core.errors import FlipscopeError
from flipcore.core.records import Item
from flipcore.store.judgements import Kind, reviewer_name
from flipcore.store.queries import judgements
from flipcore.text.answers import answer_text
from pages.common import session
from pages.common.identity import name_field
from pages.common.links import choose_linked_study
from pages.common.showing import plain, shown_problem
from pages.paraphrase_review.judging import reviewer


@dataclass(frozen=True)
class Desk:
    """The form for one kind of judgement.

    `key` is the session-state key that holds (reviewer, order), and the prefix of all other keys.
    `start_label` and `stop_label` are the labels of the buttons that start and stop. `orders` maps
    an order to its label and `captions` to a note on it. `done_word` is for progress, as in
    "3 labelled".
    """

    kind: Kind
    key: str
    start_label: str
    icon: str
    orders: Mapping[str, str]
    done_word: str
    finished_message: str
    stop_label: str
    captions: Mapping[str, str] = field(default_factory=dict)

    @property
    def reviewer_and_order(self) -> tuple[str, str] | None:
        """Return reviewer and order of the review that has begun; None before."""
        return st.session_state.get(self.key)

    def show_start_form(self) -> None:
        """Ask for name and order, and begin; nothing for those who may not decide."""
        if not acting().may(Permission.DECIDE):
            return
        # After Enter a form gives up the focus, so that shortcut keys are not typed into a field.
        with st.form(f"{self.key}-form", border=False):
            name = name_field(
                f"Your name, to {self.start_label.lower()}",
                f"{self.key}-name",
                value=reviewer(),
                max_chars=80,
                width=320,
            )
            order = st.selectbox(
                "Order",
                list(self.orders),
                key=f"{self.key}-order",
                format_func=self.orders.__getitem__,
                width=320,
            )
            if st.form_submit_button(self.start_label, type="primary", icon=self.icon):
                with shown_problem():
                    st.session_state[self.key] = reviewer_name(name), order
                    st.rerun()

    def ask(
        self, own_rows: Sequence[dict], open_ids: Sequence[str], draw: Callable[[str], None]
    ) -> None:
        """Show the progress, the first of `open_ids` (with `draw`), and buttons to undo and stop.

        `own_rows` are the reviewer's judgements so far, the latest last.
        """
        name, order = st.session_state[self.key]
        n_done, n_left = len(own_rows), len(open_ids)
        st.progress(
            n_done / max(n_done + n_left, 1),
            text=plain(f"{name}: {n_done:,} {self.done_word} · {n_left:,} left"),
        )
        if order in self.captions:
            st.caption(self.captions[order])
        if open_ids:
            draw(open_ids[0])
        else:
            st.success(f"{self.finished_message} Thank you.")
        with st.container(horizontal=True):
            if own_rows:
                st.button(
                    "Take the last one back",
                    key=f"{self.key}-undo",
                    shortcut="z",
                    icon=":material/undo:",
                    on_click=lambda: self.keep(lambda: self.kind.undo(own_rows[-1])),
                )
            if st.button(self.stop_label, key=f"{self.key}-stop", icon=":material/logout:"):
                st.session_state.pop(self.key)
                st.rerun()

    def keep(self, make_row: Callable[[], dict]) -> None:
        """Store a judgement. As a callback, it runs before the next question is drawn.

        `make_row` is called here, so that an error in it is shown as a message.
        """
        try:
            judgements.keep(session.store(), self.kind, [make_row()])
        except FlipscopeError as error:
            st.toast(plain(error), icon=":material/error:")


def draw_answer_row(
    item: Item,
    labels: Sequence[str],
    order: Sequence[int],
    key_suffix: str,
    on_answer: Callable[[str], None],
) -> DeltaGenerator:
    """Draw a button per option, or a field for a written answer; return the row of buttons.

    `order` holds the options' indices in the order of the `labels`. `on_answer` gets the option's
    index as text, or the written answer. `key_suffix` makes the keys unique.
    """
    if item.kind != "choice":
        noun, key = "number" if item.kind == "number" else "answer", f"typed-{key_suffix}"
        # In a form, Enter sends the answer.
        with st.form("typed", border=False):
            st.text_input(f"The {noun}", key=key, width=260)
            st.form_submit_button(
                f"This {noun}",
                type="primary",
                on_click=lambda: on_answer(st.session_state[key].strip()),
            )
    row = st.container(horizontal=True)
    for number, (label, option) in enumerate(zip(labels, order, strict=True), start=1):
        row.button(
            plain(f"{label}. {answer_text(item, str(option))}"),
            key=f"label-{key_suffix}-{option}",
            # A shortcut has one digit.
            shortcut=str(number) if number < 10 else None,
            on_click=on_answer,
            args=(str(option),),
        )
    return row


def choose_reviewed_study(key: str) -> str | None:
    """Ask for the study to review and return its id. Without a study show a hint, return None."""
    if names := session.names_of_studies():
        return choose_linked_study("Study", names, key, 420)
    st.info("There is no output to read yet. Declare a study and run it.", icon=":material/label:")
    st.page_link("new_study/page.py", label="Declare a study", icon=":material/add_circle:")
    return None
