"""The two processes of a sandboxed program (`flipcore.core.sandbox`), each in a sandbox of its own.

One runs the code. The other holds the tests, calls the code over a pipe, and says whether it passed. Only plain data come back, and
expected values never leave the process of the tests. So code that ends early, prints, overrides comparisons or patches Python changes
only its own process, and cannot read a test.
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

MAX_REPLY, MAX_MEMORY, MAX_FILE = 2**20, 2**29, 2**24  # bytes
MAX_WHY = 300  # characters of a reason
_KINDS: dict[str, Callable[[list], Any]] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "iterator": iter}


class Ended(BaseException):
    """The code gives no reply any more. Not an Exception, so that tests do not catch it."""


def plain(value: Any) -> Any:
    """Return a value in JSON, with its type. Raises TypeError for anything but plain data."""
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, dict):
        return ["dict", [[plain(key), plain(entry)] for key, entry in value.items()]]
    if isinstance(value, complex):
        return ["complex", [value.real, value.imag]]
    if isinstance(value, bytes | bytearray):
        return ["bytes", list(value)]
    for name in ("list", "tuple", "set", "frozenset"):
        if isinstance(value, getattr(builtins, name)):
            return [name, [plain(entry) for entry in value]]
    if hasattr(value, "__next__") or isinstance(value, range):
        return ["iterator", [plain(entry) for entry in value]]
    raise TypeError(f"{type(value).__name__} is no plain data that tests can compare")


def value_of(data: Any) -> Any:
    """Return the value from the JSON of `plain`."""
    if not isinstance(data, list):
        return data
    kind, parts = data
    if kind == "dict":
        return {value_of(key): value_of(entry) for key, entry in parts}
    if kind == "complex":
        return complex(*parts)
    return bytes(parts) if kind == "bytes" else _KINDS[kind]([value_of(part) for part in parts])


def bind(cpu_s: int) -> None:
    """Bound this process for good: processor time, memory, sizes of files, open files."""
    bounds = {"CPU": cpu_s, "AS": MAX_MEMORY, "FSIZE": MAX_FILE, "NOFILE": 64, "CORE": 0}
    for name, limit in bounds.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (limit, limit))


def _send(stream: Any, message: Any) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def _take_streams() -> tuple[Any, Any]:
    """Return standard input and output under other numbers; all that is printed from now on is dropped."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    return source, sink


def serve_code() -> None:
    """Run the process of the code: the first line holds the code, each further line a call."""
    source, sink = _take_streams()
    first = json.loads(source.readline())
    bind(first["cpu_s"])
    namespace: dict[str, Any] = {"__name__": "solution"}
    try:
        exec(compile(first["code"], "<code>", "exec"), namespace)
        function = namespace[first["name"]]
    except Exception as error:
        _send(sink, {"error": [type(error).__name__, str(error)[:MAX_WHY]]})
        return
    _send(sink, {"value": None})
    for line in source:
        parts, keywords = map(value_of, json.loads(line))
        try:
            reply = {"value": plain(function(*parts, **keywords))}
        except Exception as error:
            reply = {"error": [type(error).__name__, str(error)[:MAX_WHY]]}
        _send(sink, reply)


def hold_tests(to_code: int, from_code: int) -> None:
    """Run the process of the tests: read the task from standard input, write the verdict and a reason to standard output."""
    source, verdict = _take_streams()
    task = json.loads(source.read())
    bind(task["cpu_s"])
    with os.fdopen(to_code, "wb") as calls, os.fdopen(from_code, "rb") as replies:
        _send(verdict, _verdict(task, calls, replies))
        verdict.close()
        os._exit(0)  # without waiting for threads of the tests


def _verdict(task: dict, calls: Any, replies: Any) -> list[str]:
    """Return [verdict, reason] of the tests; `calls` and `replies` are the pipes to and from the code."""
    n_calls = 0

    def reply_to(message: Any) -> Any:
        try:
            _send(calls, message)
            line = replies.readline(MAX_REPLY + 1)
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
    namespace: dict[str, Any] = {"__name__": "tests"}
    try:
        reply_to({"code": task["code"], "name": task["name"], "cpu_s": task["cpu_s"]})
        with contextlib.redirect_stdout(io.StringIO()):
            exec(before, namespace)
            namespace[task["name"]] = candidate
            exec(tests, namespace)
            if callable(namespace.get("check")):
                namespace["check"](candidate)
    except Ended:
        return ["failed", "The code ended before its tests."]
    except Exception as error:
        return ["failed", f"{type(error).__name__}: {error}"[:MAX_WHY].rstrip(": ")]
    except BaseException as error:
        return ["failed", type(error).__name__]
    return ["passed", ""] if n_calls else ["no tests", "The item's tests never call its function."]


if __name__ == "__main__":
    if sys.argv[1] == "code":
        serve_code()
    else:
        hold_tests(int(sys.argv[2]), int(sys.argv[3]))
