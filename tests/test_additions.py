"""CONTRIBUTING says which files an addition touches: each is tried in a copy of the tree, with these files and no others."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.browser.serving import ROOT

pytestmark = pytest.mark.usefixtures("allowed_folders")

WHEELS = ROOT / "tests" / "plugins" / "wheels"
TOY_PROTOCOL = '''"""Toy: single shot under another name."""

from dataclasses import dataclass
from typing import ClassVar

from flipcore.protocols.single_shot import SingleShot


@dataclass(frozen=True)
class Toy(SingleShot):
    name: ClassVar[str] = "toy"


PROTOCOL = Toy()
'''
TOY_READER = '''"""Toy logs, which no file is."""

from flipcore.datasets.recorded.formats.reader import Reader

READER = Reader("toy", "Toy logs", lambda source: False, lambda source, beside: None, lambda source, beside: iter(()))
'''
TOY_MODEL = '\n[toy]\nbackend = "simulated"\noptions = { profile = "clean" }\nprice_in = 0.0\nprice_out = 0.0\n'


def wheel(name: str) -> str:
    return next((WHEELS / name).glob("*.py")).read_text(encoding="utf-8")


# What is added -> (new file, its text), (file with the list, a piece of it, the piece with the line), and what is true then
ADDITIONS = {
    "axis": (
        ("flipcore/axes/toy.py", wheel("flip-shout")),
        ("flipcore/axes/__init__.py", '"identity options', '"identity toy options'),
        "'shout' in flipcore.axes.AXES",
    ),
    "extractor": (
        ("flipcore/extractors/toy.py", wheel("flip-last-letter")),
        ("flipcore/extractors/__init__.py", " written_answer pattern ", " written_answer toy pattern "),
        "'last_letter' in flipcore.extractors.EXTRACTORS",
    ),
    "detector": (
        ("flipcore/detectors/toy.py", wheel("flip-ratio").replace("flipcore.detectors import", "flipcore.detectors.detector import")),
        ("flipcore/detectors/__init__.py", "drop_gap published ", "drop_gap toy published "),
        "'loss_ratio' in flipcore.detectors.DETECTORS",
    ),
    "dataset": (
        ("flipcore/datasets/benchmarks/toy.py", wheel("flip-riddles") + "\n\nLOADER = DATASET\n"),
        ("flipcore/datasets/__init__.py", "shipped gsm ", "shipped toy gsm "),
        "'riddles' in flipcore.datasets.LOADERS",
    ),
    "protocol": (
        ("flipcore/protocols/toy.py", TOY_PROTOCOL),
        ("flipcore/protocols/__init__.py", "(single_shot, rotation)", "(single_shot, rotation, toy)"),
        "'toy' in flipcore.protocols.PROTOCOLS",
    ),
    "log format": (
        ("flipcore/datasets/recorded/formats/toy.py", TOY_READER),
        ("flipcore/datasets/recorded/formats/__init__.py", '"lm_eval inspect_ai ', '"lm_eval toy inspect_ai '),
        "'toy' in [one.name for one in flipcore.datasets.recorded.formats.READERS]",
    ),
    "kind of model": (
        ("flipcore/models/toy.py", wheel("flip-parrot").partition("\nCARD = ")[0].replace("from flipcore.models import ModelKind\n", "")),
        (
            "flipcore/models/kinds.py",
            "\n    shipped=(\n",
            "\n    shipped=(\n        ModelKind('parrot', 'Parrot', 'It says a letter.', toy.Parrot),\n",
        ),
        "'parrot' in flipcore.models.kinds.BACKENDS",
    ),
    "model": (
        ("data/models.toml", TOY_MODEL),
        None,
        "'toy' in flipcore.models.model_cards()",
    ),
}  # fmt: skip


# What the tests need of an addition besides, each with the list that takes a line
LISTS_OF_TESTS = {
    "log format": {"tests/runs/test_every_output_kept.py": "WRITERS = {"},
    "claim": {"tests/lab/claims/__init__.py": "MODULES = (", "flipcore/claims/catalogue.py": "MODULES = ("},
}


def rows() -> dict[str, set[str]]:
    """Return the files that the table under "Add one" names, by what is added."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Add one")[2].partition("\n## ")[0]
    table = text.partition("| what | files |")[2].partition("\n\n")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {cells[0]: set(re.findall(r"`((?:flipcore|pages|data|tests)/[\w/.<>]+)`", cells[1])) for cells in lines}


def test_the_table_names_the_files_that_are_touched_and_they_are_there():
    table = rows()
    assert set(table) == {*ADDITIONS, "page", "claim"}
    for name, (new, line, _) in ADDITIONS.items():
        new_file = new[0].replace("toy.py", "<name>.py")
        assert table[name] == {new_file, *([line[0]] if line else []), *LISTS_OF_TESTS.get(name, ())}, name
    for name, lists in LISTS_OF_TESTS.items():
        for file, beginning in lists.items():
            assert file in table[name] and beginning in (ROOT / file).read_text(encoding="utf-8")
    named = {file for files in table.values() for file in files}
    assert [file for file in named if "<" not in file and not (ROOT / file).is_file()] == []
    assert [file for file in named if "<" in file and not (ROOT / file.split("<")[0]).is_dir()] == []


@pytest.mark.slow
def test_each_addition_needs_these_files_and_no_others(tmp_path):
    for folder in ("flipcore", "data"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "pocket"))
    for (new, text), line, _ in ADDITIONS.values():
        with (tmp_path / new).open("a", encoding="utf-8") as file:
            file.write(text)
        if line:
            listing, before, after = line
            code = (tmp_path / listing).read_text(encoding="utf-8")
            assert code.count(before) == 1, listing
            package = new.rpartition("/")[0].replace("/", ".")
            if "in_files(" not in code:  # the others name a file and import it by its name
                at = code.index("\nfrom flipcore.") + 1
                code = f"{code[:at]}from {package} import toy\n{code[at:]}"
            (tmp_path / listing).write_text(code.replace(before, after), encoding="utf-8")
    (tmp_path / "app.py").touch()  # a clone is known by it
    imports = "flipcore.axes, flipcore.extractors, flipcore.detectors, flipcore.datasets.recorded.formats, flipcore.protocols"
    checks = "\n".join(f"print({name!r}, {check})" for name, (_, _, check) in ADDITIONS.items())
    run = subprocess.run(
        [sys.executable, "-c", f"import {imports}, flipcore.models.kinds\n{checks}"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "FLIPSCOPE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert [line for line in run.stdout.splitlines() if not line.endswith("True")] == []
