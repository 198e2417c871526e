"""The line at the top of every page: title, study, badges, progress, and texts to copy."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from flipcore.access.acting import Permission, acting
from flipcore.core.study import Study
from flipcore.core.version import __version__
from flipcore.reports.badges import MEANINGS, badges_of
from flipcore.reports.declaration import items_text
from flipcore.runs.progress import QUEUED, STOPPING
from flipcore.store.queries import locks, studies
from flipcore.text.counts import count_of
from pages.common import gates, session, tab_title
from pages.common.links import remember_missing, say_missing
from pages.common.showing import plain, shown_problem
from pages.components import component
from pages.navigation import BY_FOLDER, PAGES

COLOURS: dict[str, Literal["blue", "gray", "violet"]] = {
    "POCKET": "blue",
    "EXPLORATORY": "gray",
    "LOCKED": "violet",
}
MAX_LETTERS = 24  # of the models' names in the header line
_sentence = component("copy_sentence")


def badges(row: dict) -> list[tuple[str, str]]:
    """Return (badge, text) of each badge that applies to a study; `row` is its `study_row`."""
    study_id = row["study_id"]
    # The count is cached, because it takes a tenth of the time of a click on the map.
    return badges_of(row, _n_unreviewed(study_id), judge_is_closed=gates.judge_is_closed(study_id))


@session.cached(max_entries=256)
def _n_unreviewed(study_id: str) -> int:
    return studies.n_unreviewed(session.store(), study_id)


def show_badges(pairs: list[tuple[str, str]]) -> None:
    with st.container(horizontal=True, gap="small", width="content"):
        for badge, text in pairs:
            st.badge(text, color=COLOURS.get(badge, "orange"), help=MEANINGS[badge])


def header_line(folder: str, question: str = ""):
    """Draw a page's title with its `question`, by default the one in `PAGES`.

    Returns the line as a container, to which the page adds its controls.
    """
    page = BY_FOLDER[folder]
    line = st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="page-header"
    )
    line.title(page.title, anchor=False, width="content")
    line.markdown(question or page.question, width="content")
    with line.popover(
        "More",
        icon=":material/menu:",
        type="tertiary",
        key="more",
        help="Report, decisions, models, words",
    ):
        for entry in PAGES:
            if entry.in_menu:
                st.page_link(entry.path, label=entry.title, icon=entry.icon)
    return line


def page_header(
    folder: str,
    *,
    choose: bool = True,
    fits: Callable[[Study], bool] | None = None,
    question: str = "",
) -> str | None:
    """Draw the header of the page in this folder and return the chosen study's id.

    Returns None if there is no study, or if the page chooses none (`choose` is False). `fits`
    returns True for studies of which the page can show something. `question` replaces the page's
    own question.
    """
    line = header_line(folder, question)
    with line:
        study_id = session.choose_study(fits) if choose else None
    if not choose:
        link = st.query_params.get("study", "")
        if link and acting().may(Permission.READ):
            remember_missing("study", link, session.names_of_studies(), link)
            say_missing("study", f"{BY_FOLDER[folder].title} of all studies")
        return None
    if study_id is None:
        st.info("Nothing has been measured yet.", icon=":material/science:")
        st.page_link("new_study/page.py", label="Declare a study", icon=":material/add_circle:")
        return None
    # Read before the row, so that a study that ends in between is drawn again.
    running = session.registry().running()
    row = session.study_row(study_id)
    say_missing("study", row["name"])
    if hidden := locks.hidden_sentence(session.store(), study_id):
        st.info(plain(hidden), icon=":material/visibility_off:")
    with line:
        _show_provenance(row)
        offer_copy(f"{row['name']} ({study_id})", study_id)
        show_badges(badges(row))
        if study_id in running:
            _follow(study_id, session.store().revision(study_id))
    return study_id


def offer_suited(page: str, fits: Callable[[Study], bool]) -> None:
    """Draw a link that opens `page` with the newest study of which it can show something."""
    for study_id, name in session.names_of_studies().items():
        if fits(session.declared(study_id)):
            st.page_link(
                page,
                label=f"Open {plain(name)}",
                icon=":material/arrow_forward:",
                query_params={"study": study_id},
            )
            return


def _show_provenance(row: dict) -> None:
    """Show models and items of the study, and its date, version and id behind a click."""
    models = ", ".join(row["models"]) or "no model"
    if len(row["models"]) > 1:
        abridged = count_of(len(row["models"]), "model")
    else:
        abridged = f"{models[:MAX_LETTERS]}…"
    short = models if len(models) <= MAX_LETTERS else abridged
    label = plain(f"{short} · {items_text(session.store(), row)}")
    # The title line has room for few words; the rest is one click away.
    with st.popover(label, type="tertiary", help="Where this study comes from"):
        if short != models:
            st.caption(plain(models))
        when = f"{row['created_at']:%Y-%m-%d %H:%M}" if row["created_at"] is not None else "unknown"
        st.caption(
            f"Declared {when} · flipscope {plain(row['code_version'])} · id `{row['study_id']}`"
        )
        st.code(studies.toml(session.store(), row["study_id"]), language="toml", height=320)


@st.fragment(run_every=3.0)
def _follow(study_id: str, revision: int) -> None:
    """Show the progress of a running study; draw the page again when new answers have come."""
    progress = session.registry().progress(study_id)
    # A new revision means new answers, which change every number on the page.
    if progress is None or session.store().revision(study_id) != revision:
        tab_title.draw_again()
    if progress is not None:
        show_progress(progress)


def show_progress(progress) -> None:
    """Show a run's progress, rate and time left; on a cluster also what each worker does."""
    if progress.state in (QUEUED, STOPPING):
        st.caption(plain(progress.message))
        return
    # The number of calls is unknown until all prompts are written.
    if not progress.n_calls:
        st.progress(0.0, text="Writing the prompts …")
        return
    share = progress.n_done / progress.n_calls
    st.progress(
        min(share, 1.0),
        text=f"{progress.n_done:,} of about {progress.n_calls:,} calls{plain(progress.outlook)}",
    )
    if progress.workers:
        with st.expander("Workers", icon=":material/lan:"):
            st.dataframe([worker.row for worker in progress.workers], hide_index=True)


def offer_copy(source: str, study_id: str = "") -> None:
    """Offer a window with texts to copy: a sentence, the link and the study's methods.

    `source` names what the sentences are about. Without a study there are no methods.
    """
    with st.popover(
        "Copy",
        icon=":material/content_copy:",
        type="tertiary",
        help="The sentence, the link, the methods",
    ):
        data = {"source": f"{source}, Flipscope {__version__}"}
        _sentence(key="copy-sentence", data=data, width="content")
        if study_id:
            _offer_methods(study_id)


@st.fragment
def _offer_methods(study_id: str) -> None:
    """Offer the methods, computed on the click because they name every estimate of the study."""
    if st.button("Methods with BibTeX", key="copy-methods", icon=":material/format_quote:"):
        # Imported on the click, because the exports import slowly and few people need them.
        from flipcore.reports.exports.methods_text import methods_text
        from pages.common.answers import study_contents

        with shown_problem():
            methods = methods_text(study_contents(study_id))
            st.code(methods.text, language=None, wrap_lines=True)
            st.code(methods.bibtex, language="latex", height=220)
