"""Opens a page of the dashboard at once, as a link to it does: the Studies page is not drawn before it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.navigation.page import calc_hash
from streamlit.testing.v1 import AppTest

from flipcore.runs import demo
from tests.browser.quick_server import FEW_PERMUTATIONS
from tests.browser.serving import ROOT

STUDIES = "studies/page.py"
# The marks of a module that opens pages. Streamlit warns of threads without a script context.
PAGE_MARKS = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("allowed_folders")]


def new_app(page: str = STUDIES, state: Mapping[str, Any] | None = None, **link: str) -> AppTest:
    """The app before its first run, which is one of `page` with the query parameters of `link` and what its session holds."""
    app = AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=600)
    for key, value in (state or {}).items():
        app.session_state[key] = value
    for key, value in link.items():
        app.query_params[key] = value
    if page != STUDIES:  # AppTest's own switch_page knows pages by their address after a first run alone
        app._page_hash = calc_hash(page.split("/")[0])
    return app


def opened(page: str = STUDIES, state: Mapping[str, Any] | None = None, **link: str) -> AppTest:
    """The app after its first run, which was one of this page."""
    app = new_app(page, state, **link).run()
    assert page == STUDIES or app._finished_page_script_hash == calc_hash(page.split("/")[0]), f"{page} was not opened"
    return app


def quiet(patch, path: Path | None = None) -> None:
    """The dashboard over the file at `path` fills no store, starts no study and looks into no inbox by itself, as long as `patch` holds."""
    if path is not None:
        patch.setenv("FLIPSCOPE_DB", str(path))
    patch.setattr("flipcore.runs.background.Registry.watch_inbox", lambda self: None)
    patch.setattr("flipcore.runs.background.Registry.start", lambda self, study: None)
    patch.setattr(demo, "fill_store", lambda store: None)


def words(app: AppTest) -> str:
    """Everything that is said, what stands on hover behind it, without Markdown's escapes."""
    kinds = ("markdown", "info", "error", "warning", "success", "caption", "title", "subheader", "text")
    said = []
    for kind in kinds:
        for block in getattr(app, kind):
            said += [str(block.value), getattr(block.proto, "help", "")]
    return " ".join(filter(None, said)).replace("\\", "")


def few_permutations(patch) -> None:
    """The Holdout page permutes its cross-validation fewer times where nobody says otherwise, for as long as `patch` holds."""
    from flipcore.reports.holdout import START

    patch.setitem(START, "permutations", FEW_PERMUTATIONS)


def clear_caches() -> None:
    """Caches outlive a test and hold its store."""
    st.cache_resource.clear()
    st.cache_data.clear()
