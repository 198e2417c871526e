"""Module names and the top level of the repository."""

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.release
CORE = sorted((ROOT / "flipcore").rglob("*.py"))
PAGES = sorted((ROOT / "pages").rglob("*.py"))


def test_module_names_say_something():
    empty = {"utils", "helpers", "manager", "util", "helper"}
    assert [str(path.relative_to(ROOT)) for path in CORE + PAGES if path.stem in empty] == []


def test_the_top_level_is_the_agreed_list():
    agreed = {
        "app.py",
        "pages",
        "flipcore",
        "data",
        "tests",
        "README.md",
        "docs",
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        ".pre-commit-config.yaml",
        "LICENSE",
        "pyproject.toml",
        "ruff-finished.toml",
        ".ci",
        ".streamlit",
        ".gitignore",
        ".git",
        ".github",
    }
    generated = {".venv", ".pytest_cache", ".ruff_cache", ".mypy_cache", ".import_linter_cache", "__pycache__", ".hypothesis"}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith("requirements")}
    assert found - generated <= agreed
