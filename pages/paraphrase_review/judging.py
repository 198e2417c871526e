"""The part Review: people judge paraphrases, one pair at a time."""

import streamlit as st

from flipcore.access.acting import Level, Permission, acting, refusal
from flipcore.annotation.paraphrases.random_order import Order, order_of, review_view, take
from flipcore.annotation.paraphrases.verdicts import reviewer_name
from flipcore.core.errors import FlipscopeError
from flipcore.store.queries import review
from flipcore.text.counts import count_of
from pages.common import session
from pages.common.showing import plain, shown_problem
from pages.components.boards import kept_verdicts, pair_review
from pages.paraphrase_review import which_pairs
from pages.paraphrase_review.which_pairs import INVITED, JUDGES_AS, choose_queue

ALL_DONE = "All done. Effect says what your verdicts changed. Press Z to undo."
NOT_ALL_SHARED = "Pairs that only one person judges belong to the first reviewer."


def reviewer() -> str:
    """Return the reviewer's name, from their identity or as typed in this session; "" before."""
    # Old links hold a name. Remove it, because a shared link must not sign for somebody else.
    st.query_params.pop("as", None)
    return acting().name or st.session_state.get(JUDGES_AS, "")


def show(form_place) -> None:
    """Draw the part; the settings of the queue go to `form_place`."""
    person = acting()
    if not person.may(Permission.JUDGE):
        st.info(plain(refusal(Permission.JUDGE, person)), icon=":material/lock:")
        return
    if not reviewer():
        _ask_name()
        return
    with shown_problem():
        with form_place:
            settings = INVITED if person.level is Level.REVIEWER else choose_queue()
        _review(reviewer_name(reviewer()), settings)


def _open_part(part: str) -> None:
    st.session_state["part"] = part


def _ask_name() -> None:
    """Explain the review and ask for the reviewer's name; a hint if there are no pairs."""
    if not review.pairs_with_source(session.store()):
        st.info(
            "There is no paraphrase to judge yet. Bring pairs in under Propose and exchange.",
            icon=":material/upload:",
        )
        st.button(
            "Propose and exchange",
            key="to-exchange",
            icon=":material/upload:",
            on_click=_open_part,
            args=("Propose and exchange",),
        )
        return
    st.markdown(
        "You will see a question and a paraphrase of it, and say with **Y**, **N** or **U** "
        "whether it means the same, is as hard, and is solved the same way. You do not see what "
        "others said, nor what any model answered. Stop whenever you like: under the same name you "
        "go on where you left off."
    )
    # The browser may hold verdicts that were not sent yet; it then returns their reviewer's name.
    kept_name = kept_verdicts(key="kept-verdicts")
    with st.form("who", border=False):
        name = st.text_input("Your name", max_chars=80, key="reviewer-name", width=320)
        is_submitted = st.form_submit_button("Begin", type="primary")
    if kept_name or (is_submitted and name.strip()):
        with shown_problem():
            st.session_state[JUDGES_AS] = reviewer_name(kept_name or name)
            st.rerun()


@st.fragment
def _review(name: str, settings: dict) -> None:
    """Show the pair to judge. As a fragment, it is drawn again after every message."""
    study_id = settings["study_id"]
    store = session.store()
    version = (
        str(store.path),
        review.n_pairs(store),
        review.n_readouts_on_review_axes(store, study_id) if study_id else 0,
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
    key = f"desk-{name}"
    receipt = st.session_state.get(f"{key}-taken")
    farewell = f"{ALL_DONE} {NOT_ALL_SHARED}" if settings["shared"] < 1 else ALL_DONE
    acknowledged = receipt.acknowledged if receipt else ()
    view = review_view(
        store, name, order.places, acknowledged, farewell, by_choice=not order.at_random
    )
    pair_review(view.data, key=key, on_sent=lambda: _receive(key, name, order))
    if view.n_done and acting().may(Permission.READ):
        verdicts = count_of(view.n_done, "verdict")
        if st.button(
            f"See what your {verdicts} changed",
            key="to-effect",
            on_click=_open_part,
            args=("Effect",),
        ):
            # A click in a fragment draws the fragment only, and Effect is outside of it.
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
    """Return a reviewer's queue, cached until `version` changes.

    The version changes with new pairs, or with new readouts of the study whose flips give the
    order. `source` is the source to which a reviewer was invited; it only keeps caches apart.
    `pair_ids` are the pairs of items that were selected on the flip map.
    """
    risk = which_pairs.moved_by(study_id) if study_id else None
    return order_of(session.store(), name, shared=shared, source=only, pair_ids=pair_ids, risk=risk)


def _receive(key: str, name: str, order: Order) -> None:
    """Store the verdicts that the browser sent; a callback, which runs before the drawing.

    The browser sends verdicts again until they are acknowledged.
    """
    outbox = (st.session_state.get(key) or {}).get("outbox")
    messages = outbox.get("messages") if isinstance(outbox, dict) else None
    if not isinstance(messages, list):
        return
    try:
        st.session_state[f"{key}-taken"] = take(session.store(), name, messages, order)
    except (FlipscopeError, TimeoutError) as error:
        st.toast(
            plain(f"Not stored yet, it will be sent again: {error}"), icon=":material/sync_problem:"
        )
