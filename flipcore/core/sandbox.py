"""Run code that a model wrote with the tests of its item, in a sandbox of bubblewrap.

The sandbox has no network, home, environment or further processes. The system in it is read-only, and
time, memory and files are bounded. Only the person who starts Flipscope can allow it
(`FLIPSCOPE_RUN_CODE=1`), because a study, a link or a page may come from anybody. If it is not
allowed or the system has no such sandbox, nothing is run and `why_not` says what to do.
"""

import contextlib
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass
from errno import ENOSYS, EPERM
from functools import lru_cache
from json import dumps, loads
from pathlib import Path

from flipcore.core import sandboxed
from flipcore.core.errors import BadInput

VARIABLE = "FLIPSCOPE_RUN_CODE"
PASSED, FAILED, NO_TESTS, STOPPED = "passed", "failed", "no tests", "stopped"
MAX_CPU_S, WALL_PER_CPU_S = 60, 6  # seconds; a program may take six times its processor time
MAX_TMP, MAX_VERDICT = 2**25, 2**16  # bytes
_NOBODY = "65534"
_INNER_SOURCE = Path(sandboxed.__file__).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Program:
    """A program with its tests.

    `code` defines the function `name`, which `tests` call directly or in their function `check`.
    `before` is code in the question that tests may use: imports and functions. `cpu_s` bounds the
    seconds of processor time.
    """

    code: str
    name: str
    tests: str
    before: str = ""
    cpu_s: int = 5

    def __post_init__(self) -> None:
        if (
            isinstance(self.cpu_s, bool)
            or not isinstance(self.cpu_s, int)
            or not 1 <= self.cpu_s <= MAX_CPU_S
        ):
            raise BadInput(f"Code may run for 1 to {MAX_CPU_S} seconds, not {self.cpu_s!r}.")


def why_not() -> str:
    """Return a sentence that says why no code is run here and what to do; "" if it is run."""
    if os.environ.get(VARIABLE) != "1":
        return f"Code of models is run only where the admin allows it: start Flipscope with {VARIABLE}=1, on Linux with bubblewrap."
    if sys.platform != "linux" or platform.machine() not in _PROCESSORS:
        return "Code of models is run on Linux with an x86-64 or ARM64 processor only."
    if shutil.which("bwrap") is None:
        return "Running code needs bubblewrap: let the admin install it (apt-get install bubblewrap), then start again."
    return _try_sandbox()


@lru_cache
def _try_sandbox() -> str:
    """Return why bubblewrap can make no sandbox here, as a sentence; "" if it can. Tried once."""
    with _seccomp_rules() as rules:
        command = [*_bwrap_command(rules), "/usr/bin/env", "true"]
        trial = subprocess.run(
            command, pass_fds=(rules,), capture_output=True, stdin=subprocess.DEVNULL, check=False
        )
    if trial.returncode:
        reason = trial.stderr.decode(errors="replace").strip()[:200]
        return f"bubblewrap can make no sandbox here ({reason}). Allow user namespaces, or run Flipscope outside of a container."
    return ""


def most_at_once() -> int:
    """Return how many programs may run at the same time, at least one.

    Together they must fit into the free memory, of the container if that has a limit."""
    if sys.platform != "linux":
        return 1
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError):  # no limit, or not in this file
        folder = Path("/sys/fs/cgroup")
        limit, used = ((folder / name).read_text().strip() for name in ("memory.max", "memory.current"))
        free = min(free, int(limit) - int(used))
    per_program = 2 * sandboxed.MAX_MEMORY  # the code and its tests
    return max(1, min(os.cpu_count() or 1, free // per_program))


def run(program: Program, stop: threading.Event | None = None) -> tuple[str, str]:
    """Return (verdict, reason or ""). Raises BadInput if no code is run here.

    The verdict is PASSED, FAILED, NO_TESTS if the tests themselves cannot be run, or STOPPED by `stop`.
    """
    if reason := why_not():
        raise BadInput(reason)
    with contextlib.ExitStack() as processes, contextlib.ExitStack() as descriptors:
        (to_code, from_tests), (from_code, to_tests) = (
            descriptors.enter_context(_pipe()),
            descriptors.enter_context(_pipe()),
        )
        rules = [descriptors.enter_context(_seccomp_rules()) for _ in range(2)]
        code_process = _start(rules[0], ["code"], stdin=to_code, stdout=to_tests)
        processes.callback(_kill, code_process)
        tests_process = _start(
            rules[1], ["tests", str(from_tests), str(from_code)], (from_tests, from_code)
        )
        processes.callback(_kill, tests_process)
        descriptors.close()  # both processes have their own copies
        verdict, is_late = _verdict(tests_process, vars(program), program.cpu_s * WALL_PER_CPU_S, stop)
        if stop is not None and stop.is_set() and verdict is None:
            return STOPPED, ""
        if is_late:
            return FAILED, f"It took longer than {program.cpu_s * WALL_PER_CPU_S} s."
        if verdict and verdict[0] == FAILED and _is_killed(code_process):
            return FAILED, f"It took more than {program.cpu_s} s of processor time."
        return verdict or (FAILED, "Its tests came to no end.")


def _is_killed(code: subprocess.Popen) -> bool:
    """Tell whether the system killed the code for its processor time; call it before `_kill`."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return code.wait(0.2) == 128 + signal.SIGKILL
    return False


def _verdict(
    tests: subprocess.Popen, task: dict, wall_s: float, stop: threading.Event | None
) -> tuple[tuple[str, str] | None, bool]:
    """Return (verdict and reason, or None without them; whether time ran out before)."""
    assert tests.stdin is not None and tests.stdout is not None  # pipes, by the arguments of `Popen`
    output: list[bytes] = []
    reader = threading.Thread(target=_read_verdict, args=(tests.stdout, output), daemon=True)
    reader.start()
    writer = threading.Thread(target=_write_task, args=(tests.stdin, dumps(task).encode()), daemon=True)
    writer.start()
    left_s = wall_s
    while reader.is_alive() and left_s > 0 and not (stop is not None and stop.is_set()):
        reader.join(0.1)
        left_s -= 0.1
    is_late = reader.is_alive()
    _kill(tests)
    reader.join(1)
    try:
        verdict, why = loads(output[0])
    except (IndexError, ValueError):
        return None, is_late
    return (str(verdict), str(why)), False


def _read_verdict(pipe, output: list[bytes]) -> None:
    """Read to the end, but no more bytes than a verdict may have."""
    with pipe:
        output.append(pipe.read(MAX_VERDICT))


def _write_task(pipe, task: bytes) -> None:
    with contextlib.suppress(OSError):
        pipe.write(task)
        pipe.close()


def _start(
    rules: int, arguments: list[str], more_descriptors: tuple[int, ...] = (), **pipes: int
) -> subprocess.Popen:
    command = [
        *_bwrap_command(rules),
        str(Path(sys.executable).resolve()),
        "-P",
        "-s",
        "-S",
        "-c",
        _INNER_SOURCE,
        *arguments,
    ]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE} | pipes
    return subprocess.Popen(
        command, pass_fds=(rules, *more_descriptors), stderr=subprocess.DEVNULL, env={}, **pipes
    )  # type: ignore[call-overload]


def _kill(process: subprocess.Popen) -> None:
    """Kill a sandbox with everything in it."""
    process.kill()
    process.wait()


@contextlib.contextmanager
def _pipe():
    ends = os.pipe()
    try:
        yield ends
    finally:
        for number in ends:
            os.close(number)


def _bwrap_command(rules: int) -> list[str]:
    """Return the command of bubblewrap, without the program; `rules` is a descriptor of `_seccomp_rules`."""
    binds = ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(name):
            binds += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            binds += ["--ro-bind", name, name]
    if not sys.base_prefix.startswith("/usr"):
        binds += ["--ro-bind", sys.base_prefix, sys.base_prefix]
    isolated = "--unshare-all --unshare-user --cap-drop ALL --die-with-parent --new-session --clearenv"
    variables = "--setenv HOME /tmp --setenv LANG C.UTF-8 --setenv PYTHONHASHSEED 0"
    cache = "--ro-bind-try /etc/ld.so.cache /etc/ld.so.cache"
    mounts = f"--dev /dev --remount-ro /dev --size {MAX_TMP} --tmpfs /tmp --remount-ro / --chdir /tmp"
    return [
        str(shutil.which("bwrap")),
        *f"{isolated} --uid {_NOBODY} --gid {_NOBODY} {variables}".split(),
        *binds,
        *f"{cache} {mounts} --seccomp {rules}".split(),
    ]


# System calls that the tested code has no need of, by their numbers on x86-64 and ARM64 (None: no such call): new processes, other
# processes, mounts, sockets, keys; and memory that does not count towards the limits of a process.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "fork": (57, None), "vfork": (58, None), "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "socket": (41, 198), "sendmsg": (46, 211), "sendmmsg": (307, 269),  # a descriptor in a message keeps its file open
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197),
    "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_timedsend": (242, 182), "mq_timedreceive": (243, 183),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
}  # fmt: skip
# the kernel's numbers: of the processor, of `clone`, and of the refused calls
_PROCESSORS: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        56,
        tuple(number for number, _ in _REFUSED.values() if number is not None),
    ),
    "aarch64": (
        0xC00000B7,
        220,
        tuple(number for _, number in _REFUSED.values() if number is not None),
    ),
}
_CLONE3, _THREAD, _X32 = 435, 0x10000, 0x40000000
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000


@contextlib.contextmanager
def _seccomp_rules():
    """Give a descriptor of the rules that bubblewrap sets before it runs a program: threads are allowed, child processes are not."""
    processor, clone, numbers = _PROCESSORS[platform.machine()]
    # a program of classic BPF: (operation, lines to skip if true, lines to skip if false, operand)
    steps = [
        (_LOAD, 0, 0, 4),
        (_IF_EQUAL, 1, 0, processor),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
    ]
    steps += [(_IF_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _REFUSE | EPERM)]
    for number in numbers:
        steps += [(_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE | EPERM)]
    steps += [
        (_IF_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _REFUSE | ENOSYS),  # so that the C library takes `clone`
    ]
    steps += [
        (_IF_EQUAL, 0, 3, clone),
        (_LOAD, 0, 0, 16),
        (_IF_BIT, 1, 0, _THREAD),
        (_RETURN, 0, 0, _REFUSE | EPERM),
    ]
    steps += [(_RETURN, 0, 0, _ALLOW)]
    source, sink = os.pipe()
    os.write(sink, b"".join(struct.pack("HBBI", *step) for step in steps))
    os.close(sink)
    try:
        yield source
    finally:
        os.close(source)
