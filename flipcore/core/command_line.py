"""The command line in the words that whoever started this process has."""

import os

SCRIPT, MODULE = "flipscope", "python -m flipcore"
STARTED_AS = "FLIPSCOPE_STARTED_AS"


def command(words: str = "") -> str:
    """Return the command of these words, as a sentence names it: `flipscope run STUDY.toml`.

    The script says in the environment that it was used, and the dashboard that it becomes inherits
    that. An installed package may have no `python` that knows flipcore, and a clone no script.
    """
    name = SCRIPT if os.environ.get(STARTED_AS) == SCRIPT else MODULE
    return f"{name} {words}".rstrip()
