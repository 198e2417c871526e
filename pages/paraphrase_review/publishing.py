"""Publish the verified set: accepted paraphrases with their verdicts, as a folder or on the hub."""

import re
from typing import Any

import streamlit as st

from flipcore.annotation.paraphrases.publish import publish
from flipcore.store.connection import default_path
from flipcore.store.queries import review
from pages.common import session
from pages.common.notes import plain


def publish_set() -> None:
    """Choose the pairs and the place, and publish."""
    st.caption(
        "Only paraphrases that people accepted, with numbered reviewers and a card. Models' verdicts stand apart."
        " The questions keep the licence of their benchmark; those whose licence is not known are left out, unless you may publish "
        "them and name it."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sources = {
            f"{dataset} · {generator}": (dataset, generator)
            for dataset, generator in sorted({(row["dataset"], row["generator"]) for row in review.strata(session.store())})
        }
        source = st.selectbox("Pairs of", ["all sources", *sources], key="publish-source", width=300)
        title = st.text_input("Title", "Verified paraphrases", max_chars=120, key="publish-title", width=300)
        repository = st.text_input(
            "Repository on the hub (empty: a folder here)",
            max_chars=120,
            key="publish-repository",
            placeholder="owner/name",
            width=300,
        )
        license = st.text_input(
            "Licence of your own items", max_chars=40, key="publish-license", placeholder="cc-by-4.0", width=200
        )
        language = st.text_input("Language", "en", max_chars=12, key="publish-language", width=90)
        private = st.toggle("Private", value=True, key="publish-private", disabled=not repository.strip())
        pressed = st.button("Publish", key="publish", icon=":material/publish:", disabled=not title.strip())
    if pressed:
        about: dict[str, Any] = {"license": license.strip(), "language": language.strip()}
        folder = default_path().parent / "published" / (re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "set")
        where: dict[str, Any] = (
            {"repository": repository.strip(), "private": private} if repository.strip() else {"folder": folder}
        )
        with st.spinner("Publishing …"):
            published = publish(session.store(), title.strip(), source=sources.get(source), **where, **about)
            st.success(plain(published.sentence()), icon=":material/check_circle:")
