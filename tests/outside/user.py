"""A user's machine in small: a home, an empty folder, and nothing set that a user does not set.

Nothing here imports the product. A command runs in a subprocess whose environment holds PATH, HOME
and LANG alone; the tests' own variables stay outside.
"""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path
from venv import EnvBuilder

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120
INSTALL_SECONDS = 600
# In CI slow tests use the wheel as pip installs it; elsewhere its files beside this environment's packages.
IS_WHOLE = bool(os.environ.get("CI"))

# What pip writes as the package's console script.
_SCRIPT = """#!{python}
import sys
from flipcore.launch import start
sys.exit(start())
"""


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout (under a second; needs no network)."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack_wheel(wheel: Path, site: Path) -> Path:
    """Unpack a wheel as pip would, beside the packages of this environment."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def install_wheel(wheel: Path, environment: Path) -> Path:
    """Install a wheel into a new virtual environment and return its `flipscope`."""
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "pip"), "install", "-q", str(wheel)]
    subprocess.run(pip, check=True, timeout=INSTALL_SECONDS)
    return environment / "bin" / "flipscope"


@dataclass(frozen=True)
class Result:
    """Exit code and output of one command."""

    code: int
    out: str
    err: str

    @property
    def first_line(self) -> str:
        return next((line for line in self.out.splitlines() if line.strip()), "")


def write_script(path: Path, text: str) -> Path:
    """Write an executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def make_stand_in(folder: Path, site: Path) -> Path:
    """Make a virtual environment of the package in `site` and of this environment's packages, and return its `flipscope`.

    It takes no network and no second. Its Python is what a command starts further processes with.
    """
    EnvBuilder(symlinks=True).create(folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    paths = [str(site), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (packages / "stand_in.pth").write_text("\n".join(dict.fromkeys(paths)) + "\n", encoding="utf-8")
    return write_script(folder / "bin" / "flipscope", _SCRIPT.format(python=folder / "bin" / "python"))


class User:
    """Runs commands in `folder` with a home of its own.

    `command` is the installed `flipscope`; its folder stands first in PATH.
    """

    def __init__(self, home: Path, folder: Path, command: Path) -> None:
        self.home, self.folder, self.command = home, folder, command
        home.mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def environment(self) -> dict[str, str]:
        """PATH, HOME and LANG: no variable that a user does not have."""
        path = f"{self.command.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8"}

    def flipscope(self, *words: str | Path, cwd: Path | None = None, stdin: str = "") -> Result:
        """Run `flipscope WORDS…` and return what it printed."""
        return self.run(str(self.command), *map(str, words), cwd=cwd, stdin=stdin)

    def run(self, *words: str, cwd: Path | None = None, stdin: str = "", seconds: float = SECONDS) -> Result:
        """Run any command."""
        done = subprocess.run(
            words, cwd=cwd or self.folder, env=self.environment, input=stdin, capture_output=True, text=True, timeout=seconds
        )
        return Result(done.returncode, done.stdout, done.stderr)


def write_csv(path: Path, rows: list[dict]) -> Path:
    """Write rows as comma-separated values."""
    import csv

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_jsonl(path: Path, rows: list[dict]) -> Path:
    """Write one JSON object per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
