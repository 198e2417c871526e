"""One study as a card: headline, state, provenance, and what can be done with it."""

import streamlit as st

from flipcore.core.bounds import MAX_BUDGET_USD
from flipcore.core.study import Study
from flipcore.reports.declaration import items_text
from flipcore.reports.ranking import compares_models
from flipcore.runs.cost import dollars
from flipcore.runs.harnesses.writing import HARNESSES, zipped_variants
from flipcore.runs.progress import calls_text
from flipcore.store.queries import budgets, studies
from pages.common import screen, session
from pages.common.header import badges, show_badges, show_progress
from pages.common.headline import leading_sentences, tenth_of
from pages.common.showing import offer_file, plain, shown_problem
from pages.common.tab_title import draw_again
from pages.navigation import BY_FOLDER, PAGES, Entry


def draw_card(row: dict, *, running: bool) -> None:
    """Draw the card of a study; `row` is its `study_row`.

    `running` must be read before the row, so that a study that ends in between is drawn again.
    """
    if row["problem"]:
        draw_unreadable(row)
        return
    study_id = row["study_id"]
    with st.container(border=True, key=f"card-{study_id}"):
        left, right = st.columns([5, 2], vertical_alignment="center")
        with left.container(gap="xxsmall"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"**{plain(row['name'])}**", width="content")
                failed = f" · {int(row['n_failed']):,} failed" if row["n_failed"] else ""
                items = items_text(session.store(), row)
                st.caption(plain(f"{', '.join(row['models'])} · {items}{failed}"), width="content")
            with screen.reserved_space(f"summary-{study_id}", 50, 100):
                _show_summary(study_id)
        with right.container(gap="xxsmall"):
            if running:
                show_live_state(study_id)
            else:
                show_state(row)
            _draw_actions(row, running=running)


# In parallel, so that other cards need not wait for the sentences of this one.
@st.fragment(parallel=True)
def _show_summary(study_id: str) -> None:
    """Show the study's first sentence, and the others on hover.

    A running study's sentences are computed again with each tenth of its calls.
    """
    first, *other_sentences = leading_sentences(study_id) or [""]
    st.markdown(plain(first), help=plain(" ".join(other_sentences)) or None)


def _draw_actions(row: dict, *, running: bool) -> None:
    """Draw the buttons to cancel, start or open the study, and its menu."""
    study_id = row["study_id"]
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right"):
        if running:
            # A callback runs before anything is drawn, so an automatic redrawing of the page cannot
            # swallow the click.
            key = f"cancel-{study_id}"
            st.button("Cancel", key=key, icon=":material/stop:", on_click=_cancel, args=[study_id])
        if (
            not running
            and row["state"] != "done"
            and st.button(
                "Start" if row["state"] == "planned" else "Resume",
                key=f"resume-{study_id}",
                icon=":material/play_arrow:",
            )
        ):
            with shown_problem():
                session.registry().start(session.declared(study_id))
                st.rerun()
        # Offered while the study runs, too, because pages fill as answers arrive.
        main_page = _main_page(row)
        icon = ":material/arrow_forward:"
        link = main_page.link_to(study_id)
        st.page_link(main_page.path, label="Open", icon=icon, query_params=link)
        with st.popover(
            "Menu", icon=":material/more_vert:", type="tertiary", key=f"menu-{study_id}"
        ):
            _draw_menu(row, main_page, running=running)


def _main_page(row: dict) -> Entry:
    """Return the page that explains the study's first sentence."""
    study = session.declared(row["study_id"])
    if {"target", "retro"} <= study.roles:
        return BY_FOLDER["holdout"]
    # The order is that of `leading_sentences`.
    if compares_models(study):
        return BY_FOLDER["ranking"]
    if len(study.roles) > 1:
        return BY_FOLDER["memorization"]
    return BY_FOLDER["score"]


def _cancel(study_id: str) -> None:
    with shown_problem():
        session.registry().cancel(study_id)


def _draw_menu(row: dict, main_page: Entry, *, running: bool) -> None:
    study_id = row["study_id"]
    declared = session.declared(study_id)
    _show_calls(row)
    for entry in PAGES:
        if entry.on_card and entry is not main_page and entry.on_card(declared):
            st.page_link(
                entry.path, label=entry.title, icon=entry.icon, query_params=entry.link_to(study_id)
            )
    # Recorded outputs cannot be asked again.
    if not declared.is_recorded:
        st.page_link(
            "new_study/page.py",
            label="Duplicate",
            icon=":material/content_copy:",
            query_params={"from_study": study_id},
        )
    if declared.budget_usd is not None or row["state"] == "over_budget":
        offer_budget(study_id, declared)
    if not declared.is_recorded:
        offer_harness_task(study_id, declared)
    show_provenance(row)
    offer_deletion(study_id, running=running)


def draw_unreadable(row: dict) -> None:
    """Show a study whose declaration this version cannot read: its text, and Delete."""
    with st.container(border=True, key=f"card-{row['study_id']}"):
        st.subheader(plain(row["name"]), anchor=False)
        st.warning(plain(row["problem"]), icon=":material/unknown_document:")
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.expander("Provenance", icon=":material/receipt_long:"):
                st.caption(
                    f"Declared {row['created_at']:%Y-%m-%d %H:%M} · flipscope "
                    f"{plain(row['code_version'])}"
                )
                st.code(studies.toml(session.store(), row["study_id"]), language="toml")
            offer_deletion(row["study_id"], running=False)


STATE_TITLES = {
    "planned": "Not started",
    "queued": "Waiting",
    "running": "Running",
    "stopping": "Stopping",
    "done": "Done",
    "incomplete": "Incomplete",
    "cancelled": "Cancelled",
    "over_budget": "Stopped at its budget",
    "failed": "Failed",
}


@st.fragment(run_every=2.0)
def show_live_state(study_id: str) -> None:
    """Show state and progress of a running study, again every two seconds."""
    tenth = tenth_of(study_id)
    # With each tenth of the calls, draw the page again, so that the card shows new sentences.
    if tenth is None or tenth != st.session_state.setdefault(f"tenth-{study_id}", tenth):
        st.session_state.pop(f"tenth-{study_id}", None)
        draw_again()
    show_state(session.study_row(study_id))


def show_state(row: dict) -> None:
    """Show the state of a study with its badges and its progress."""
    progress = session.registry().progress(row["study_id"])
    state = progress.state if progress is not None else row["state"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{STATE_TITLES.get(state, state)}**", width="content")
        show_badges(badges(row))
    if progress is not None:
        show_progress(progress)
        return
    message = session.registry().problem(row["study_id"]) or row["message"]
    # The message of a finished study, such as what an import did, stands in the menu.
    if message and row["state"] != "done":
        st.caption(plain(message))


def _show_calls(row: dict) -> None:
    """Show how many calls were made or taken from the store, and what they cost."""
    # An unknown cost is None or, in a frame, NaN, which differs from itself.
    is_unknown = row["cost_usd"] is None or row["cost_usd"] != row["cost_usd"]
    if not row["n_calls_done"]:
        cost = ""
    else:
        cost = " · price unknown" if is_unknown else f" · {dollars(row['cost_usd'])}"
    st.caption(plain(f"{calls_text(int(row['n_calls_done']), int(row['n_reused']))}{cost}"))
    if row["message"] and row["state"] == "done":
        st.caption(plain(row["message"]))


def offer_deletion(study_id: str, *, running: bool) -> None:
    """Offer to delete the study, after a second click; nothing while it runs."""
    if running:
        return
    with st.expander("Delete", icon=":material/delete:"):
        st.markdown(
            "Removes this study and its readouts. Outputs that were paid for stay and are reused."
        )
        if st.button("Delete this study", key=f"delete-{study_id}", type="primary"):
            with shown_problem():
                studies.delete_study(session.store(), study_id)
                st.rerun()


def offer_budget(study_id: str, study: Study) -> None:
    """Show what the study has spent over all its runs, and offer to set a new budget."""
    store = session.store()
    with st.expander("Budget", icon=":material/payments:"):
        budget, spent = budgets.budget_usd(store, study), budgets.spent_usd(store, study_id)
        st.markdown(
            plain(f"{dollars(spent)} spent over all runs, of a budget of {dollars(budget or 0.0)}.")
        )
        usd = st.number_input(
            "Budget (US dollars)", 0.0, MAX_BUDGET_USD, budget, key=f"budget-{study_id}"
        )
        if st.button("Set the budget", key=f"set-budget-{study_id}") and usd is not None:
            with shown_problem():
                budgets.set_budget(store, study_id, usd)
                st.rerun()


HARNESS_TITLES = {
    "inspect": "Inspect AI",
    "lm-eval": "lm-evaluation-harness",
    "jsonl": "JSONL for any other",
}


def offer_harness_task(study_id: str, study: Study) -> None:
    """Offer the study's prompts as a task for another harness, whose log can be imported here."""
    with st.expander("For another harness", icon=":material/output:"):
        st.markdown(
            "The study's prompts as a task. Import what the harness writes, and it becomes this "
            "study."
        )
        harness = st.selectbox(
            "Harness", HARNESSES, format_func=HARNESS_TITLES.__getitem__, key=f"harness-{study_id}"
        )
        names = [use.name for use in study.models]
        if len(names) == 1:
            model = names[0]
        else:
            model = st.selectbox("Model", names, key=f"harness-model-{study_id}")
        if st.button("Write the prompts", key=f"harness-write-{study_id}"):
            with shown_problem():
                packed, sentence = zipped_variants(session.store(), study, harness, model)
                st.markdown(plain(sentence))
                offer_file(
                    "Download",
                    packed,
                    f"variants-{study_id}-{harness}.zip",
                    "application/zip",
                    key=f"harness-zip-{study_id}",
                )


def show_provenance(row: dict) -> None:
    """Show when and by which version the study was declared, and offer its declaration."""
    study_id = row["study_id"]
    with st.expander("Provenance", icon=":material/receipt_long:"):
        st.caption(
            f"Declared {row['created_at']:%Y-%m-%d %H:%M} · flipscope {row['code_version']} · id "
            f"`{study_id}`. Every seed is in the declaration; the same declaration has the same id "
            "on every machine."
            + (
                " It names a file by a path of this machine."
                if any(source.path for source in session.declared(study_id).items)
                else ""
            )
        )
        if row["plugins"]:
            st.caption(plain(f"Plug-ins of other packages: {row['plugins']}."))
        text = session.declared(study_id).to_toml()
        st.code(text, language="toml")
        offer_file("Download the TOML", text, f"{study_id}.toml", key=f"toml-{study_id}")
