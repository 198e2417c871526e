"""The README quotes docs/published.md, whose numbers tests/outside/test_pages.py compares with what the commands print."""

import re

from tests.outside.pages import ROOT, commands_of


def test_the_numbers_of_the_readme_stand_on_the_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for line in readme.splitlines() if line.startswith("- **") and "% right [" in line]
    quoted = re.findall(r"\b\d+(?:\.\d+)?(?=%|[\],]| points)", " ".join(lines))
    printed = " ".join(line for command in commands_of("docs/published.md") for line in command.printed)
    numbers = set(re.findall(r"\b\d+(?:\.\d+)?(?=%|[\],]| points| to )", printed))
    assert len(lines) == 3 and len(quoted) > 12
    assert [number for number in quoted if number not in numbers] == []
