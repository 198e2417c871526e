"""A question's page is a folder with its page and one entry of the list; the rest of the dashboard and its tests read that list."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from streamlit.navigation.page import calc_hash

from flipcore.core.study import ModelUse
from pages.navigation import BY_FOLDER, PAGES, find_page, title_of
from tests.browser.serving import ROOT
from tests.pages.opening import new_app, quiet
from tests.runs.test_runner import tiny_study
from tests.stores import store_with

pytestmark = pytest.mark.usefixtures("allowed_folders")

TOY = '''"""Toy: is one page enough?"""

import streamlit as st

from pages.common import session
from pages.common.header import page_header
from pages.common.showing import plain

study_id = page_header("toy")
if study_id is not None:
    st.markdown(plain(f"It is of {session.declared(study_id).name}."))
'''
ENTRY = """    Entry("toy", "Toy", ":material/toys:", "Is one page enough?", STUDY_LINK, RECORD,
          on_card=lambda study: True, has_decisions=True),
"""
LOOK = """
import json
from streamlit.navigation.page import calc_hash
from streamlit.testing.v1 import AppTest
import flipcore
from flipcore.core.study import ModelUse
from flipcore.runs import demo
from flipcore.runs.background import Registry
Registry.watch_inbox = lambda self: None
demo.fill_store = lambda store: None
import pages.navigation
from tests.claims.walks import sent

def said(folder, part=None):
    app = AppTest.from_file("pages/main.py", default_timeout=300)
    if folder:
        app._page_hash = calc_hash(folder)
    if part:
        app.session_state["part"] = part
    app.run()
    assert not app.exception
    return sent(app)

from tests.pages.test_links import WAYS
from tests.pages.test_hostile_studies import PAGES
lists = [name for name, pages in (("links", WAYS), ("hostile studies", PAGES)) if "toy" in pages]
there = {"toy": said("toy"), "studies": said("")}
print(json.dumps({**there, "file": pages.navigation.__file__, "decisions": said("report", "Decisions"), "lists": lists}))
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Streamlit's own: threads without a script context
@pytest.mark.parametrize(("name", "entry"), [(name, one) for one in PAGES for name in one.former_links])
def test_a_link_of_an_earlier_release_opens_what_it_did(name, entry, tmp_path, monkeypatch):
    # Two models, because Ranking shows nothing of one.
    study = tiny_study(models=(ModelUse("simulated-noisy"), ModelUse("simulated-clean")))
    quiet(monkeypatch, store_with(tmp_path, study))
    app = new_app(f"{name}/page.py", study=study.study_id, model="simulated-noisy").run()
    assert not app.exception and app._finished_page_script_hash == calc_hash(entry.folder)
    assert {key: app.segmented_control(key=key).value for key in entry.former_links[name]} == entry.former_links[name]
    assert study.study_id in app.query_params["study"]
    assert find_page(name) == (entry, entry.former_links[name]) and title_of(name) == entry.title


def test_the_bar_at_the_top_has_eight_pages():
    assert [one.title for one in PAGES if one.visibility == "visible"] == [
        "Studies", "Score", "Flips", "Ranking", "Memory", "Holdout", "Review", "Audit",
    ]  # fmt: skip


def test_every_folder_with_a_page_has_an_entry_and_every_entry_its_page():
    assert set(BY_FOLDER) == {path.parent.name for path in (ROOT / "pages").glob("*/page.py")}


@pytest.mark.slow
def test_a_page_is_added_in_two_places(tmp_path):
    shutil.copytree(ROOT / "pages", tmp_path / "pages", ignore=shutil.ignore_patterns("__pycache__"))
    page, entries = tmp_path / "pages/toy/page.py", tmp_path / "pages/navigation.py"
    page.parent.mkdir()
    page.write_text(TOY)
    text = entries.read_text(encoding="utf-8")
    entries.write_text(text.replace("PAGES = (\n", f"PAGES = (\n{ENTRY}", 1), encoding="utf-8")
    database = store_with(tmp_path, tiny_study())
    run = subprocess.run(
        [sys.executable, "-c", LOOK],
        cwd=tmp_path,
        env=os.environ | {"FLIPSCOPE_DB": str(database), "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    seen = json.loads(run.stdout.splitlines()[-1])
    assert seen["file"] == str(entries)
    assert "Toy" in seen["toy"] and "Is one page enough?" in seen["toy"] and f"It is of {tiny_study().name}" in seen["toy"]
    assert "write the sentence to the record" in seen["toy"]  # the list behind `?`
    assert "Toy" in seen["studies"] and "Open Toy" in seen["decisions"]
    assert seen["lists"] == ["links", "hostile studies"]
