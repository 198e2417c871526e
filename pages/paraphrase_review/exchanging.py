"""Propose and exchange: rewordings and verdicts in and out as files, and the verified set as a dataset."""

from __future__ import annotations

import re

import streamlit as st

from flipcore.annotation.paraphrases.pair_files import (
    COLUMNS,
    PAIR_COLUMNS,
    VERDICT_COLUMNS,
    Incoming,
    Known,
    file_rows,
    guessed_columns,
    incoming,
    pair_rows,
    row_originals,
    spaceless,
    verdict_rows,
    written,
)
from flipcore.annotation.paraphrases.publish import publish
from flipcore.datasets import LOADERS
from flipcore.store.connection import default_path
from flipcore.store.queries import review
from pages.common import session
from pages.common.notes import plain, saved_upload, shown_problem

SUFFIXES = ["jsonl", "json", "csv", "tsv", "parquet"]
SAME_FILE = "in the same file"
NONE = "(none)"
OFFERED = (
    "original",
    "paraphrase",
    "pair_id",
    "dataset",
    "generator",
    "item_id",
    "answer",
    "reviewer",
    "meaning",
    "difficulty",
    "solution_path",
    "note",
)


def show() -> None:
    st.subheader("Bring pairs or verdicts in", anchor=False)
    st.markdown(
        "A file of pairs has an original and a paraphrase in each row; a file of verdicts a reviewer and what he said, "
        "with the pair's id or its two texts. The originals may also be a file of their own, row by row."
    )
    with shown_problem():
        _bring_in()
    st.subheader("Take them out", anchor=False)
    _take_out()
    st.subheader("Publish the verified set", anchor=False)
    with shown_problem():
        _publish()


def _bring_in() -> None:
    upload = st.file_uploader("File of pairs or verdicts", SUFFIXES, key="pairs-file")
    if upload is None:
        return
    rows = file_rows(saved_upload(upload))
    names = list(dict.fromkeys(str(name) for row in rows[:200] for name in row.values))
    left, right = st.columns(2)
    where = left.selectbox(
        "The originals are",
        [SAME_FILE, *LOADERS],
        key="originals-kind",
        format_func=lambda name: name if name == SAME_FILE else f"items of {LOADERS[name].title}, row by row",
    )
    originals = None
    if where != SAME_FILE:
        second = right.file_uploader("File of the originals", SUFFIXES, key="originals-file")
        if second is None:
            return
        originals = row_originals(where, saved_upload(second))
    columns = _mapping(names, originals is not None)
    one, two = st.columns(2)
    dataset = one.text_input(
        "Dataset, where a row names none",
        where if originals else upload.name.rsplit(".", 1)[0],
        max_chars=80,
        key="pairs-dataset",
    )
    generator = two.text_input("Made by, where a row does not say", "unknown", max_chars=80, key="pairs-generator")
    held = session.store()
    known = Known(
        {pair["pair_id"]: pair for pair in review.pairs(held)},
        {spaceless(question): item for question, item in review.item_of_question(held).items()},
    )
    _offer(
        incoming(
            rows,
            columns,
            dataset=dataset.strip() or "imported",
            generator=generator.strip() or "unknown",
            known=known,
            originals=originals,
        )
    )


def _mapping(names: list[str], has_originals: bool) -> dict[str, str]:
    guessed = guessed_columns(names)
    if has_originals and "paraphrase" not in guessed:
        guessed["paraphrase"] = next((name for name in ("text", "question") if name in names), names[0] if names else "")
    with st.expander("Which column is which", expanded=not {"original", "paraphrase"} <= set(guessed) and not has_originals):
        places = st.columns(4)
        offered = [name for name in OFFERED if not (has_originals and name in ("original", "answer", "item_id"))]
        chosen = {
            field: places[i % 4].selectbox(
                field.replace("_", " "),
                [NONE, *names],
                key=f"column-{field}",
                index=1 + names.index(guessed[field]) if guessed.get(field) in names else 0,
            )
            for i, field in enumerate(offered)
        }
    quiet = {field: name for field, name in guessed.items() if field in COLUMNS and field not in OFFERED}
    return quiet | {field: name for field, name in chosen.items() if name != NONE}


def _offer(found: Incoming) -> None:
    st.markdown(
        f"**{len(found.pairs):,} new pairs and {len(found.verdicts):,} verdicts can be taken in"
        f"{f'; {len(found.refused):,} rows are refused' if found.refused else ''}.**"
    )
    for note in found.notes:
        st.caption(plain(note))
    if found.refused:
        with st.expander(f"The {len(found.refused):,} refused rows", expanded=len(found.refused) <= 5):
            st.dataframe([{"line": line, "why": why} for line, why in found.refused[:1000]], hide_index=True)
    if found.pairs:
        with st.expander("The first pairs"):
            st.dataframe(
                [{"original": pair["original"], "paraphrase": pair["paraphrase"]} for pair in found.pairs[:20]], hide_index=True
            )
    if (found.pairs or found.verdicts) and st.button("Take them in", type="primary", icon=":material/upload:"):
        review.keep_pairs(session.store(), found.pairs, found.items)
        review.keep_verdicts(session.store(), found.verdicts)
        st.success(
            f"{len(found.pairs):,} pairs and {len(found.verdicts):,} verdicts are stored.", icon=":material/check_circle:"
        )


def _take_out() -> None:
    held = session.store()
    pairs, verdicts = pair_rows(held), verdict_rows(held)
    if not pairs:
        st.caption("There is nothing to take out yet.")
        return
    kind = st.segmented_control("As", ["csv", "jsonl"], default="csv", key="out-kind", required=True, format_func=str.upper)
    with st.container(horizontal=True):
        for name, rows, columns in (("pairs", pairs, PAIR_COLUMNS), ("verdicts", verdicts, VERDICT_COLUMNS)):
            st.download_button(
                f"{len(rows):,} {name}",
                written(rows, kind, columns),
                f"{name}.{kind}",
                key=f"out-{name}",
                icon=":material/download:",
                on_click="ignore",
                disabled=not rows,
            )
    st.caption("Both come back in here. In CSV, cells that a spreadsheet would run as a formula carry an apostrophe.")


def _publish() -> None:
    st.caption("Accepted rewordings only, with verdicts by numbered reviewers and a card: rule, agreement, retention, gates.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sources = {
            f"{dataset} · {generator}": (dataset, generator)
            for dataset, generator in sorted({(row["dataset"], row["generator"]) for row in review.strata(session.store())})
        }
        source = st.selectbox("Pairs of", ["all sources", *sources], key="publish-source", width=300)
        title = st.text_input("Title", "Verified rewordings", max_chars=120, key="publish-title", width=300)
        repository = st.text_input(
            "Repository on the hub (empty: a folder here)",
            max_chars=120,
            key="publish-repository",
            placeholder="owner/name",
            width=300,
        )
        private = st.toggle("Private", value=True, key="publish-private", disabled=not repository.strip())
        pressed = st.button("Publish", key="publish", icon=":material/publish:", disabled=not title.strip())
    if pressed:
        folder = default_path().parent / "published" / (re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "set")
        where = {"repository": repository.strip(), "private": private} if repository.strip() else {"folder": folder}
        with st.spinner("Publishing …"):
            published = publish(session.store(), title.strip(), source=sources.get(source), **where)
            st.success(plain(published.sentence()), icon=":material/check_circle:")
