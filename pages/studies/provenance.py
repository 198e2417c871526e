"""Where a study comes from: when and by which version it was declared, and its declaration to take away."""

import streamlit as st

from pages.common import session
from pages.common.files import offer_file
from pages.common.notes import plain


def provenance(row: dict) -> None:
    """The popover of one card."""
    study_id = row["study_id"]
    with st.popover("Provenance", icon=":material/receipt_long:"):
        st.caption(
            f"Declared {row['created_at']:%Y-%m-%d %H:%M} · flipscope {row['code_version']} · id `{study_id}`. "
            "Every seed is in the declaration; the same declaration has the same id on every machine."
            + (" It names a file by a path of this machine." if _own_file(study_id) else "")
        )
        if row["plugins"]:
            st.caption(plain(f"Plug-ins of other packages: {row['plugins']}."))
        text = session.declared(study_id).to_toml()
        st.code(text, language="toml")
        offer_file("Download the TOML", text, f"{study_id}.toml", key=f"toml-{study_id}")


def _own_file(study_id: str) -> bool:
    return any(source.path for source in session.declared(study_id).items)
