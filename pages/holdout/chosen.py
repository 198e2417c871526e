"""The choice of the two sets that are compared, and of the share that is set aside.

They are an example, a study's roles, a kept version, or two of one's own.
"""

from dataclasses import replace

import streamlit as st

from flipcore.core.records import IDENTITY, digest, role_name
from flipcore.core.study import ItemSource, Part
from flipcore.reports.holdout_sets import Sets, divided_sets, sets_of_sources, sets_of_study
from flipcore.runs.demo import example_holdout
from flipcore.store.queries import holdout
from pages.common import screen, session
from pages.common.links import remember_missing
from pages.common.showing import shown_problem
from pages.new_study.items import items_step

SHARES = (0.0, 0.3, 0.5)


def read_sets(name: str, sources: list[ItemSource]) -> Sets:
    """Read both sets, kept for as long as their sources are the same."""
    return _read(name, tuple(digest(source.__dict__) for source in sources), sources)


# `_sources` is not hashed: the digests in `keys` tell one list of sources from another.
@session.computed("Reading both sets")
@st.cache_resource(show_spinner=False, max_entries=16)
def _read(name: str, keys: tuple[str, ...], _sources: list[ItemSource]) -> Sets:
    return sets_of_sources(name, _sources)


def divided(sets: Sets, *, confirmatory: bool) -> Sets:
    """Return the part of the sets that may be shown.

    Only a hand on the page sets a share aside, since that is for good: never a link.
    """
    share = float(st.session_state.get(_aside_key(sets)) or 0.0)
    return divided_sets(session.store(), sets, share, confirmatory=confirmatory)


def _aside_key(sets: Sets) -> str:
    # Other sets that are chosen next are asked anew.
    return f"aside-{sets.record_id}"


def choose_share_aside(sets: Sets, *, is_locked: bool) -> None:
    """Offer the share of entries that only a lock opens.

    Where the study declares it, it is said.
    """
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
    "pocket": "Example: pocket problems, read up to 256 times v never read",
    "halves": "Example: two halves of our own choices",
    "unlike": "Example: our own word problems v pocket problems",
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


def set_choice() -> tuple[str, str]:
    """Offer the sets; return (key, name) of the choice. The key stands in the link (`?sets=`)."""
    studies = {
        f"study:{row['study_id']}": row["name"]
        for row in holdout.studies_with_both(session.store())
    }
    versions = {
        f"version:{row['version_id']}": f"Version of {row['name']}, {row['created']}"
        for row in reversed(holdout.versions(session.store()))
    }
    # Examples first: a newcomer has neither studies nor versions.
    names = (
        EXAMPLES
        | {key: f"Study: {name}" for key, name in studies.items()}
        | versions
        | {OWN: "Two sets of your own"}
    )
    link = st.query_params.get("sets", "")
    # The other pages are linked to by `study`, and such a study may have no two sets.
    study_id = st.query_params.get("study", "")
    if (
        not link
        and study_id
        and (f"study:{study_id}" in names or study_id not in session.names_of_studies())
    ):
        link = f"study:{study_id}"
    candidates = [
        sets_key for sets_key in (link, st.session_state.get("sets-chosen")) if sets_key in names
    ]
    start = candidates[0] if candidates else next(iter(names))
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
    """Return the sets of a key, or None after saying what is missing.

    With `confirmatory` only what was set aside.
    """
    with shown_problem():
        return _sets(sets_key, name, confirmatory=confirmatory)
    return None


def _sets(sets_key: str, name: str, *, confirmatory: bool) -> Sets | None:
    kind, _, key = sets_key.partition(":")
    if kind == "study":
        # Before a lock the open items stand in: what is set aside is counted, and read by nobody.
        lock = (session.lock_id(key, "holdout") or None) if confirmatory else None
        return sets_of_study(
            session.store(), key, name, lock, session.declared(key).confirmatory_share
        )
    # A version keeps ids, so its entries are read as they were.
    if kind == "version":
        row = next(
            version for version in holdout.versions(session.store()) if version["version_id"] == key
        )
        sides = [
            tuple(holdout.items(session.store(), list(row[side])))
            for side in ("target_ids", "retro_ids")
        ]
        return divided(Sets.without_study(name, *sides), confirmatory=confirmatory)
    if kind == OWN:
        return _own(name, confirmatory=confirmatory)
    return divided(
        read_sets(name, list(example_holdout().items) if kind == "pocket" else _SOURCES[kind]),
        confirmatory=confirmatory,
    )


def _own(name: str, *, confirmatory: bool) -> Sets | None:
    sources = st.session_state.setdefault("holdout-sources", [])
    roles = {source.role for source in sources}
    # The fold stays open until both sets are there.
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
    return divided(read_sets(name, sources), confirmatory=confirmatory)


def ask_models(sets: Sets) -> None:
    """Link to a new study with these two sets as benchmark and holdout.

    The source's boosts are its axes.
    """
    # A kept version has items, but no source that a study could name.
    if not sets.sources:
        return
    boosted = (Part(IDENTITY), Part("few_shot"), Part("prompt_format", {"layouts": ("helpful",)}))
    drafts = st.session_state.setdefault("offered-drafts", {})
    drafts[sets.record_id] = replace(example_holdout(), name="", axes=boosted, items=sets.sources)
    st.page_link(
        "new_study/page.py",
        label="Ask models about these sets",
        icon=":material/add_circle:",
        query_params={"from_study": sets.record_id},
    )
