"""The two processes of a sandbox, each locked in by itself (`flipcore.core.sandbox`): one runs the code, the other holds the tests and says
whether it passed.

The tests call the code over a pipe. What comes back is plain data, and what is expected never leaves the process of the tests: code that
ends early, prints what it likes, overrides comparisons or patches Python changes its own process alone, and reads no test.
"""

import builtins
import contextlib
import io
import json
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

MOST_REPLY, MOST_MEMORY, MOST_FILE, MOST_WHY = 2**20, 2**29, 2**24, 300
_KINDS: dict[str, Callable[[list], Any]] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "iterator": iter}


class Ended(BaseException):
    """The code gives no reply any more. No exception that tests may catch."""


def plain(value: Any) -> Any:
    """The value as JSON can hold it, with its kind; raises TypeError for what is no plain data."""
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, dict):
        return ["dict", [[plain(key), plain(one)] for key, one in value.items()]]
    if isinstance(value, complex):
        return ["complex", [value.real, value.imag]]
    if isinstance(value, bytes | bytearray):
        return ["bytes", list(value)]
    for name in ("list", "tuple", "set", "frozenset"):
        if isinstance(value, getattr(builtins, name)):
            return [name, [plain(one) for one in value]]
    if hasattr(value, "__next__") or isinstance(value, range):
        return ["iterator", [plain(one) for one in value]]
    raise TypeError(f"{type(value).__name__} is no plain data that tests can compare")


def value_of(data: Any) -> Any:
    """Return the value that `plain` made JSON of."""
    if not isinstance(data, list):
        return data
    kind, parts = data
    if kind == "dict":
        return {value_of(key): value_of(one) for key, one in parts}
    if kind == "complex":
        return complex(*parts)
    return bytes(parts) if kind == "bytes" else _KINDS[kind]([value_of(one) for one in parts])


def bind(cpu_s: int) -> None:
    """Bounds this process for good: processor time, memory, sizes of files, open files."""
    bounds = {"CPU": cpu_s, "AS": MOST_MEMORY, "FSIZE": MOST_FILE, "NOFILE": 64, "CORE": 0}
    for name, most in bounds.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def _send(stream: Any, message: Any) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def _away() -> tuple[Any, Any]:
    """Standard input and output under other numbers; what is printed from now on goes nowhere."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    return source, sink


def serve_code() -> None:
    """The process of the code: takes it with the first line, then a call a line."""
    source, sink = _away()
    first = json.loads(source.readline())
    bind(first["cpu_s"])
    space: dict[str, Any] = {"__name__": "solution"}
    try:
        exec(compile(first["code"], "<code>", "exec"), space)
        function = space[first["name"]]
    except Exception as error:
        _send(sink, {"error": [type(error).__name__, str(error)[:MOST_WHY]]})
        return
    _send(sink, {"value": None})
    for line in source:
        parts, keywords = map(value_of, json.loads(line))
        try:
            reply = {"value": plain(function(*parts, **keywords))}
        except Exception as error:
            reply = {"error": [type(error).__name__, str(error)[:MOST_WHY]]}
        _send(sink, reply)


def hold_tests(to_code: int, from_code: int) -> None:
    """The process of the tests: takes the task from standard input, and writes the verdict and a reason as its last words."""
    source, verdict = _away()
    task = json.loads(source.read())
    bind(task["cpu_s"])
    with os.fdopen(to_code, "wb") as calls, os.fdopen(from_code, "rb") as replies:
        _send(verdict, _verdict(task, calls, replies))
        verdict.close()
        os._exit(0)  # whoever waits for the code's end is not waited for


def _verdict(task: dict, calls: Any, replies: Any) -> list[str]:
    n_calls = 0

    def reply_to(message: Any) -> Any:
        try:
            _send(calls, message)
            line = replies.readline(MOST_REPLY + 1)
        except OSError:
            raise Ended from None
        if not line.endswith(b"\n"):
            raise Ended
        reply = json.loads(line)
        if "error" not in reply:
            return value_of(reply["value"])
        name, words = reply["error"]
        kind = getattr(builtins, str(name), None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            raise kind(str(words))
        raise RuntimeError(f"{name}: {words}")

    def candidate(*parts: Any, **keywords: Any) -> Any:
        nonlocal n_calls
        n_calls += 1
        return reply_to([plain(parts), plain(keywords)])

    try:
        before, tests = (compile(task[part], f"<{part}>", "exec") for part in ("before", "tests"))
    except SyntaxError as error:
        return ["no tests", f"The item's own {(error.filename or '').strip('<>')} cannot be read as Python: {error.msg}"]
    space: dict[str, Any] = {"__name__": "tests"}
    try:
        reply_to({"code": task["code"], "name": task["name"], "cpu_s": task["cpu_s"]})
        with contextlib.redirect_stdout(io.StringIO()):
            exec(before, space)
            space[task["name"]] = candidate
            exec(tests, space)
            if callable(space.get("check")):
                space["check"](candidate)
    except Ended:
        return ["failed", "The code ended before its tests."]
    except Exception as error:
        return ["failed", f"{type(error).__name__}: {error}"[:MOST_WHY].rstrip(": ")]
    except BaseException as error:
        return ["failed", type(error).__name__]
    return ["passed", ""] if n_calls else ["no tests", "The item's tests never call its function."]


if __name__ == "__main__":
    if sys.argv[1] == "code":
        serve_code()
    else:
        hold_tests(int(sys.argv[2]), int(sys.argv[3]))
