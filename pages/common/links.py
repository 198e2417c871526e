"""Warnings about links that name a study which is not in this store."""

import math
from collections.abc import Collection, Mapping
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.common.showing import plain


def bound(key: str) -> Literal["query-params"] | None:
    """Return how a field for a number stands in the link: not at all where the link's number is
    endless, which Streamlit cannot read."""
    try:
        is_endless = math.isinf(float(st.query_params.get(key, "0")))
    except ValueError:  # no number, which Streamlit passes over
        is_endless = False
    return None if is_endless else "query-params"


def remember_missing(name: str, link: str, existing_names: Collection[str], choice: str) -> None:
    """Remember that `link`, the value of the link's parameter `name`, is not here.

    `choice` then stands in. Forgotten with another choice, or with a page that is opened without
    the parameter.
    """
    place = f"missing-{name}"
    if link and link not in existing_names:
        st.session_state[place] = choice
    elif not link or st.session_state.get(place) != choice:
        st.session_state.pop(place, None)


def say_missing(name: str, title: str) -> None:
    """Warn where something stands in for what the link named; `title` is its name."""
    if f"missing-{name}" in st.session_state:
        st.warning(
            f"The study of this link is not here; this is {plain(title)}.",
            icon=":material/link_off:",
        )


def study_choice(
    label: str,
    names: Mapping[str, str],
    key: str,
    width: int | Literal["stretch"] = "stretch",
    place: DeltaGenerator | None = None,
) -> str:
    """Offer a selector of studies (id -> name) that stands in the link under its key.

    It opens at the study of the link, or at the one that was chosen on another page; it says where
    a link names a study that is not here.
    """
    link = st.query_params.get(key, "")
    ids = [
        study_id
        for study_id in (st.query_params.get("study", ""), st.session_state.get("study-id", ""))
        if study_id in names
    ]
    draw = st.selectbox if place is None else place.selectbox
    choice = draw(
        label,
        list(names),
        list(names).index(ids[0]) if ids else 0,
        format_func=names.__getitem__,
        key=key,
        bind="query-params",
        width=width,
    )
    # Streamlit takes a value that it does not offer out of the link, so an empty link may be old.
    if link or st.session_state.get(f"missing-{key}") != choice:
        remember_missing(key, link, {*names, *names.values()}, choice)
    say_missing(key, names[choice])
    return choice
