"""Which two sets are compared: an example, a study's roles, a kept version, or two of one's own."""

from dataclasses import replace

import streamlit as st

from flipcore.core.records import IDENTITY
from flipcore.core.study import ItemSource, Part
from flipcore.reports.holdout_sets import Sets, sets_of_study
from flipcore.runs.demo import example_holdout
from flipcore.store.queries import holdout
from pages.common import session
from pages.common.links import remember_missing
from pages.common.notes import shown_problem
from pages.holdout.sets import divided, read_sets
from pages.new_study.items import items_step

EXAMPLES = {
    "pocket": "Example: pocket problems, read up to 256 times v never read",
    "halves": "Example: two halves of our own choices",
    "unlike": "Example: our own word problems v pocket problems",
}
_SOURCES = {
    "halves": [ItemSource("flipscope_choice", role="target", n=36), ItemSource("flipscope_choice", role="retro")],
    "unlike": [
        ItemSource("flipscope_problems", role="target"),
        ItemSource("pocket_problems", role="retro", n=72, where={"split": "fresh"}),
    ],
}
OWN = "own"


def set_choice() -> tuple[str, str]:
    """The selector; (key, name) of what it says. The key stands in the link (`?sets=`)."""
    studies = {f"study:{row['study_id']}": row["name"] for row in holdout.studies_with_both(session.store())}
    versions = {
        f"version:{row['version_id']}": f"Version of {row['name']}, {row['created']}"
        for row in reversed(holdout.versions(session.store()))
    }
    names = EXAMPLES | {key: f"Study: {name}" for key, name in studies.items()} | versions | {OWN: "Two sets of your own"}
    link = st.query_params.get("sets", "")
    study_id = st.query_params.get("study", "")  # as the other pages are linked to; it may have no two sets
    if not link and study_id and (f"study:{study_id}" in names or study_id not in session.names_of_studies()):
        link = f"study:{study_id}"
    candidates = [one for one in (link, st.session_state.get("sets-chosen")) if one in names]
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


def sets_of(sets_key: str, name: str, confirmatory: bool = False) -> Sets | None:
    """The sets of a key, or None after saying what is missing. With `confirmatory` only what was set aside."""
    with shown_problem():
        return _sets(sets_key, name, confirmatory)
    return None


def _sets(sets_key: str, name: str, confirmatory: bool) -> Sets | None:
    kind, _, key = sets_key.partition(":")
    if kind == "study":
        # before a lock the open items stand in: what is set aside is counted, and read by nobody
        lock = (session.lock_id(key, "holdout") or None) if confirmatory else None
        return sets_of_study(session.store(), key, name, lock, session.declared(key).confirmatory_share)
    if kind == "version":
        row = next(one for one in holdout.versions(session.store()) if one["version_id"] == key)
        sides = [tuple(holdout.items(session.store(), list(row[side]))) for side in ("target_ids", "retro_ids")]
        return divided(Sets.of(name, *sides), confirmatory)
    if kind == OWN:
        return _own(name, confirmatory)
    return divided(read_sets(name, list(example_holdout().items) if kind == "pocket" else _SOURCES[kind]), confirmatory)


def _own(name: str, confirmatory: bool) -> Sets | None:
    sources = st.session_state.setdefault("holdout-sources", [])
    lacking = [role for role in ("target", "retro") if role not in {source.role for source in sources}]
    with st.expander("The two sets: add items as target and as retro", expanded=bool(lacking)):
        items_step(sources, lacking or ("target", "retro"))
    if lacking:
        st.info(
            f"Add items as {' and as '.join(lacking)} to compare two sets: the target is the published benchmark, retro is "
            "what was written to look like it.",
            icon=":material/library_add:",
        )
        return None
    return divided(read_sets(name, sources), confirmatory)


def ask_models(sets: Sets) -> None:
    """A link to a new study with these two sets as target and retro, and the source's boosts as axes."""
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
