"""The command line as the user of this process can type it."""

import os

SCRIPT, MODULE = "flipscope", "python -m flipcore"
STARTED_AS = "FLIPSCOPE_STARTED_AS"


def command(words: str = "") -> str:
    """Return a command for a sentence: `flipscope run STUDY.toml`.

    A clone has no script, and with an installed package the user's `python` may not find flipcore.
    So the script says in the environment that it was used, and the dashboard inherits that.
    """
    name = SCRIPT if os.environ.get(STARTED_AS) == SCRIPT else MODULE
    return f"{name} {words}".rstrip()
