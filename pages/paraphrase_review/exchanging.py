"""Propose and exchange: paraphrases and verdicts in and out as files, and the verified set as a dataset."""

import re
from typing import Any

import streamlit as st

from flipcore.annotation.paraphrases import pair_files
from flipcore.annotation.paraphrases.publish import publish
from flipcore.annotation.paraphrases.verdicts import KINDS, MODEL, PERSON
from flipcore.datasets import LOADERS
from flipcore.store.connection import default_path
from flipcore.store.queries import review
from flipcore.text.counts import count_of
from pages.common import screen, session
from pages.common.showing import offer_file, plain, saved_upload, show_table, shown_problem

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
    rows = pair_files.file_rows(saved_upload(upload))
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
        originals = pair_files.row_originals(where, saved_upload(second))
    columns = column_mapping(names, originals is not None)
    one, two, three = st.columns(3)
    dataset = one.text_input(
        "Dataset, where a row names none",
        where if originals else upload.name.rsplit(".", 1)[0],
        max_chars=80,
        key="pairs-dataset",
    )
    generator = two.text_input("Made by, where a row does not say", "unknown", max_chars=80, key="pairs-generator")
    kind = screen.segments(
        "Reviewers, where a row does not say",
        KINDS,
        "pairs-reviewers",
        default=PERSON,
        place=three,
        bind=None,
        label_visibility="visible",
        format_func={PERSON: "people", MODEL: "models"}.__getitem__,
        help="Only people's verdicts decide; models' are shown beside them.",
    )
    inventory = pair_files.inventory_of(session.store())
    _offer(
        pair_files.incoming(
            rows,
            columns,
            dataset=dataset.strip() or "imported",
            generator=generator.strip() or "unknown",
            inventory=inventory,
            originals=originals,
            reviewer_kind=kind,
        )
    )


def _offer(batch: pair_files.Incoming) -> None:
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
        st.success(plain(pair_files.take_in(session.store(), batch)), icon=":material/check_circle:")


def _take_out() -> None:
    store = session.store()
    pairs, verdicts = pair_files.pair_rows(store), pair_files.verdict_rows(store)
    if not pairs:
        st.caption("There is nothing to download yet.")
        return
    kind = screen.segments("As", ["csv", "jsonl"], "out-kind", bind=None, label_visibility="visible", format_func=str.upper)
    with st.container(horizontal=True):
        for name, rows in (("pairs", pairs), ("verdicts", verdicts)):
            content = pair_files.file_bytes(rows, kind)
            offer_file(f"{len(rows):,} {name}", content, f"{name}.{kind}", key=f"out-{name}", disabled=not rows)
    st.caption("Both come back in here. In CSV, cells that a spreadsheet would run as a formula carry an apostrophe.")


# Which column of an uploaded file of pairs or verdicts is what.

NONE = "(none)"
OFFERED = tuple(
    (
        "original paraphrase pair_id dataset generator item_id answer reviewer reviewer_kind meaning difficulty "
        "solution_path note"
    ).split()
)


def column_mapping(names: list[str], has_originals: bool) -> dict[str, str]:
    """Field -> column: guessed from the names, and corrected by hand."""
    guessed = pair_files.guessed_columns(names)
    if has_originals and "paraphrase" not in guessed:
        guessed["paraphrase"] = next((name for name in ("text", "question") if name in names), names[0] if names else "")
    with st.expander("Which column is which", expanded=not {"original", "paraphrase"} <= set(guessed) and not has_originals):
        places = st.columns(4)
        offered = [name for name in OFFERED if not (has_originals and name in ("original", "answer", "item_id"))]
        mapping = {
            field: places[i % 4].selectbox(
                field.replace("_", " "),
                [NONE, *names],
                key=f"column-{field}",
                index=1 + names.index(guessed[field]) if guessed.get(field) in names else 0,
            )
            for i, field in enumerate(offered)
        }
    quiet = {field: name for field, name in guessed.items() if field in pair_files.COLUMNS and field not in OFFERED}
    return quiet | {field: name for field, name in mapping.items() if name != NONE}


# Publish the verified set: accepted paraphrases with their verdicts, as a folder or on the hub.


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
