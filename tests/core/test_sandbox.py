"""Code of models in its sandbox: what passes, what fails, and what hostile code cannot reach."""

import errno
import gzip
import json
import os
import platform
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flipcore.core import sandbox
from flipcore.core.errors import BadInput
from flipcore.core.sandbox import FAILED, NO_TESTS, PASSED, STOPPED, Program

TESTS = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(5) == 10\n"
RIGHT = "def double(x):\n    return 2 * x\n"


@pytest.fixture(autouse=True)
def allowed(monkeypatch):
    monkeypatch.setenv(sandbox.VARIABLE, "1")
    if reason := sandbox.why_not():
        pytest.skip(reason)


def verdict(code, tests=TESTS, **rest):
    return sandbox.run(Program(code, "double", tests, **{"cpu_s": 2} | rest))


def inside(action):
    """Code that does something first and then is right: it passes where that raised nothing."""
    return "import ctypes, os, shutil, signal, socket, subprocess, sys\ndef double(x):\n    " + action + "\n    return 2 * x\n"


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (RIGHT, PASSED),
        ("import threading\n" + RIGHT, PASSED),
        ("def double(x):\n    print(x)\n    return 2 * x", PASSED),
        ("def double(x):\n    return x", FAILED),
        ("def double(x) return", FAILED),
        ("def double(x):\n    raise KeyError(x)", FAILED),
        ("def half(x):\n    return x", FAILED),
        ("", FAILED),
        ("def double(x):\n    return double(x)", FAILED),
        ("def double(x):\n    return [2 * x]", FAILED),
        ("def double(x):\n    return object()", FAILED),
    ],
)
def test_code_passes_where_its_tests_do(code, outcome):
    assert verdict(code)[0] == outcome


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nsys.exit(0)\n" + RIGHT,
        "import os\nos._exit(0)\n" + RIGHT,
        "import sys\ndef double(x):\n    sys.exit(0)",
        "import os\ndef double(x):\n    os._exit(0)",
        "import os, signal\ndef double(x):\n    os.kill(os.getpid(), signal.SIGKILL)",
        "import os, signal\ndef double(x):\n    os.kill(os.getppid(), signal.SIGKILL)\n    os.kill(-1, signal.SIGKILL)",
        "import atexit, os\natexit.register(lambda: os._exit(0))\ndef double(x):\n    raise SystemExit(0)",
        "class Same(int):\n    def __eq__(self, other):\n        return True\ndef double(x):\n    return Same(1)",
        "class Same(list):\n    def __eq__(self, other):\n        return True\ndef double(x):\n    return Same()",
        "import builtins\nbuiltins.AssertionError = builtins.Warning\ndef double(x):\n    return 0",
        "import sys\nsys.excepthook = lambda *_: None\ndef double(x):\n    return 0",
        'print(\'["passed", ""]\')\ndef double(x):\n    print(\'["passed", ""]\', flush=True)\n    return 0',
        'import os\nfor n in range(3, 64):\n    try: os.write(n, b\'["passed", ""]\\n\')\n    except OSError: pass\n'
        "def double(x):\n    return 0",
        "import gc, sys\ndef double(x):\n    for one in gc.get_objects():\n"
        "        if isinstance(one, dict) and 'check' in one: one['check'] = print\n    return 0",
        "def double(x):\n    import inspect\n    for one in inspect.stack(): one.frame.f_globals['candidate'] = 4\n    return 0",
        "def double(x):\n    return ['list', [4]]",
    ],
)
def test_code_that_ends_early_prints_or_patches_has_not_passed(code):
    assert verdict(code)[0] == FAILED


@pytest.mark.slow
def test_code_that_loops_sleeps_or_floods_is_ended_and_says_so():
    begin = time.monotonic()
    assert verdict("def double(x):\n    while True: pass", cpu_s=1) == (FAILED, "It took more than 1 s of processor time.")
    assert verdict("import time\ndef double(x):\n    time.sleep(10**6)", cpu_s=1) == (FAILED, "It took longer than 6 s.")
    assert verdict("import os\ndef double(x):\n    while True: os.write(1, b'x' * 65536)", cpu_s=1)[0] == FAILED
    assert verdict("def double(x):\n    return 'x' * 2**24", cpu_s=2)[0] == FAILED
    assert verdict("def double(x):\n    return len('x' * 2**34)", cpu_s=2) == (FAILED, "MemoryError")
    assert verdict("def double(x):\n    data = []\n    while True: data = [data, data]", cpu_s=1)[0] == FAILED
    assert time.monotonic() - begin < 600


@pytest.mark.parametrize(
    "action",
    [
        "os.fork()",
        "subprocess.run(['true'])",
        "os.posix_spawn('/usr/bin/env', ['env'], {})",
        "ctypes.CDLL(None, use_errno=True).syscall(57) >= 0 or os.open('/nothing', 0)",
        "open('/usr/x', 'w')",
        "open('/x', 'w')",
        "open('/dev/shm/x', 'w')",
        "os.mkdir('/dev/x')",
        "open('/tmp/x', 'wb').write(b'x' * 2**25)",
        "[open(f'/tmp/{n}', 'wb').write(b'x' * 2**20) for n in range(40)]",
        "shutil.rmtree('/usr/lib')",
        "os.remove('/usr/bin/env')",
        "socket.socket().connect(('127.0.0.1', 80))",
        "socket.socket(socket.AF_UNIX)",
        "os.listdir('/home')",
        "os.listdir('/root/.ssh')",
        "os.listdir('/srv')",
        "os.listdir('/proc')",
        "os.environ['PATH_OF_HOST']",
        "open('/etc/passwd')",
        "open('/dev/kmsg')",
        "os.setuid(0)",
        "os.chroot('/tmp')",
        "ctypes.CDLL(None, use_errno=True).mount(b'x', b'/tmp', b'tmpfs', 0, None) == 0 or os.open('/nothing', 0)",
        "ctypes.CDLL(None, use_errno=True).unshare(0x10000000) == 0 or os.open('/nothing', 0)",
        # memory that no limit of a process counts: 3,000 MiB of the machine were held so
        "ctypes.CDLL(None, use_errno=True).shmget(0, 2**20, 0o1600) >= 0 or os.open('/nothing', 0)",
        "ctypes.CDLL(None, use_errno=True).msgget(0, 0o1600) >= 0 or os.open('/nothing', 0)",
        "ctypes.CDLL(None, use_errno=True).semget(0, 1, 0o1600) >= 0 or os.open('/nothing', 0)",
        "os.memfd_create('x')",
        "(lambda a, b: socket.send_fds(a, [b'x'], [0]))(*socket.socketpair())",
    ],
)
def test_nothing_outside_of_the_sandbox_can_be_reached(action, monkeypatch):
    monkeypatch.setenv("PATH_OF_HOST", "here")
    assert verdict(inside(action), cpu_s=10)[0] == FAILED
    assert verdict(inside("os.listdir('/usr')"))[0] == PASSED  # the same way, what is there


# Calls that keep memory which no limit of a process counts, by their numbers on x86-64 and ARM64.
KEEPS_MEMORY = {
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
}


def test_each_call_that_keeps_memory_is_refused_before_it_looks_at_its_arguments():
    numbers = [numbers[platform.machine() == "aarch64"] for numbers in KEEPS_MEMORY.values()]
    errors = f"{{n: (lib.syscall(n, -1, 0, 0, 0), ctypes.get_errno()) for n in {numbers}}}"
    refused = dict.fromkeys(numbers, (-1, errno.EPERM))
    assert verdict(inside(f"lib = ctypes.CDLL(None, use_errno=True); assert {errors} == {refused}"))[0] == PASSED


def test_a_database_beside_the_code_is_not_there(tmp_path):
    secret = tmp_path / "flips.duckdb"
    secret.write_text("secret")
    assert verdict(inside(f"open({str(secret)!r})"))[1].startswith("FileNotFoundError")
    verdict(inside(f"shutil.rmtree({str(tmp_path)!r}, ignore_errors=True)"))
    assert secret.read_text() == "secret"


def test_what_is_written_is_gone_with_the_sandbox():
    assert verdict(inside("open('/tmp/x', 'w').write('x')"))[0] == PASSED
    assert verdict(inside("open('/tmp/x')"))[1].startswith("FileNotFoundError")


def test_the_tests_see_helpers_and_what_they_expect_stays_with_them():
    assert verdict(RIGHT, "assert double(3) == helped(3)", before="def helped(x):\n    return x + x")[0] == PASSED
    assert verdict("def double(x):\n    return helped(x)", before="def helped(x):\n    return x + x")[1].startswith("NameError")
    assert verdict(RIGHT, "try:\n    double([])\nexcept TypeError:\n    pass\nassert double('a') == 'aa'")[0] == PASSED


@pytest.mark.parametrize(
    "tests",
    ["assert double(", "assert True", "def check(candidate):\n    pass"],
    ids=["no Python", "no call", "an empty check"],
)
def test_tests_that_test_nothing_are_broken_and_no_pass(tests):
    assert verdict(RIGHT, tests)[0] == NO_TESTS


@pytest.mark.parametrize(
    "value", ["(1, [2.5, None, True])", "{'a': {1, 2}, (1, 2): b'x'}", "1j", "float('inf')", "-0.0", "'é\\ud800'"]
)
def test_plain_values_go_in_and_come_out_as_they_are(value):
    assert verdict("def double(x):\n    return x", f"assert repr(double({value})) == repr({value})") == (PASSED, "")


def test_a_stop_ends_code_that_runs():
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    looping = Program("def double(x):\n    while True: pass", "double", TESTS, cpu_s=60)
    assert sandbox.run(looping, stop) == (STOPPED, "")


@pytest.mark.parametrize("value", [None, "0", "yes", ""])
def test_nothing_runs_unless_who_starts_it_allows_it(monkeypatch, value):
    monkeypatch.delenv(sandbox.VARIABLE) if value is None else monkeypatch.setenv(sandbox.VARIABLE, value)
    assert sandbox.VARIABLE in sandbox.why_not()
    with pytest.raises(BadInput, match=sandbox.VARIABLE):
        verdict(RIGHT)


def test_without_bubblewrap_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    assert "apt-get install bubblewrap" in sandbox.why_not()


@pytest.mark.slow
@pytest.mark.stand_in("core/test_sandbox.py::test_code_passes_where_its_tests_do")
def test_humanevals_own_solutions_pass_and_broken_ones_do_not(shared_data):
    """All 164, as they were published, and each with a body that returns None."""
    with gzip.open(shared_data / "humaneval" / "HumanEval.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    right = [Program(r["prompt"] + r["canonical_solution"], r["entry_point"], r["test"], r["prompt"], 30) for r in rows]
    wrong = [Program(r["prompt"] + "\n    return None\n", r["entry_point"], r["test"], r["prompt"], 30) for r in rows]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        passed, failed = (list(pool.map(sandbox.run, programs)) for programs in (right, wrong))
    lost = [(row["task_id"], one) for row, one in zip(rows, passed, strict=True) if one[0] != PASSED]
    assert len(rows) == 164 and len(lost) <= 1, lost
    assert [row["task_id"] for row, one in zip(rows, failed, strict=True) if one[0] != FAILED] == []


@pytest.mark.parametrize(("free_mb", "n_cpus", "n_at_once"), [(100, 8, 1), (2_300, 8, 2), (64_000, 8, 8), (64_000, 1, 1)])
def test_programs_beside_each_other_fit_into_free_memory(monkeypatch, free_mb, n_cpus, n_at_once):
    monkeypatch.setattr(os, "sysconf", lambda name: 4096 if name == "SC_PAGE_SIZE" else free_mb * 2**20 // 4096)
    monkeypatch.setattr(os, "cpu_count", lambda: n_cpus)
    monkeypatch.setattr(Path, "read_text", lambda self: (_ for _ in ()).throw(FileNotFoundError))  # no limit of a container
    assert sandbox.most_at_once() == n_at_once


def test_a_limit_of_the_container_counts(monkeypatch):
    monkeypatch.setattr(os, "sysconf", lambda name: 4096 if name == "SC_PAGE_SIZE" else 2**24)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    limits = {"memory.max": f"{5 * 2**30}\n", "memory.current": f"{2**30}\n"}
    monkeypatch.setattr(Path, "read_text", lambda self: limits[self.name])
    assert sandbox.most_at_once() == 4
