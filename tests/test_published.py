"""What docs/published.md and the README quote of published outputs is what the command prints of those files."""

import re
import shlex
from pathlib import Path

import pytest

from flipcore import __main__ as command

pytestmark = pytest.mark.usefixtures("allowed_folders")

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "published.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"-m flipcore audit ([^\n]+)\n```\n```text\n(.*?)```", PAGE, re.DOTALL)
FILES = {
    "gpt-4o-airline.json": "agents/gpt-4o-airline.json",
    "model_outputs_Meta-Llama-3_1-8B-Instruct_5shots.zip": "mmlu_pro_outputs/model_outputs_Meta-Llama-3_1-8B-Instruct_5shots.zip",
    "direct.json": "bbh_outputs/code-davinci-002-direct/date_understanding_few_shot_template_0-255000.json",
    "cot.json": "bbh_outputs/code-davinci-002-cot/date_understanding_few_shot_template_0-255000.json",
}


def test_every_command_of_the_page_is_followed_by_what_it_prints():
    assert [shlex.split(line)[0] for line, _ in BLOCKS] == [*FILES] and PAGE.count("flipcore audit") == len(FILES)


def test_the_numbers_of_the_readme_stand_on_the_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for line in readme.splitlines() if line.startswith("- **") and "% right [" in line]
    numbers = [one for line in lines for one in re.findall(r"\b\d+(?:\.\d+)?(?=%|[\],]| points)", line)]
    printed = re.findall(r"\b\d+(?:\.\d+)?(?=%|[\],]| points| to )", " ".join(text for _, text in BLOCKS))
    assert len(lines) == 3 and len(numbers) > 12
    assert [one for one in numbers if one not in printed] == []


@pytest.mark.slow
@pytest.mark.stand_in("commands/test_audit.py::test_a_zipped_table_whose_options_no_prompt_shows_is_read_as_a_choice")
@pytest.mark.parametrize(("line", "printed"), BLOCKS, ids=list(FILES))
def test_the_command_prints_what_the_page_says(line, printed, shared_data, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    name, *options = shlex.split(line)
    assert command.main(["audit", str(shared_data / FILES[name]), *options]) == 0
    said = capsys.readouterr()[0].splitlines()
    assert [one for one in printed.strip().splitlines() if one not in said] == []
