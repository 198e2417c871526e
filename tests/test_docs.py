"""CI runs the command of the README, and every path that README and docs name exists."""

import re
from pathlib import Path

import pytest

from flipcore.claims.catalogue import BY_NAME
from tests import doc_pages

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_ci_runs_the_test_command_of_the_readme():
    command = next(line for line in README.splitlines() if "pytest" in line and line.startswith("python3 -m venv"))
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_links_exists_and_the_site_has_every_page(page):
    found = re.findall(r"\]\(([^)#]+)\)|(?:src|srcset)=\"([^\"]+)\"", page.read_text(encoding="utf-8"))
    links = [link for pair in found for link in pair if link and "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []
    assert page == PAGES[0] or f": {page.name}\n" in (ROOT / ".ci" / "mkdocs.yml").read_text(encoding="utf-8")
    assert (
        page == PAGES[0]
        or page.name == "index.md"
        or page.name in README + (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    )


def test_every_claim_has_a_method_with_its_formula_and_what_it_cannot_see():
    named = [name for one in doc_pages.methods() for name in one.get("claims", ())]
    assert set(named) == set(BY_NAME)
    assert [one["name"] for one in doc_pages.methods() if not (one["formula"] and one["assumes"] and one["fails"])] == []


def test_every_file_that_contributing_links_or_names_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    folders = re.findall(r"`((?:flipcore|tests)/[\w/]+(?:\.py)?)`", text)
    assert links and folders and [name for name in links + folders if not (ROOT / name).exists()] == []
