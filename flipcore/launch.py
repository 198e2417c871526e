"""The command `flipscope`: alone it opens the dashboard, with words it is `python -m flipcore`."""

import os
import subprocess
import sys
from pathlib import Path

from flipcore.core import interrupts
from flipcore.core.command_line import SCRIPT, STARTED_AS
from flipcore.core.paths import APP
from flipcore.invitations.start import TRUSTED_OPTION, TRUSTED_VARIABLE

CAN_BECOME_ANOTHER = os.name == "posix"


def dashboard_command(options: list[str]) -> list[str]:
    """Return the command that starts the dashboard; `options` go to `streamlit run`."""
    return [sys.executable, "-m", "streamlit", "run", str(APP), *options]


def open_dashboard(options: list[str]) -> int:
    """Become the dashboard; where a process cannot become another (Windows), start it and wait."""
    # The dashboard runs in the folder of the app, where its settings lie: a relative path would
    # point elsewhere there.
    environment = dict(os.environ)
    for name in ("FLIPSCOPE_DB", "FLIPSCOPE_HOME"):
        if environment.get(name):
            environment[name] = str(Path(environment[name]).resolve())
    command = dashboard_command(options)
    # One process, so that ending `flipscope` leaves none behind that holds the database.
    if CAN_BECOME_ANOTHER:
        sys.stdout.flush()
        os.chdir(APP.parent)
        os.execve(command[0], command, environment)
    try:
        return subprocess.run(command, cwd=APP.parent, env=environment, check=False).returncode
    except KeyboardInterrupt:
        return 130


def main() -> int:
    """Open the dashboard for no words or options alone; else run the command line.

    `flipscope [--trusted-network] [--server.port 8502 ...]` is the dashboard, `flipscope run
    STUDY.toml` and all others are commands.
    """
    os.environ[STARTED_AS] = SCRIPT
    words = [word for word in sys.argv[1:] if word != TRUSTED_OPTION]
    if len(words) < len(sys.argv) - 1:
        os.environ[TRUSTED_VARIABLE] = "1"
    if not words or (words[0].startswith("--") and words[0] != "--help"):
        return open_dashboard(words)
    from flipcore.__main__ import main as command

    return command(words)


def start() -> int:
    """The installed command: `main` as a process of its own, which signals may end at any moment."""
    interrupts.begin()
    try:
        return main()
    except KeyboardInterrupt:  # before the command line was imported, or a second signal
        return interrupts.exit_code()
    finally:
        interrupts.end()
