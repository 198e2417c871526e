"""Where items come from: a shipped set, an uploaded file with its columns, a folder of texts, or the hub."""

from dataclasses import replace

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.core.study import ItemSource
from flipcore.datasets import guess_columns, rows_of
from pages.common.notes import UPLOAD_LIMIT, plain, saved_upload

SHIPPED = ("flipscope_choice", "flipscope_problems", "flipscope_passages", "pocket_choice", "pocket_problems", "pocket_prose")
FIELDS = {
    "question": "question",
    "options": "options",
    "target": "right answer",
    "category": "category",
    "key": "id",
    "source_id": "written from",
}


def with_place(source: ItemSource) -> ItemSource | None:
    """The source with its file or hub address, or None while that is still missing."""
    if source.dataset in SHIPPED:
        return source
    if source.dataset == "file":
        upload = st.file_uploader(
            f"JSONL, JSON, CSV or Parquet, {UPLOAD_LIMIT}", type=["jsonl", "json", "csv", "parquet"], key="add-file"
        )
        return None if upload is None else _with_columns(replace(source, path=str(saved_upload(upload))))
    if source.dataset == "text":
        left, right = st.columns([3, 1])
        upload = left.file_uploader("Text, XML or a zip of them", type=["txt", "xml", "zip"], key="add-text")
        n_words = right.number_input("Words a passage", 20, 2000, 120, key="add-words")
        return None if upload is None else replace(source, path=str(saved_upload(upload)), options={"n_words": int(n_words)})
    if source.dataset == "hub":
        left, middle, right = st.columns(3)
        repo = left.text_input("Repository", placeholder="owner/name", key="add-repo")
        config = middle.text_input("Configuration", key="add-config", placeholder="(default)")
        split = right.text_input("Split", "test", key="add-split")
        options = {"repo": repo, "split": split} | ({"config": config} if config else {})
        return replace(source, options=options) if repo else None
    path = st.text_input("Local copy", key=f"add-path-{source.dataset}", placeholder="a file path, or empty to ask the hub")
    if not path and not st.toggle("Ask the hub", key=f"add-hub-{source.dataset}", help="needs a network"):
        return None
    return replace(source, path=path or None)


def _with_columns(source: ItemSource) -> ItemSource | None:
    """The source with the column mapping that was guessed and may be corrected."""
    try:
        rows = rows_of(source, 50)
        guessed = guess_columns(rows)
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")
        return None
    st.caption("Guessed from the first rows; correct what is wrong. Several option columns may be chosen.")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    mapping: dict[str, str | list[str] | None] = {}
    single = [field for field in FIELDS if field != "options"]
    for place, field in zip(st.columns(len(single)), single, strict=True):
        value = guessed.get(field)
        mapping[field] = place.selectbox(
            FIELDS[field], [None, *columns], key=f"map-{field}", index=columns.index(value) + 1 if value in columns else 0
        )
    value = guessed.get("options")
    option_columns = st.multiselect(
        FIELDS["options"], columns, value if isinstance(value, list) else [value] if value else [], key="map-options"
    )
    mapping["options"] = option_columns[0] if len(option_columns) == 1 else option_columns
    return replace(source, columns={field: value for field, value in mapping.items() if value})
