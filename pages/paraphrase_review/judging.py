"""Review: name and order of the reviewer, and then the pair and nothing else."""

import streamlit as st

from flipcore.access.acting import Level, Permission, acting, refusal
from flipcore.annotation.paraphrases.random_order import Order, order_of, review_view, take
from flipcore.annotation.paraphrases.verdicts import reviewer_name
from flipcore.core.errors import FlipscopeError
from flipcore.store.queries import review
from pages.common import session
from pages.common.showing import plain, shown_problem
from pages.components.boards import kept_verdicts, pair_review
from pages.paraphrase_review import which_pairs
from pages.paraphrase_review.which_pairs import INVITED, JUDGES_AS, settings_of_queue

ALL_DONE = "All done. Effect says what your verdicts changed. Press Z to undo."
NOT_ALL_SHARED = "Pairs that only one person judges belong to the first reviewer."


def reviewer() -> str:
    """Return the name of the reviewer: of their identity, else the one given in this session.

    "" until then. A name is in no link.
    """
    # Old links held the name, and a link that is passed on must not sign for somebody else.
    st.query_params.pop("as", None)
    return acting().name or st.session_state.get(JUDGES_AS, "")


def show(form_place) -> None:
    """Draw the part; `form_place` is next to the parts, for what is set rarely."""
    person = acting()
    if not person.may(Permission.JUDGE):
        st.info(plain(refusal(Permission.JUDGE, person)), icon=":material/lock:")
        return
    if not reviewer():
        _who()
        return
    with shown_problem():
        with form_place:
            settings = INVITED if person.level is Level.REVIEWER else settings_of_queue()
        _review(reviewer_name(reviewer()), settings)


def _open(part: str) -> None:
    st.session_state["part"] = part


def _who() -> None:
    n = len(review.strata(session.store()))
    if not n:
        st.info(
            "There is no paraphrase to judge yet. Bring pairs in under Propose and exchange.",
            icon=":material/upload:",
        )
        st.button(
            "Propose and exchange",
            key="to-exchange",
            icon=":material/upload:",
            on_click=_open,
            args=("Propose and exchange",),
        )
        return
    st.markdown(
        "You will see a question and a paraphrase of it, and say with **Y**, **N** or **U** "
        "whether it means the same, is as hard, and is solved the same way. You do not see what "
        "others said, nor what any model answered. Stop whenever you like: under the same name you "
        "go on where you left off."
    )
    kept_name = kept_verdicts(key="kept-verdicts")
    with st.form("who", border=False):
        name = st.text_input("Your name", max_chars=80, key="reviewer-name", width=320)
        begins = st.form_submit_button("Begin", type="primary")
    if kept_name or (begins and name.strip()):
        with shown_problem():
            st.session_state[JUDGES_AS] = reviewer_name(kept_name or name)
            st.rerun()


@st.fragment
def _review(name: str, settings: dict) -> None:
    """Draw the review again after every message; the rest of the page is not."""
    study_id = settings["study_id"]
    store = session.store()
    version = (
        str(store.path),
        review.n_pairs(store),
        review.n_reworded_readouts(store, study_id) if study_id else 0,
    )
    order = _order(
        name,
        acting().source,
        settings["shared"],
        settings["only"],
        settings["pairs"],
        study_id,
        version,
    )
    place = f"desk-{name}"
    receipt = st.session_state.get(f"{place}-taken")
    farewell = f"{ALL_DONE} {NOT_ALL_SHARED}" if settings["shared"] < 1 else ALL_DONE
    acknowledged = receipt.acknowledged if receipt else ()
    view = review_view(
        store, name, order.places, acknowledged, farewell, by_choice=not order.at_random
    )
    pair_review(view.data, key=place, on_sent=lambda: _receive(place, name, order))
    if view.n_done and acting().may(Permission.READ):
        verdicts = f"{view.n_done:,} verdict{'s' * (view.n_done > 1)}"
        if st.button(
            f"See what your {verdicts} changed", key="to-effect", on_click=_open, args=("Effect",)
        ):
            # A click within a fragment draws the fragment alone, and Effect is outside of it.
            st.rerun()
    for sentence in receipt.refusals if receipt else ():
        st.warning(plain(sentence), icon=":material/sync_problem:")


@st.cache_resource(show_spinner=False, max_entries=64)
def _order(
    name: str,
    source: str,
    shared: float,
    only: str,
    pair_ids: tuple[str, ...],
    study_id: str | None,
    version: tuple[str, int, int],
) -> Order:
    """Return a reviewer's queue.

    It changes only with the database, when pairs come in, or readouts of the study whose flips
    order it: with `version`. `source` is the one that a reviewer was invited to, and keeps their
    queue apart. `pair_ids` are the pairs of items that were selected on the flip map.
    """
    moved = which_pairs.moved_by(study_id) if study_id else None
    return order_of(
        session.store(), name, shared=shared, source=only, pair_ids=pair_ids, risk=moved
    )


def _receive(place: str, name: str, order: Order) -> None:
    """Store what came, before anything is drawn.

    Without an acknowledgement the browser sends it again.
    """
    outbox = (st.session_state.get(place) or {}).get("outbox")
    messages = outbox.get("messages") if isinstance(outbox, dict) else None
    if not isinstance(messages, list):
        return
    try:
        st.session_state[f"{place}-taken"] = take(session.store(), name, messages, order)
    except (FlipscopeError, TimeoutError) as error:
        st.toast(
            plain(f"Not stored yet, it will be sent again: {error}"), icon=":material/sync_problem:"
        )
