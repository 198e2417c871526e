"""A clone of the repository as somebody has it who follows the README, with the files that the pages name.

The clone's `.venv` is made by the README's own command in CI. Elsewhere it is a stand-in that
holds this environment's packages, so that a page can be tried in seconds and without a network.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.outside.user import INSTALL_SECONDS, IS_WHOLE, ROOT, User, make_stand_in, write_csv, write_script

RUNS = Path(__file__).with_name("runs")
SHARED_DATA = ROOT.parent / "shared" / "data"

# What pages fetch, and where a copy lies that is no part of the repository.
STORED_COPIES = {
    "gpt-4o-airline.json": "agents/gpt-4o-airline.json",
    "model_outputs_Meta-Llama-3_1-8B-Instruct_5shots.zip": (
        "mmlu_pro_outputs/model_outputs_Meta-Llama-3_1-8B-Instruct_5shots.zip"
    ),
    "code-davinci-002-direct/date_understanding_few_shot_template_0-255000.json": (
        "bbh_outputs/code-davinci-002-direct/date_understanding_few_shot_template_0-255000.json"
    ),
    "code-davinci-002-cot/date_understanding_few_shot_template_0-255000.json": (
        "bbh_outputs/code-davinci-002-cot/date_understanding_few_shot_template_0-255000.json"
    ),
    "code-davinci-002-direct/boolean_expressions_few_shot_template_0-255000.json": (
        "bbh_outputs/code-davinci-002-direct/boolean_expressions_few_shot_template_0-255000.json"
    ),
    "code-davinci-002-cot/boolean_expressions_few_shot_template_0-255000.json": (
        "bbh_outputs/code-davinci-002-cot/boolean_expressions_few_shot_template_0-255000.json"
    ),
    "gsm/gpt-4o-mini-2024-07-18.json": "logs/zeroeval/gsm_gpt-4o-mini.json",
    "data/example_model_solutions.jsonl": "gsm8k/example_model_solutions.jsonl",
}

# `curl -L -o FILE URL` and `curl -LO URL`, from the stored copies.
_CURL = """#!{python}
import shutil, sys
words = sys.argv[1:]
url = words[-1]
out = words[words.index("-o") + 1] if "-o" in words else url.rpartition("/")[2]
for end, path in {copies!r}.items():
    if url.endswith(end):
        shutil.copy(path, out)
        sys.exit(0)
sys.exit("no stored copy of " + url)
"""

# A study whose items, prompts and answers serve every command of docs/command-line.md.
STUDY = """
name = "STUDY"
layout = "plain"
control = "random"

[[items]]
dataset = "file"
path = "capitals.jsonl"

[[items]]
dataset = "pocket_choice"
n = 12

[[items]]
dataset = "pocket_problems"
role = "benchmark"
n = 12
where = { split = "dosed", dose = [64, 256] }

[[items]]
dataset = "pocket_problems"
role = "control"
n = 12
where = { split = "control" }

[[axes]]
name = "identity"

[[axes]]
name = "prompt_format"

[[extractors]]
name = "regex"

[[extractors]]
name = "text_match"

[[models]]
name = "pocket"
max_tokens = 48
"""
CAPITALS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Norway": "Oslo", "Japan": "Tokyo", "Peru": "Lima"}


def make_environment(folder: Path) -> Path:
    """Make `.venv` as the README says, or its stand-in."""
    environment = folder / ".venv"
    if IS_WHOLE:
        copy_tree(folder)
        install = "python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt && .venv/bin/pip install -q ."
        subprocess.run(["bash", "-c", install], cwd=folder, check=True, timeout=INSTALL_SECONDS)
        return environment
    make_stand_in(environment, ROOT)
    python = environment / "bin" / "python"
    write_script(environment / "bin" / "streamlit", f'#!/bin/sh\nexec {python} -m streamlit "$@"\n')
    return environment


def copy_tree(folder: Path) -> None:
    """Copy what git has, as a clone does."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def clone(folder: Path, environment: Path | None) -> User:
    """Somebody in a clone of their own, with an environment that was made before or without one."""
    work = folder / "flipscope"
    work.mkdir(parents=True)
    copy_tree(work)
    if environment:
        (work / ".venv").symlink_to(environment)
    (folder / "bin").mkdir()
    for name in ("python", "pip", "flipscope"):
        (folder / "bin" / name).symlink_to(work / ".venv" / "bin" / name)
    copies = {end: str(SHARED_DATA / path) for end, path in STORED_COPIES.items()}
    write_script(folder / "bin" / "curl", _CURL.format(python=sys.executable, copies=copies))
    return User(folder / "home", work, folder / "bin" / "flipscope")


def give_log(user: User) -> None:
    """An Inspect log under the names that pages give to somebody's log."""
    for name in ("my.eval", "FILE…", "main.eval", "OLD"):
        shutil.copy(RUNS / "inspect" / "old.eval", user.folder / name)
    for name in ("pull-request.eval", "NEW"):
        shutil.copy(RUNS / "inspect" / "new.eval", user.folder / name)
    for name in ("old", "new"):
        (user.folder / "logs" / name).mkdir(parents=True)
        shutil.copy(RUNS / "inspect" / f"{name}.eval", user.folder / "logs" / name / "sums.eval")
    shutil.copytree(RUNS / "lm_eval", user.folder / "LOGS")


def give_study(user: User) -> None:
    """A study of the name STUDY, declared, and its items."""
    rows = [{"question": f"What is the capital of {country}?", "answer": city} for country, city in CAPITALS.items()]
    write_csv(user.folder / "capitals.csv", rows)
    (user.folder / "STUDY.toml").write_text(STUDY.replace("capitals.jsonl", "capitals.csv"), encoding="utf-8")


def give_other_database(user: User) -> None:
    """A database from another machine: that of somebody who imported a log."""
    other = User(user.home.parent / "other-home", user.home.parent / "other", user.command)
    shutil.copytree(RUNS / "lm_eval", other.folder / "lm_eval")
    python = user.folder / ".venv" / "bin" / "python"
    database = user.folder / "other.duckdb"
    done = subprocess.run(
        [str(python), "-m", "flipcore", "import", str(other.folder / "lm_eval")],
        cwd=user.folder,
        env=user.environment | {"FLIPSCOPE_DB": str(database)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def give_two_models(user: User) -> None:
    """Outputs of two models, imported under the name STUDY."""
    rows = []
    for number in range(60):
        for model, one_in in (("A", 5), ("B", 2)):
            for epoch in (0, 1):
                is_wrong = (number + epoch) % one_in == 0
                output = f"The answer is {2 * number + is_wrong}." if (number + epoch) % 17 else "I do not know."
                row = {"id": number, "model": model, "epoch": epoch, "category": ("north", "south", "east")[number % 3]}
                rows.append(row | {"question": f"What is {number} + {number}?", "output": output, "target": 2 * number})
    write_csv(user.folder / "outputs.csv", rows)
    done = user.run("bash", "-c", ".venv/bin/python -m flipcore import outputs.csv --name STUDY", seconds=300)
    assert done.code == 0, done


def give_clone_below(user: User) -> None:
    """A clone of Flipscope in the folder of the same name, as a CI job of another repository has it."""
    copy_tree(user.folder / "flipscope")


GIVEN: dict[str, tuple[Callable[[User], None], ...]] = {
    "docs/command-line.md": (give_log, give_study, give_other_database, give_clone_below),
    "docs/tutorial-choices.md": (give_two_models,),
    "docs/tutorial-log.md": (give_log, give_clone_below),
}
