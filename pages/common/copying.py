"""What may be taken along from a page: its first sentence with where it is from, the link to the view, the methods
of its study."""

import streamlit as st

from flipcore.core.version import __version__
from pages.common.showing import shown_problem
from pages.components import component

_sentence = component("copy_sentence")
_link = component("copy_link")


def copy_link(*, key: str) -> None:
    """The address carries study, model, item, axis, readout and variant, so it opens the same view."""
    _link(key=key, width="content")


def offer_copy(source: str, study_id: str = "") -> None:
    """A small window beside the title. `source` is what the sentences are about; with a study its methods are offered too."""
    with st.popover("Copy", icon=":material/content_copy:", type="tertiary", help="The sentence, the link, the methods"):
        _sentence(key="copy-sentence", data={"source": f"{source}, Flipscope {__version__}"}, width="content")
        if study_id:
            _methods(study_id)


@st.fragment
def _methods(study_id: str) -> None:
    """Computed when somebody asks for them: they name every estimate of the study."""
    if st.button("Methods with BibTeX", key="copy-methods", icon=":material/format_quote:"):
        from flipcore.reports.exports.methods_text import methods_text
        from pages.common.headline import study_contents

        with shown_problem():
            methods = methods_text(study_contents(study_id))
            st.code(methods.text, language=None, wrap_lines=True)
            st.code(methods.bibtex, language="latex", height=220)
