"""Uploads leave the server's memory as soon as they are kept beside the database."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Streamlit's own: threads without a script context
    pytest.mark.usefixtures("allowed_folders"),
]


@pytest.fixture(autouse=True)
def beside_a_database(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))


def keep_a_file():
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from pages.common.showing import saved_upload

    upload = st.file_uploader("A file", key="file")
    if upload is not None:
        st.text(str(saved_upload(upload)))
        n_managed = get_script_run_ctx().uploaded_file_mgr._total_bytes
        st.text(f"{n_managed} and {len(upload.getvalue())} bytes")
    st.button("again", key="again")


def keep_a_folder():
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from pages.studies.import_outputs import upload_folder

    uploads = st.file_uploader("Files", key="file", accept_multiple_files=True)
    if uploads:
        st.text(upload_folder(uploads)[0])
        n_managed = get_script_run_ctx().uploaded_file_mgr._total_bytes
        n_held = sum(len(upload.getvalue()) for upload in uploads)
        st.text(f"{n_managed} and {n_held} bytes")
    st.button("again", key="again")


def said(app) -> tuple[Path, str]:
    assert not app.exception, app.exception
    path, held = (line.value for line in app.text)
    return Path(path), held


def test_a_kept_upload_is_held_in_memory_by_nobody_and_stays_what_it_is():
    app = AppTest.from_function(keep_a_file, default_timeout=60).run()
    app.file_uploader(key="file").set_value(("a.csv", b"q\n" * 1000, "text/csv")).run()
    path, held = said(app)
    assert held == "0 and 0 bytes" and path.read_bytes() == b"q\n" * 1000
    app.button(key="again").click().run()
    assert said(app) == (path, "0 and 0 bytes") and path.read_bytes() == b"q\n" * 1000
    app.file_uploader(key="file").set_value(("a.csv", b"r\n" * 10, "text/csv")).run()
    assert said(app)[0].read_bytes() == b"r\n" * 10


@pytest.mark.slow
def test_kept_logs_are_held_in_memory_by_nobody_and_more_may_come():
    app = AppTest.from_function(keep_a_folder, default_timeout=60).run()
    logs = [("a.json", b"1" * 1000, "text/plain"), ("a.json", b"2" * 1000, "text/plain")]
    app.file_uploader(key="file").set_value(logs).run()
    folder, held = said(app)
    contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.json")}
    assert held == "0 and 0 bytes"
    assert contents == {"a.json": b"1" * 1000, "2/a.json": b"2" * 1000}
    app.button(key="again").click().run()
    assert said(app) == (folder, "0 and 0 bytes")
    # As in a browser: those that were there keep their ids, one comes with its content.
    uploader = app.file_uploader(key="file")
    uploader._files = [*uploader._get_files_to_register(), ("new", "b.json", b"3", "text/plain")]
    uploader.run()
    folder, held = said(app)
    assert held == "0 and 0 bytes"
    assert {path.read_bytes()[:1] for path in folder.rglob("*.json")} == {b"1", b"2", b"3"}
