"""The command `flipscope`: it opens the dashboard, or with a command is `python -m flipcore`."""

import os
import subprocess
import sys
from pathlib import Path

from flipcore.core import interrupts
from flipcore.core.command_line import SCRIPT, STARTED_AS
from flipcore.core.paths import APP
from flipcore.invitations.start import TRUSTED_OPTION, TRUSTED_VARIABLE

CAN_BECOME_ANOTHER = os.name == "posix"
# Freed memory goes back to the system. With its own pool Arrow keeps what an import took, and
# malloc keeps some for each thread. Both are read where a process begins.
MEMORY_VARIABLES = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}


def dashboard_command(options: list[str]) -> list[str]:
    """Return the command that starts the dashboard; `options` go to `streamlit run`."""
    return [sys.executable, "-m", "streamlit", "run", str(APP), *options]


def open_dashboard(options: list[str]) -> int:
    """Become the dashboard; where a process cannot become another (Windows), start it and wait."""
    # The dashboard runs in the app's folder because of its settings there, so relative paths must
    # be made absolute.
    environment = MEMORY_VARIABLES | os.environ
    for name in ("FLIPSCOPE_DB", "FLIPSCOPE_HOME"):
        if environment.get(name):
            environment[name] = str(Path(environment[name]).resolve())
    command = dashboard_command(options)
    # With one process, no other one keeps the database after `flipscope` was ended.
    if CAN_BECOME_ANOTHER:
        sys.stdout.flush()
        os.chdir(APP.parent)
        os.execve(command[0], command, environment)
    try:
        return subprocess.run(command, cwd=APP.parent, env=environment, check=False).returncode
    except KeyboardInterrupt:
        return 130


def main() -> int:
    """Open the dashboard, or run a command. Without words, or with options alone (`flipscope
    --server.port 8502`), it is the dashboard; `flipscope run STUDY.toml` is a command."""
    os.environ[STARTED_AS] = SCRIPT
    words = [word for word in sys.argv[1:] if word != TRUSTED_OPTION]
    if len(words) < len(sys.argv) - 1:
        os.environ[TRUSTED_VARIABLE] = "1"
    if not words or (words[0].startswith("--") and words[0] != "--help"):
        return open_dashboard(words)
    from flipcore.__main__ import main as command

    return command(words)


def start() -> int:
    """Run `main` as a process: the installed command."""
    return interrupts.run(main)
