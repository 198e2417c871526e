"""What every test may use."""

import gc
import importlib
import logging
import os
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

os.environ["FLIPSCOPE_HOME"] = tempfile.mkdtemp(prefix="flipscope-home-")  # nobody's own models are in a test

import flipcore  # noqa: F401 -- before scipy, so that linear algebra has the one thread that the package asks for
from tests import shards

# Collecting makes millions of objects that stay: searching them for garbage again and again took a
# third of its time. `pytest_collection_finish` turns the search on again.
gc.disable()
# Many containers set PYTHONDONTWRITEBYTECODE. Each worker would compile every test in every run, and
# each command that a test starts the whole package.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# a busy machine is slow, not wrong: examples have no deadline of their own
settings.register_profile("flipscope", deadline=None)
settings.load_profile("flipscope")

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"
NO_TIME = "the time of this check was over before it began"


def pytest_configure(config):
    """Have the quick tests' databases work with one thread.

    DuckDB starts a thread per core, beside one process per core of tests. For the small queries of
    a test that costs a sixth more. Slow tests have the threads that a user has.
    """
    if "not slow" not in config.getoption("markexpr"):
        return
    import duckdb  # after flipcore, as all that imports numpy

    connect = duckdb.connect

    def connect_with_one_thread(*args, **kwargs):
        connection = connect(*args, **kwargs)
        connection.execute("SET threads = 1")
        return connection

    duckdb.connect = connect_with_one_thread


def pytest_addoption(parser):
    parser.addoption(
        "--simulations",
        metavar="SHARE:TURN",
        default="1:0",
        help="run a share of the tests marked `simulation`, and of each test's cases marked `cell`: the next ones in the next turn, "
        "and all of them in the part that a run begins with",
    )
    parser.addoption(
        "--part",
        type=int,
        help="begin with this of six parts (tests/shards.py), after the files of --first; the other parts follow",
    )
    parser.addoption(
        "--first", default="", metavar="FILES", help="test files that run before the part, whatever part they are in"
    )
    parser.addoption(
        "--seconds", metavar="FILE", help="add a line per test to this file: its name, its processor seconds, passed or failed"
    )
    parser.addoption(
        "--until",
        metavar="TIME",
        type=float,
        help="skip every test that would begin after this time (seconds since 1970): files run in an order drawn by the seed, so that it "
        "is not always the same ones that are skipped, those with browser tests spread evenly among the others",
    )


def pytest_collection_modifyitems(config, items):
    """Leave out what it is not the turn of: the same tests in every process."""
    share, turn = config.getoption("--simulations").split(":")
    part = config.getoption("--part")
    rows = shards.read_table() if part is not None else {}
    cases = []
    for item in items:
        file = item.nodeid.partition("::")[0]
        if item.get_closest_marker("simulation"):
            cases.append(shards.Case(item.nodeid, file, ()))
        if cell := item.get_closest_marker("cell"):
            values = [str(item.callspec.params[name]) for name in cell.args]
            cases.append(shards.Case(item.nodeid, file, (item.originalname, *values)))
    left_out = shards.left_out(cases, float(share), int(turn), part, rows)
    config.left_out = Counter(name.partition("::")[0] for name in left_out)
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]
    if part is not None:
        _order_parts(config, items, rows)
    elif config.getoption("--until"):
        in_browser = {item.path for item in items if item.get_closest_marker("browser")}
        # by folder and name: files of one name would stand in another order in every process, which pytest-xdist refuses
        place_of = {path: "/".join(path.parts[-3:]) for path in {item.path for item in items}}
        drawn = sorted(place_of, key=lambda path: (random.Random(f"{turn} {place_of[path]}").random(), place_of[path]))
        of_kind = [[path for path in drawn if (path in in_browser) == kind] for kind in (True, False)]
        place = {path: (at / len(paths), path not in in_browser) for paths in of_kind for at, path in enumerate(paths)}
        items.sort(key=lambda item: place[item.path])


def pytest_collection(session):
    """Have every second worker import the test files from the last one on.

    Rewriting the assertions of all files takes 20 seconds in a fresh clone. Workers that import in
    the same order write every file at the same time; in opposite orders each finds the half that
    the other one wrote.
    """
    config = session.config
    if int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 2 == 0:
        return
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    # Streamlit warns at import: caught here as where files are collected.
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.resume_global_capture()
    for path in sorted((ROOT / "tests").rglob("test_*.py"), reverse=True):
        # What cannot be imported is reported where it is collected.
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    capture.suspend_global_capture(in_=True)


LIMITS_S = {"soak": 0, "simulation": 900, "slow": 300, "browser": 300}  # by mark; 0 is none
LIMIT_S = 120  # of a quick test, its fixtures included, on a busy machine


def limit_of(item) -> int:
    """Seconds that a test may take."""
    return next((limit for mark, limit in LIMITS_S.items() if item.get_closest_marker(mark)), LIMIT_S)


def pytest_itemcollected(item):
    """Have a test that takes too long fail and print where every thread is; `--timeout S` sets another limit."""
    if item.config.getoption("timeout", None) is None and not item.get_closest_marker("timeout"):
        item.add_marker(pytest.mark.timeout(limit_of(item)))


def pytest_collection_finish():
    """Search for garbage again, but not among what was collected, which stays until the end.

    Streamlit cuts each of its loggers off from the root. pytest adds a handler to every such logger
    and removes it again, six times per test. At the root it catches the same lines.
    """
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.propagate = True
    gc.freeze()
    gc.enable()


def pytest_sessionfinish(session):
    """Hand the controller what this worker's draw left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    node.config.left_out = Counter(getattr(node, "workeroutput", {}).get("left_out", {}))


def _order_parts(config, items, rows):
    """Put the files in the order of `shards.selected`."""
    by_file: dict[str, list[pytest.Item]] = {}
    for item in items:
        by_file.setdefault(item.nodeid.partition("::")[0], []).append(item)
    first = config.getoption("--first").split()
    order = shards.selected(by_file, config.getoption("--part"), first, rows)
    items[:] = [item for file in order for item in by_file[file]]


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    """Write what a test took, with the fixtures that were made for it, to the file of `--seconds`."""
    before, n_failed = cpu_seconds(), item.session.testsfailed
    yield
    if file := item.config.getoption("--seconds"):
        outcome = "passed" if item.session.testsfailed == n_failed else "failed"
        with open(file, "a", encoding="utf-8") as lines:
            lines.write(f"{item.nodeid}\t{cpu_seconds() - before:.3f}\t{outcome}\n")


def cpu_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    until = item.config.getoption("--until")
    if until and time.time() > until:
        pytest.skip(NO_TIME)


def pytest_terminal_summary(terminalreporter, config):
    """Says what a run left out that was interrupted or out of time: it is not taken for a whole one."""
    _print_files(terminalreporter, config)
    processes = config.pluginmanager.getplugin("dsession")
    planned = getattr(getattr(processes, "sched", None), "collection", None) or ()
    seen = {report.nodeid for reports in terminalreporter.stats.values() for report in reports if hasattr(report, "nodeid")}
    late = {report.nodeid for report in terminalreporter.stats.get("skipped", ()) if NO_TIME in str(report.longrepr)}
    if not_run := [*(name for name in planned if name not in seen), *sorted(late)]:
        n_by_file = Counter(name.split("::")[0] for name in not_run)
        n_planned = len(planned) or len(seen)
        terminalreporter.write_line(f"NOT RUN: {len(not_run):,} of {n_planned:,} tests, of {len(n_by_file)} files")
        for file, n in n_by_file.items():
            terminalreporter.write_line(f"  {n:4} {file}")


def _print_files(terminalreporter, config):
    """Print what each file took: `python -m tests.shards --record` reads these lines."""
    # A second try of what failed runs a part of a file, which does not pass by that.
    if config.getoption("--part") is None or config.getoption("lf"):
        return
    seconds: Counter[str] = Counter()
    n_left_out = Counter(getattr(config, "left_out", {}))
    n_passed: Counter[str] = Counter()
    n_failed: Counter[str] = Counter()
    for outcome, reports in terminalreporter.stats.items():
        for report in reports:
            if hasattr(report, "nodeid") and hasattr(report, "duration"):
                file = report.nodeid.partition("::")[0]
                seconds[file] += report.duration
                n_passed[file] += outcome == "passed" and report.when == "call"
                n_failed[file] += outcome in ("failed", "error")
                n_left_out[file] += outcome == "skipped" and NO_TIME in str(report.longrepr)
    day = time.strftime("%Y-%m-%d", time.gmtime())
    terminalreporter.write_line(f"RUN {day} {shards.commit_now()} part {config.getoption('--part')}")
    for file in sorted(file for file in seconds if n_passed[file] or n_failed[file]):
        terminalreporter.write_line(
            f"RAN {file} {seconds[file]:.1f} s, {n_passed[file]} passed, {n_failed[file]} failed, {n_left_out[file]} left out"
        )


@pytest.fixture(scope="session")
def shared_data():
    """The folder of public benchmark files that are never copied into the repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the public data files of ../shared/data are not on this machine")
    return SHARED_DATA


@pytest.fixture(scope="module")
def allowed_folders(allowed_callables):
    """Admit the tests' own folders and the checkout, as an admin's `FLIPSCOPE_FOLDERS` does.

    For a test that reads files through a function of the core. A user who names a file on the
    command line needs no such variable, so tests/outside sets none. It admits the tests' own judges
    too: many tests share a study that has one.
    """
    folders = (tempfile.gettempdir(), str(ROOT), str(ROOT.parent))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIPSCOPE_FOLDERS", os.pathsep.join(folders))
        yield


@pytest.fixture(scope="module")
def allowed_callables():
    """Admit the judges and annotators that are Python functions of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIPSCOPE_CALLABLES", "tests.annotation.judging,tests.annotation.surveys.annotating")
        yield


@pytest.fixture(scope="module")
def few_permutations():
    """Permute the cross-validation of two sets 19 times, not 199.

    For tests that compare what two places say of it, or look only at what is said: that is the
    same for any number, and takes a tenth of the time.
    """
    from flipcore.reports.holdout import START

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(START, "permutations", 19)
        yield


@pytest.fixture
def store(tmp_path):
    """An empty one."""
    from tests.stores import empty_store  # here: the controller of workers needs no core

    opened = empty_store(tmp_path / "flips.duckdb")
    yield opened
    opened.close()


_BEGUN = time.monotonic()


def pytest_unconfigure(config):
    """Print the processor and wall time of the run, workers and subprocesses included.

    Workers are children of the controller and count only once they have ended, as they have here.
    """
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):
        return
    wall_s = time.monotonic() - _BEGUN
    reporter.write_line(f"{cpu_seconds():,.0f} CPU seconds in {wall_s:,.0f} s")
