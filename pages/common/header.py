"""The line at the top of every page: study, progress, badges, and what can be copied."""

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
MOST_LETTERS = 24  # of the models' names in the header's line
_sentence = component("copy_sentence")


def badges(row: dict) -> list[tuple[str, str]]:
    """(badge, text) pairs that apply to a study as `queries.studies` describes it."""
    study_id = row["study_id"]
    # Counting takes a tenth of the time of a click on the map, so the number is cached.
    return badges_of(row, _n_unreviewed(study_id), judge_is_closed=gates.judge_is_closed(study_id))


@session.cached(max_entries=256)
def _n_unreviewed(study_id: str) -> int:
    """Count unreviewed paraphrases, again when the study or a verdict has changed."""
    return studies.n_unreviewed(session.store(), study_id)


def show_badges(pairs: list[tuple[str, str]]) -> None:
    with st.container(horizontal=True, gap="small", width="content"):
        for badge, text in pairs:
            st.badge(text, color=COLOURS.get(badge, "orange"), help=MEANINGS[badge])


def header_line(folder: str, question: str = ""):
    """Draw the title of a page with its question, or that of its part in view.

    Returns the line, open for what belongs next to them.
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
    """Draw title and question of the page in this folder, the study, its badges and its origin.

    Returns the study's id, or None after saying how to get one. `fits` tells which studies the page
    can show anything of; `question` is that of a part of it.
    """
    line = header_line(folder, question)
    with line:
        study_id = session.chosen_study(fits) if choose else None
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
    # Before the row is read: a study that ends in between is drawn again.
    running = session.registry().running()
    row = session.study_row(study_id)
    # Said here, where the study that stands in is known by its name.
    say_missing("study", row["name"])
    if hidden := locks.held_sentence(session.store(), study_id):
        st.info(plain(hidden), icon=":material/visibility_off:")
    with line:
        _provenance(row)
        offer_copy(f"{row['name']} ({study_id})", study_id)
        show_badges(badges(row))
        if study_id in running:
            _follow(study_id, session.store().revision(study_id))
    return study_id


def offer_suited(page: str, fits: Callable[[Study], bool]) -> None:
    """Links to the newest studies of which `page` can show something."""
    for study_id, name in list(session.names_of_studies().items()):
        if fits(session.declared(study_id)):
            st.page_link(
                page,
                label=f"Open {plain(name)}",
                icon=":material/arrow_forward:",
                query_params={"study": study_id},
            )
            return


def _provenance(row: dict) -> None:
    """Models and items in sight; date, version and id behind them."""
    models = ", ".join(row["models"]) or "no model"
    if len(row["models"]) > 1:
        many = count_of(len(row["models"]), "model")
    else:
        many = f"{models[:MOST_LETTERS]}…"
    short = models if len(models) <= MOST_LETTERS else many
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
    """Show how far a running study is; the page is drawn again when there is something new."""
    progress = session.registry().progress(study_id)
    # A new revision means new answers, which every number on the page rests on.
    if progress is None or session.store().revision(study_id) != revision:
        tab_title.draw_again()
    if progress is not None:
        show_progress(progress)


def show_progress(progress) -> None:
    """A run's progress, rate and time left on one line; on a cluster, what each worker does."""
    if progress.state in (QUEUED, STOPPING):
        st.caption(plain(progress.message))
        return
    # The number of calls is known once all prompts are written.
    if not progress.n_calls:
        st.progress(0.0, text="Writing the prompts …")
        return
    share = progress.n_done / progress.n_calls
    st.progress(
        min(share, 1.0),
        text=f"{progress.n_done:,} of {progress.n_calls:,} calls{plain(progress.outlook)}",
    )
    if progress.workers:
        with st.expander("Workers", icon=":material/lan:"):
            st.dataframe([worker.row for worker in progress.workers], hide_index=True)


def offer_copy(source: str, study_id: str = "") -> None:
    """A small window beside the title.

    `source` is what the sentences are about; with a study its methods are offered too.
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
            _methods(study_id)


@st.fragment
def _methods(study_id: str) -> None:
    """Offer the methods; they are computed on request: they name every estimate of the study."""
    if st.button("Methods with BibTeX", key="copy-methods", icon=":material/format_quote:"):
        # Imported on a click: the exports take a while to import, and few ask for them.
        from flipcore.reports.exports.methods_text import methods_text
        from pages.common.answers import study_contents

        with shown_problem():
            methods = methods_text(study_contents(study_id))
            st.code(methods.text, language=None, wrap_lines=True)
            st.code(methods.bibtex, language="latex", height=220)
