"""Every command of README and docs, run as written and in order, in a clone and with nothing set."""

import os
import re
import signal
import subprocess
import time
import urllib.request

import pytest

from tests.models.server import Server
from tests.outside import clone
from tests.outside.pages import ROOT, Command, commands_of, page_names, words_of_commands
from tests.outside.user import INSTALL_SECONDS, IS_WHOLE, User

SECONDS = 900
START_SECONDS = 120

# The first of these tests installs the clone's environment, which is no part of the limit of a test
# alone: where the cores were busy, pip took longer than the five minutes of a slow test.
pytestmark = pytest.mark.timeout(INSTALL_SECONDS + SECONDS)

# Commands that are not run here, by their beginning, and why.
ASKED_WHOLE = "of demo studies asked whole, an hour; tests/lab/test_demo_sentences.py makes the page"
NOT_RUN = {
    "python3 -m venv .venv && .venv/bin/pip install -q -r requirements-dev.txt": "it is what runs these tests; .ci/run runs it",
    ".venv/bin/python -m tests.lab.pocket card": "recomputes each figure, 20 minutes; tests/lab/pocket/test_card.py compares them",
    ".venv/bin/python -m flipcore run data/ground_truth.toml": "an hour; tests/pages/memorization runs parts of it",
    ".venv/bin/pip install -r requirements-ray.txt": "fetches Ray; tests/runs/cluster run where it is installed",
    ".venv/bin/python -m flipcore run STUDY.toml --on ": "needs Ray; tests/runs/cluster run where it is installed",
    "python3 -m venv served": "fetches torch, 2 GB; tests/models/test_third_party_server.py asks it where it is installed",
    "served/bin/": "needs the environment above; tests/models/test_third_party_server.py asks it where it is installed",
    ".venv/bin/pip install -r requirements-tools.txt": "fetches other tools; tests/lab/test_outside_tools.py calls them where they are",
    ".venv/bin/python -m tests.lab.outside_tools": "ten minutes; tests/lab/test_outside_tools.py tries each of its parts",
    ".venv/bin/python -m flipcore choices STUDY --flips": "an import has no axis of its own; tests/stats/choices/test_flips.py",
    ".venv/bin/python -m flipcore stats --json Demo": ASKED_WHOLE,
    ".venv/bin/python -m flipcore stats --json Which": ASKED_WHOLE,
    '.venv/bin/python -m flipcore stats --json "Is the holdout"': ASKED_WHOLE,
    ".venv/bin/python -m tests.lab.demo_sentences": "of the three files before it, which are not made here",
    "docker ": "needs Docker; tests/outside/test_deployment.py runs the steps of the Dockerfile",
    "sudo ": "changes the machine; tests/outside/test_deployment.py reads the units",
    "export FLIPSCOPE_NAME": "for Docker alone",
    "curl https://YOUR.PUBLIC.NAME": "needs a public name; tests/outside/test_deployment.py asks through nginx",
    ".venv/bin/pip install gguf": "fetches a package; tests/models/test_third_party_server.py asks it where it is installed",
}
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt && "  # run in CI, where IS_WHOLE
# An exit code other than 0 that the page says a command may have.
MAY_END = {"flipcore check": (0, 1, 2), "check ": (0, 1, 2)}


def why_not_run(command: Command) -> str:
    """Why a command is not run here; "" where it is."""
    for start, why in NOT_RUN.items():
        if command.text.startswith(start):
            return why
    is_install = re.match(r"(\.venv/bin/)?pip install ", command.text)
    return "CI installs it before" if is_install and not IS_WHOLE else ""


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """The clone's `.venv`, made once."""
    return clone.make_environment(tmp_path_factory.mktemp("environment"))


@pytest.fixture
def reader(environment, tmp_path, request):
    """Somebody who reads a page in a clone of their own, with the files that it names."""
    page = request.getfixturevalue("page")
    # The README makes the environment itself, as whoever follows it does.
    user = clone.clone(tmp_path, None if page == "README.md" and IS_WHOLE else environment)
    for give in clone.GIVEN.get(page, ()):
        give(user)
    return user


@pytest.fixture
def judge(reader):
    """A model that the reader calls MODEL, behind a real server."""
    with Server(logprobs="none") as server:
        added = run(reader, f".venv/bin/python -m flipcore models add MODEL --endpoint {server.url} --model served")
        assert added.code == 0, added
        yield server


def run(user: User, line: str):
    """Run a line as a shell does."""
    return user.run("bash", "-c", line, seconds=SECONDS)


def answer_once(user: User, line: str) -> str:
    """Start a dashboard, ask it once over HTTP and end it; return what is wrong with it."""
    log = user.folder.parent / "dashboard.log"
    with log.open("w", encoding="utf-8") as out:
        started = subprocess.Popen(
            ["bash", "-c", line],
            cwd=user.folder,
            env=user.environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            # In CI the README's own line installs the packages first.
            install_seconds = INSTALL_SECONDS if "pip install" in line else 0
            until = time.monotonic() + START_SECONDS + install_seconds
            while time.monotonic() < until and started.poll() is None:
                found = re.search(r"http://(?:localhost|0\.0\.0\.0|127\.0\.0\.1):(\d+)", log.read_text(encoding="utf-8"))
                if found:
                    with urllib.request.urlopen(f"http://localhost:{found[1]}/_stcore/health", timeout=30) as answer:
                        return "" if answer.status == 200 else f"it answered {answer.status}"
                time.sleep(0.5)
            return f"it did not start: {log.read_text(encoding='utf-8')[-1000:]}"
        except OSError as error:
            return f"it did not answer: {error}"
        finally:
            if started.poll() is None:
                os.killpg(started.pid, signal.SIGTERM)
            started.wait(30)


def fault_of(user: User, command: Command) -> str:
    """What is wrong with a command as the page has it; "" where it works and prints what the page shows."""
    if "streamlit run" in command.text:
        return answer_once(user, command.text if IS_WHOLE else command.text.removeprefix(INSTALL))
    done = run(user, command.text)
    allowed = next((codes for words, codes in MAY_END.items() if words in command.text), (0,))
    if done.code not in allowed:
        return f"exit {done.code}: {done.err.strip()[-600:] or done.out.strip()[-600:]}"
    if "Traceback" in done.out + done.err:
        return f"a traceback: {done.err[-600:]}"
    lines = done.out.splitlines()
    missing = [line for line in command.printed if line not in lines]
    return f"it does not print: {missing}" if missing else ""


def faults_of(user: User, commands: list[Command]) -> list[str]:
    """Run the commands in order and return the faults, a line each."""
    faults = []
    for command in commands:
        if not why_not_run(command) and (fault := fault_of(user, command)):
            faults.append(f"{command.text!r}: {fault}")
    return faults


SHELL_PAGES = [page for page in page_names() if any(command.language != "python" for command in commands_of(page))]
LATER = ("docs/published.md", "docs/command-line.md")


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in SHELL_PAGES if page not in LATER])
def test_every_command_of_the_page_works_as_written(page, reader):
    faults = faults_of(reader, commands_of(page))
    assert not faults, "\n".join(faults)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["docs/command-line.md"])
def test_every_command_of_the_command_line_works_as_written(page, reader, judge):
    faults = faults_of(reader, commands_of(page))
    assert not faults, "\n".join(faults)


@pytest.mark.slow
@pytest.mark.stand_in("commands/test_audit.py::test_a_zipped_table_whose_options_no_prompt_shows_is_read_as_a_choice")
@pytest.mark.parametrize("page", ["docs/published.md"])
def test_published_outputs_give_what_the_page_shows(page, reader, shared_data):
    commands = commands_of(page)
    assert sum(bool(command.printed) for command in commands) == 8
    faults = faults_of(reader, commands)
    assert not faults, "\n".join(faults)


FRAME = 'import pandas\nframe = pandas.DataFrame({"id": range(40), "score": [1, 1, 0, 1] * 10})\n'


@pytest.mark.slow
@pytest.mark.parametrize("page", ["docs/notebook.md"])
def test_the_notebook_runs_from_top_to_bottom(page, reader):
    demo = run(reader, ".venv/bin/python -m flipcore demo")
    assert demo.code == 0, demo
    cells = [command.text for command in commands_of(page)]
    assert len(cells) == 2
    (reader.folder / "notebook.py").write_text("\n".join([cells[0], FRAME, cells[1]]), encoding="utf-8")
    done = run(reader, ".venv/bin/python notebook.py")
    assert done.code == 0, done
    assert (reader.folder / "decomposition.html").is_file()
    assert "75% right" in done.out and "0.75" in done.out  # thirty of forty are right


def test_every_command_that_is_not_run_here_is_still_on_a_page():
    texts = [command.text for page in page_names() for command in commands_of(page)]
    assert [start for start in NOT_RUN if not any(text.startswith(start) for text in texts)] == []


# What `--help` says, as docs/reference.md has it.
REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
HELP = dict(re.findall(r"^### `([a-z ]+)`\n\n```text\n(.*?)\n```", REFERENCE, re.MULTILINE | re.DOTALL))


def help_of(user: User, *words: str) -> str:
    """What `--help` prints on a terminal of 120 columns."""
    python = str(user.command.parent / "python")  # the reference has the words of `python -m flipcore`
    done = user.run("env", "COLUMNS=120", python, "-m", "flipcore", *words, "--help")
    assert done.code == 0, done
    return done.out


@pytest.mark.slow
def test_the_reference_has_every_command_that_help_lists(user):
    listed = re.search(r"\{([a-z,]+)\}", help_of(user))[1].split(",")
    assert [name for name in HELP if " " not in name] == listed


@pytest.mark.slow
@pytest.mark.parametrize("name", HELP)
def test_the_reference_says_what_help_says(user, name):
    assert help_of(user, *name.split()).rstrip() == HELP[name]


@pytest.mark.parametrize("page", [page for page in page_names() if page != "docs/reference.md"])
def test_every_command_and_option_that_a_page_names_is_in_help(page):
    unknown = []
    for words in words_of_commands(page):
        name = " ".join(words[:2]) if " ".join(words[:2]) in HELP else words[0]
        options = [word.partition("=")[0] for word in words if word.startswith("--")]
        if name not in HELP or any(not re.search(rf"{option}\b", HELP[name]) for option in options):
            unknown.append(" ".join(words))
    assert unknown == []


def test_the_page_of_the_command_line_shows_every_command():
    shown = {words[0] for words in words_of_commands("docs/command-line.md")}
    assert sorted({name.split()[0] for name in HELP} - shown) == []
