"""Propose and exchange: paraphrases and verdicts in and out as files, and the verified set as a dataset."""

import streamlit as st

from flipcore.annotation.paraphrases.from_elsewhere import take_in
from flipcore.annotation.paraphrases.pair_files import Incoming, file_rows, incoming, inventory_of, row_originals
from flipcore.annotation.paraphrases.pair_tables import PAIR_COLUMNS, VERDICT_COLUMNS, file_bytes, pair_rows, verdict_rows
from flipcore.annotation.paraphrases.verdicts import KINDS, MODEL, PERSON
from flipcore.datasets import LOADERS
from flipcore.text.counts import count_of
from pages.common import session
from pages.common.files import offer_file
from pages.common.notes import plain, saved_upload, shown_problem
from pages.common.tables import show_table
from pages.paraphrase_review.column_mapping import column_mapping
from pages.paraphrase_review.publishing import publish_set

SUFFIXES = ["jsonl", "json", "csv", "tsv", "parquet"]
SAME_FILE = "in the same file"


def show() -> None:
    st.subheader("Bring pairs or verdicts in", anchor=False)
    st.markdown(
        "A file of pairs has an original and a paraphrase in each row; a file of verdicts a reviewer and their answers, "
        "with the pair's id or its two texts. The originals may also be a file of their own, row by row."
    )
    with shown_problem():
        _bring_in()
    st.subheader("Take them out", anchor=False)
    _take_out()
    st.subheader("Publish the verified set", anchor=False)
    with shown_problem():
        publish_set()


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
    columns = column_mapping(names, originals is not None)
    one, two, three = st.columns(3)
    dataset = one.text_input(
        "Dataset, where a row names none",
        where if originals else upload.name.rsplit(".", 1)[0],
        max_chars=80,
        key="pairs-dataset",
    )
    generator = two.text_input("Made by, where a row does not say", "unknown", max_chars=80, key="pairs-generator")
    kind = three.segmented_control(
        "Reviewers, where a row does not say",
        KINDS,
        default=PERSON,
        key="pairs-reviewers",
        required=True,
        format_func={PERSON: "people", MODEL: "models"}.__getitem__,
        help="Only people's verdicts decide; models' are shown beside them.",
    )
    inventory = inventory_of(session.store())
    _offer(
        incoming(
            rows,
            columns,
            dataset=dataset.strip() or "imported",
            generator=generator.strip() or "unknown",
            inventory=inventory,
            originals=originals,
            reviewer_kind=kind,
        )
    )


def _offer(batch: Incoming) -> None:
    refusals = f"; {count_of(len(batch.refusals), 'row is', 'rows are')} refused" if batch.refusals else ""
    st.markdown(
        f"**{count_of(len(batch.pairs), 'new pair')} and {count_of(len(batch.verdicts), 'verdict')} can be taken in{refusals}.**"
    )
    for note in batch.notes:
        st.caption(plain(note))
    if batch.refusals:
        with st.expander(f"The {len(batch.refusals):,} refused rows", expanded=len(batch.refusals) <= 5):
            show_table("refused-pairs", [{"line": line, "why": why} for line, why in batch.refusals[:1000]])
    if batch.pairs:
        with st.expander("The first pairs"):
            show_table(
                "first-pairs", [{"original": pair["original"], "paraphrase": pair["paraphrase"]} for pair in batch.pairs[:20]]
            )
    if (batch.pairs or batch.verdicts) and st.button("Take them in", type="primary", icon=":material/upload:"):
        st.success(plain(take_in(session.store(), batch)), icon=":material/check_circle:")


def _take_out() -> None:
    store = session.store()
    pairs, verdicts = pair_rows(store), verdict_rows(store)
    if not pairs:
        st.caption("There is nothing to download yet.")
        return
    kind = st.segmented_control("As", ["csv", "jsonl"], default="csv", key="out-kind", required=True, format_func=str.upper)
    with st.container(horizontal=True):
        for name, rows, columns in (("pairs", pairs, PAIR_COLUMNS), ("verdicts", verdicts, VERDICT_COLUMNS)):
            offer_file(
                f"{len(rows):,} {name}", file_bytes(rows, kind, columns), f"{name}.{kind}", key=f"out-{name}", disabled=not rows
            )
    st.caption("Both come back in here. In CSV, cells that a spreadsheet would run as a formula carry an apostrophe.")
