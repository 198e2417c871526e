"""What the command line prints: no name is obeyed by a terminal, and no letter that it lacks ends a run in a traceback."""

import io
import os
import subprocess
import sys

from flipcore.commands.terminal import Terminal


def printed(text, encoding="utf-8"):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    print(text, file=Terminal(stream), end="")
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def test_what_a_terminal_would_obey_is_shown_as_numbers():
    assert printed("\x1b]0;title\x07 \x9b2J a\rb \u202egpj") == "\\u001b]0;title\\u0007 \\u009b2J a\\u000db \\u202egpj"
    assert printed("\r5 of 9 rows   ") == "\r5 of 9 rows   " and printed("a\tb\nä") == "a\tb\nä"


def test_letters_that_the_terminal_lacks_become_plainer_ones():
    assert printed("T ≥ .3 … −1 ä", "ascii") == "T >= .3 ... -1 \\xe4"


def test_a_command_ends_well_where_the_terminal_knows_ascii_alone(tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "FLIPSCOPE_DB": str(tmp_path / "flips.duckdb")}
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(f'{{"id": {i}, "prompt": "Wie heißt {i}? \\u001b[2J", "response": "{i}", "target": {i}}}\n' for i in range(2))
    )
    for words in (["import", str(path), "--name", "Größe ≤ 3 \x1b[31m"], ["stats", "Größe ≤ 3 \x1b[31m"], ["plugins"]):
        ended = subprocess.run([sys.executable, "-m", "flipcore", *words], env=environment, capture_output=True)
        assert ended.returncode == 0 and b"Traceback" not in ended.stderr and b"\x1b" not in ended.stdout + ended.stderr, ended
