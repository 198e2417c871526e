"""The README's commands are the ones that CI runs, and every path it names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_ci_runs_the_test_command_of_the_readme():
    command = next(line for line in README.splitlines() if "pytest" in line and line.startswith("python3 -m venv"))
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_every_file_that_the_readme_links_exists():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links and [link for link in links if not (ROOT / link).exists()] == []


def test_every_study_command_of_the_readme_is_known_to_the_command_line():
    from flipcore.__main__ import parser

    named = set(re.findall(r"python -m flipcore (\w+)", README))
    assert named and named <= set(parser()._subparsers._group_actions[0].choices)


def test_every_file_that_contributing_links_or_names_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    folders = re.findall(r"`(flipcore/[\w/]+|pages)`", text)
    assert links and folders and [name for name in links + folders if not (ROOT / name).exists()] == []
