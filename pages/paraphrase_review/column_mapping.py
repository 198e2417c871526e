"""Which column of an uploaded file of pairs or verdicts is what."""

import streamlit as st

from flipcore.annotation.paraphrases.pair_files import COLUMNS, guessed_columns

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
    "reviewer_kind",
    "meaning",
    "difficulty",
    "solution_path",
    "note",
)


def column_mapping(names: list[str], has_originals: bool) -> dict[str, str]:
    """Field -> column: guessed from the names, and corrected by hand."""
    guessed = guessed_columns(names)
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
    quiet = {field: name for field, name in guessed.items() if field in COLUMNS and field not in OFFERED}
    return quiet | {field: name for field, name in mapping.items() if name != NONE}
