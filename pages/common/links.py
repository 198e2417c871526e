"""Fields that are in the link, and warnings about links to a study that is not in this store."""

import math
from collections.abc import Collection, Mapping
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.common.showing import plain


def binding(key: str) -> Literal["query-params"] | None:
    """Return the argument `bind` for a number field with this key.

    None if the link says infinity, on which Streamlit fails.
    """
    try:
        is_infinite = math.isinf(float(st.query_params.get(key, "0")))
    except ValueError:  # not a number, which Streamlit ignores
        is_infinite = False
    return None if is_infinite else "query-params"


def remember_missing(name: str, link: str, existing_names: Collection[str], choice: str) -> None:
    """Remember whether the link's parameter `name` has a value, `link`, that does not exist here.

    The page shows `choice` instead. The memory ends with another choice, or when a page is opened
    without the parameter.
    """
    key = f"missing-{name}"
    if link and link not in existing_names:
        st.session_state[key] = choice
    elif not link or st.session_state.get(key) != choice:
        st.session_state.pop(key, None)


def say_missing(name: str, title: str, lacking: str = "The study of this link is not here") -> None:
    """Warn if the page shows `title` in place of what the link names; `lacking` begins the
    sentence."""
    if f"missing-{name}" in st.session_state:
        st.warning(f"{lacking}; this is {plain(title)}.", icon=":material/link_off:")


def choose_linked_study(
    label: str,
    names: Mapping[str, str],
    key: str,
    width: int | Literal["stretch"] = "stretch",
    place: DeltaGenerator | None = None,
) -> str:
    """Draw a selector of studies (id -> name) that is in the link under its key.

    It starts at the study of the link, or at the one that was chosen on another page. It warns if
    the link names a study that does not exist here. Returns the id of the chosen study.
    """
    link = st.query_params.get(key, "")
    ids = list(names)
    start = 0
    # The link comes last, because it wins.
    for study_id in (st.session_state.get("study-id", ""), st.query_params.get("study", "")):
        if study_id in names:
            start = ids.index(study_id)
    draw = st.selectbox if place is None else place.selectbox
    choice = draw(
        label, ids, start, format_func=names.__getitem__, key=key, bind="query-params", width=width
    )
    # Streamlit removes a value that is not among the options from the link. An empty link may
    # therefore have named a missing study in an earlier run.
    if link or st.session_state.get(f"missing-{key}") != choice:
        remember_missing(key, link, {*names, *names.values()}, choice)
    say_missing(key, names[choice])
    return choice
