"""The command line: `python -m flipcore COMMAND`. The commands stand in `flipcore.commands`, one file each.

Names come from files, and a terminal obeys what it can take for a command: nothing is printed but through `Terminal`."""

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

# all that moves a cursor, colours, sets a title or turns the direction of reading; what remains is a line end and a tab
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PLAINER = str.maketrans(
    {"\u2212": "-", "\u2013": "-", "\u2014": "-", "\u2026": "...", "\u00a0": " ", "\u00d7": "x", "\u2264": "<=", "\u2265": ">="}
)


class Terminal:
    """A stream that shows control characters as their numbers, except a return with which a text begins (progress writes over its
    line), and what its encoding has no letter for as the nearest words or as its number, too."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        start = text[:1] if text[:1] == "\r" else ""
        letters = start + _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text[len(start) :])
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        try:
            letters.encode(encoding)
        except UnicodeEncodeError:
            letters = letters.translate(_PLAINER).encode(encoding, "backslashreplace").decode(encoding)
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
    """0 when it worked, 1 with a sentence when it did not; argparse exits with 2 for words it does not know. A run also says
    that calls failed (3) or that its budget is used up (4). Ctrl-C ends any command with 130, SIGTERM with 143. A command whose
    verdict is its code, `check`, has a code of its own for every error."""
    interrupts.forget()
    with redirect_stdout(Terminal(sys.stdout)), redirect_stderr(Terminal(sys.stderr)):
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy's, of numbers that are absent on purpose
        try:
            code = _acted(arguments)
            sys.stdout.flush()
            return code
        except BrokenPipeError:  # whoever read the output is gone, as `head` is once it has its lines
            with suppress(BrokenPipeError):
                sys.stdout.close()
            return 141
        except KeyboardInterrupt:
            return _stopped()


def _acted(arguments: list[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    commands = commands_by_name()
    of_error = getattr(commands.get(next(iter(words), "")), "ERROR", None)
    try:
        options = parser().parse_args(words)
    except SystemExit as end:
        raise SystemExit(of_error) if end.code and of_error else end from None
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
            return of_error or 1
        if not of_error or isinstance(error, BrokenPipeError):
            raise
        traceback.print_exc()
        return of_error
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
