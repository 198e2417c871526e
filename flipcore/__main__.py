"""The command line: `python -m flipcore COMMAND`. `flipcore.commands` has one file per command.

Names come from files, and a terminal obeys what it can take for a command: nothing is printed but
through `Terminal`.
"""

import argparse
import re
import sys
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import TYPE_CHECKING, Any, TextIO

from flipcore.core import interrupts
from flipcore.core.command_line import command
from flipcore.core.errors import FlipscopeError, NotStored

if TYPE_CHECKING:
    from types import ModuleType

CANCELLED = 130  # of a command that was told to stop and ended what it had begun

# All that moves a cursor, colours, sets a title or turns the direction of reading; line ends and
# tabs remain.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PLAINER = str.maketrans(
    dict.fromkeys("\u2212\u2013\u2014", "-") | {"\u2026": "...", "\u00a0": " ", "\u00d7": "x", "\u2264": "<=", "\u2265": ">="}
)


class Terminal:
    """A stream that shows control characters, and letters that its encoding lacks, as numbers."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        # Progress begins with a return, to write over its line.
        start = text[:1] if text[:1] == "\r" else ""
        letters = start + _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text[len(start) :])
        # A minus or an ellipsis has a plain spelling; other missing letters become numbers.
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        try:
            letters.encode(encoding)
        except UnicodeEncodeError:
            letters = letters.translate(_PLAINER)
            letters = letters.encode(encoding, "backslashreplace").decode(encoding)
        self._stream.write(letters)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def commands_by_name() -> "dict[str, ModuleType]":
    """The commands. Importing them takes a second, in which a signal is to find its handler."""
    from flipcore.commands import COMMANDS

    return COMMANDS


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    root_parser = argparse.ArgumentParser(prog=command(), description="Flipscope without a browser.")
    commands = root_parser.add_subparsers(dest="command", required=True)
    for name, module in commands_by_name().items():
        module.add_arguments(commands.add_parser(name, help=module.HELP))
    return root_parser


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code.

    0: it worked; 1: it did not, and a sentence says why; 2: argparse does not know the words. A
    run also says that calls failed (3) or that its budget is used up (4). Ctrl-C ends any command
    with 130, SIGTERM with 143. `check`, whose verdict is its code, has a code of its own for every
    error.
    """
    interrupts.forget()
    with redirect_stdout(Terminal(sys.stdout)), redirect_stderr(Terminal(sys.stderr)):
        # Of numpy, about numbers that are absent on purpose.
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            code = _acted(arguments)
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            # The reader of the output is gone, as `head` is once it has its lines.
            with suppress(BrokenPipeError):
                sys.stdout.close()
            return 141
        except KeyboardInterrupt:
            return _stopped()
        except Exception:
            # A query that a signal breaks off while commands are imported is an error of DuckDB's.
            if not interrupts.has_come():
                raise
            return _stopped()


def _acted(arguments: list[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    commands = commands_by_name()
    error_code = getattr(commands.get(next(iter(words), "")), "ERROR", None)
    try:
        options = parser().parse_args(words)
    except SystemExit as end:
        raise SystemExit(error_code) if end.code and error_code else end from None
    try:
        code = commands[options.command].act(options)
    except KeyboardInterrupt:
        raise
    except Exception as error:
        # What a signal broke off fails in many ways: DuckDB's queries with an error of their own, a child by its exit code.
        if interrupts.has_come():
            if isinstance(error, NotStored):
                print(error, file=sys.stderr)
            return _stopped()
        if isinstance(error, FlipscopeError):
            print(error, file=sys.stderr)
            return error_code or 1
        if not error_code or isinstance(error, BrokenPipeError):
            raise
        traceback.print_exc()
        return error_code
    # A command that ends by itself what it had begun says so in its own words.
    return interrupts.exit_code() if code == CANCELLED else code


def _stopped() -> int:
    with suppress(OSError):
        print(f"\n{interrupts.sentence()}", file=sys.stderr)
    return interrupts.exit_code()


def run() -> int:
    """The command line as a process of its own, which signals may end at any moment."""
    interrupts.begin()
    try:
        return main()
    except KeyboardInterrupt:  # a second signal, while the first one was told
        return interrupts.exit_code()
    finally:
        interrupts.end()


if __name__ == "__main__":
    sys.exit(run())
