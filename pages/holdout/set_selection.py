"""The choice of the two sets to compare, and of the share that is set aside.

The sets are an example, two roles of a study, a stored version, or two sets of the user's own.
"""

from dataclasses import replace

import streamlit as st

from flipcore.core.records import IDENTITY, digest, role_name
from flipcore.core.study import ItemSource, Part
from flipcore.reports.holdout_sets import Sets, divided_sets, sets_of_sources, sets_of_study
from flipcore.runs.asking_again import Draft
from flipcore.runs.demo import example_holdout
from flipcore.store.queries import holdout
from pages.common import screen, session
from pages.common.drafts import offer_draft
from pages.common.links import remember_missing
from pages.common.showing import shown_problem
from pages.new_study.items import items_step

SHARES = (0.0, 0.3, 0.5)


def read_sets(name: str, sources: list[ItemSource]) -> Sets:
    """Read both sets from their sources, cached in memory."""
    return _read(name, tuple(digest(source.__dict__) for source in sources), sources)


# Streamlit does not hash `_sources`, so `keys` holds a digest of each source.
@session.computed("Reading both sets")
@st.cache_resource(show_spinner=False, max_entries=16)
def _read(name: str, keys: tuple[str, ...], _sources: list[ItemSource]) -> Sets:
    return sets_of_sources(name, _sources)


def shown_part(sets: Sets, *, confirmatory: bool) -> Sets:
    """Return the entries that may be shown; with `confirmatory`, those that were set aside.

    The share comes from the control on the page and never from a link, because it is permanent.
    """
    share = float(st.session_state.get(_aside_key(sets)) or 0.0)
    return divided_sets(session.store(), sets, share, confirmatory=confirmatory)


def _aside_key(sets: Sets) -> str:
    # One key per pair of sets, so that the choice does not carry over to other sets.
    return f"aside-{sets.record_id}"


def choose_share_aside(sets: Sets, *, is_locked: bool) -> None:
    """Ask for the share of entries to set aside; for a study, show the declared share."""
    if sets.is_of_study:
        st.caption(
            f"Set aside for confirmation: {100 * sets.share_aside:.0f}%, as the study declares. "
            "Duplicate it to have another share."
        )
    else:
        screen.segments(
            "Set aside for confirmation",
            SHARES,
            _aside_key(sets),
            default=min(SHARES, key=lambda share: abs(share - sets.share_aside)),
            bind=None,
            label_visibility="visible",
            disabled=is_locked or sets.share_aside > 0,
            format_func=lambda share: f"about {100 * share:.0f}%" if share else "nothing",
            help="For good: no page shows these entries until margins are stored in Locked mode. "
            "Assignment depends only on the entry's own text.",
        )


EXAMPLES = {
    "pocket": "Example: pocket problems, read up to 256 times or never",
    "halves": "Example: two halves of our own choices",
    "unlike": "Example: our own word problems and pocket problems",
}
_SOURCES = {
    "halves": [
        ItemSource("flipscope_choice", role="target", n=36),
        ItemSource("flipscope_choice", role="retro"),
    ],
    "unlike": [
        ItemSource("flipscope_problems", role="target"),
        ItemSource("pocket_problems", role="retro", n=72, where={"split": "fresh"}),
    ],
}
OWN = "own"


def choose_sets() -> tuple[str, str]:
    """Draw the selector of sets; return key and name. The key is in the link (`?sets=`)."""
    studies = {
        f"study:{row['study_id']}": row["name"]
        for row in holdout.studies_with_both(session.store())
    }
    versions = {
        f"version:{row['version_id']}": f"Version of {row['name']}, {row['created']}"
        for row in reversed(holdout.versions(session.store()))
    }
    # Examples come first, because a newcomer has neither studies nor versions.
    names = dict(EXAMPLES)
    names |= {key: f"Study: {name}" for key, name in studies.items()}
    names |= versions
    names[OWN] = "Two sets of your own"
    link = st.query_params.get("sets", "")
    # Links of other pages name a `study`. Ignore one that exists here without two sets.
    study_id = st.query_params.get("study", "")
    if not link and study_id:
        if f"study:{study_id}" in names or study_id not in session.names_of_studies():
            link = f"study:{study_id}"
    start = next(iter(names))
    # The link comes last, because it wins.
    for sets_key in (st.session_state.get("sets-chosen"), link):
        if sets_key in names:
            start = sets_key
    choice = st.selectbox(
        "Sets",
        list(names),
        index=list(names).index(start),
        key=f"sets-{start}",
        format_func=names.__getitem__,
        label_visibility="collapsed",
        width=430,
    )
    remember_missing("sets", link, names, choice)
    st.session_state["sets-chosen"] = st.query_params["sets"] = choice
    return choice, names[choice]


def sets_of(sets_key: str, name: str, *, confirmatory: bool = False) -> Sets | None:
    """Return the sets of a key; None, after saying what is missing.

    With `confirmatory` these are the entries that were set aside.
    """
    with shown_problem():
        return _sets(sets_key, name, confirmatory=confirmatory)
    return None


def _sets(sets_key: str, name: str, *, confirmatory: bool) -> Sets | None:
    """Return the sets of a key; the part before the colon is the kind of sets."""
    kind, _, key = sets_key.partition(":")
    if kind == "study":
        # Before a lock, return the open items, because nobody may read those set aside.
        lock = (session.lock_id(key, "holdout") or None) if confirmatory else None
        return sets_of_study(
            session.store(), key, name, lock, session.declared(key).confirmatory_share
        )
    if kind == "version":
        versions = {row["version_id"]: row for row in holdout.versions(session.store())}
        row = versions[key]
        target = tuple(holdout.items(session.store(), list(row["target_ids"])))
        retro = tuple(holdout.items(session.store(), list(row["retro_ids"])))
        return shown_part(Sets.without_study(name, target, retro), confirmatory=confirmatory)
    if kind == OWN:
        return _own_sets(name, confirmatory=confirmatory)
    sources = list(example_holdout().items) if kind == "pocket" else _SOURCES[kind]
    return shown_part(read_sets(name, sources), confirmatory=confirmatory)


def _own_sets(name: str, *, confirmatory: bool) -> Sets | None:
    """Ask for the sources of both sets; None until both are given."""
    sources = st.session_state.setdefault("holdout-sources", [])
    roles = {source.role for source in sources}
    lacking = [role for role in ("target", "retro") if role not in roles]
    with st.expander("The two sets: add a benchmark and its holdout", expanded=bool(lacking)):
        items_step(sources, lacking or ("target", "retro"))
    if lacking:
        names = " and as ".join(role_name(role) for role in lacking)
        st.info(
            f"Add items as {names} to compare two sets: the benchmark is what was published, the "
            "holdout what was written to look like it.",
            icon=":material/library_add:",
        )
        return None
    return shown_part(read_sets(name, sources), confirmatory=confirmatory)


def ask_models(sets: Sets) -> None:
    """Link to a new study that asks both sets with the prompts that help weak models."""
    # A stored version has items but no sources, which a study needs.
    if not sets.sources:
        return
    helpful_axes = (
        Part(IDENTITY),
        Part("few_shot"),
        Part("prompt_format", {"layouts": ("helpful",)}),
    )
    study = replace(example_holdout(), name="", axes=helpful_axes, items=sets.sources)
    st.page_link(
        "new_study/page.py",
        label="Ask models about these sets",
        icon=":material/add_circle:",
        query_params=offer_draft(sets.record_id, Draft(study, notes=())),
    )
