"""Installed as a package, Flipscope has every page and every shipped file, and writes into the user's own folder."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from flipcore.core.version import __version__
from tests.conftest import ROOT

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that holds what a wheel of this tree unpacks to. The tree has a database and a hand-over lying about."""
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("site")
    kept = shutil.ignore_patterns("__pycache__", ".*cache", ".venv", ".git", "tests", "*.duckdb*", "inbox", "uploads")
    shutil.copytree(ROOT, tree, dirs_exist_ok=True, ignore=kept)
    (tree / "data" / "flips.duckdb").write_bytes(b"somebody's results")
    (tree / "data" / "inbox").mkdir()
    (tree / "data" / "inbox" / "study.toml").write_text("somebody's study")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)], cwd=tree, check=True, capture_output=True
    )
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(out)
    return out


def in_package(installed, *words, home):
    environment = os.environ | {"PYTHONPATH": str(installed), "FLIPSCOPE_HOME": str(home)}
    environment.pop("FLIPSCOPE_DB", None)
    return subprocess.run([sys.executable, *words], cwd=home, env=environment, capture_output=True, text=True, timeout=300)


def test_the_version_is_the_same_wherever_it_stands():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = [line.removeprefix("## ").partition(" (")[0] for line in changes.splitlines() if line.startswith("## ")]
    assert versions[versions[0] == "Not released yet"] == __version__  # main goes on after a release
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_package_holds_every_page_and_no_results(installed):
    tracked = subprocess.run(
        ["git", "ls-files", "pages", "data", "app.py", ".streamlit", "flipcore"], cwd=ROOT, capture_output=True, text=True
    ).stdout.split()
    lacking = [
        name
        for name in tracked
        if not name.endswith("ruff.toml")  # settings of the formatter
        and not (installed / name if name.startswith("flipcore") else installed / "flipscope" / name).exists()
    ]
    assert tracked and lacking == []
    assert not (installed / "tests").exists() and not (installed / "flipcore" / "lab").exists()
    assert not list(installed.rglob("*.duckdb")) and not list(installed.rglob("inbox"))


@pytest.mark.slow
def test_the_package_runs_a_study_into_the_users_own_folder(installed, tmp_path):
    before = {path for path in installed.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"}
    run = in_package(installed, "-m", "flipcore", "demo", home=tmp_path)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "flips.duckdb").is_file()
    assert {path for path in installed.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"} == before


@pytest.mark.slow
def test_the_package_opens_its_first_page(installed, tmp_path):
    look = (
        "from streamlit.testing.v1 import AppTest; from flipcore.core.paths import APP; import os; os.chdir(APP.parent)\n"
        "app = AppTest.from_file(str(APP.parent / 'pages' / 'main.py'), default_timeout=120).run()\n"
        "assert not app.exception, app.exception\nprint(app.title[0].value)\n"
        "os._exit(0)"
    )
    run = in_package(installed, "-u", "-c", look, home=tmp_path)
    assert run.stdout.strip() == "Studies", run.stderr
