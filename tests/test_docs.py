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


def paths_named(text: str) -> list[str]:
    """Return links, and paths and files in backquotes, of a page; a placeholder gives its folder."""
    links = re.findall(r"\]\(([^)#]+)\)", text)
    quoted = re.findall(r"`([\w.*<>/-]+(?:/[\w.*<>-]+|\.(?:py|toml|md|sql)))`", text)
    paths = [path.partition("<")[0] for path in links + quoted]
    return [path for path in paths if "://" not in path]


def is_in_the_tree(path: str) -> bool:
    """Tell whether a path, which may have a `*`, exists from the root or from inside of flipcore."""
    return any(list(folder.glob(path)) for folder in (ROOT, ROOT / "flipcore", ROOT / "flipcore/datasets/recorded/formats"))


def test_every_path_and_command_that_contributing_names_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = paths_named(text)
    assert len(paths) > 60 and [path for path in paths if not is_in_the_tree(path)] == []
    modules = {module.rstrip(".") for module in re.findall(r"python -m ((?:tests|flipcore)[\w.]*)", text)}
    files = [ROOT / module.replace(".", "/") for module in modules]
    assert len(files) > 5 and [file for file in files if not (file.with_suffix(".py").is_file() or file.is_dir())] == []


def test_a_path_that_is_not_in_the_tree_is_noticed():
    paths = paths_named("See `core/gone.py`, [here](docs/gone.png), `pages/gone/page.py` and `docs/method-*.md`.")
    assert [is_in_the_tree(path) for path in paths] == [False, False, False, True]


@pytest.mark.release
def test_contributing_speaks_of_packages_layers_and_imports():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert re.findall(r"(?i)\b(?:rooms?|floors?|roofs?|arrows?|house)\b", text) == []
