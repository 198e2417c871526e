"""The command line: `python -m flipcore COMMAND`. `flipcore.commands` has one file per command.

Printed names may come from anybody's files, and a terminal obeys control characters in them. So all
output goes through `Terminal`.
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

CANCELLED = 130  # exit code of a command that was interrupted and finished what it had begun

# Characters that move the cursor, set colors or a title, or change the direction of reading; line
# ends and tabs are allowed.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PLAINER = str.maketrans(
    dict.fromkeys("\u2212\u2013\u2014", "-") | {"\u2026": "...", "\u00a0": " ", "\u00d7": "x", "\u2264": "<=", "\u2265": ">="}
)


class Terminal:
    """A stream that writes control characters, and letters outside of its encoding, as numbers."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        # Progress lines begin with a carriage return, to overwrite the last one.
        start = text[:1] if text[:1] == "\r" else ""
        letters = start + _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text[len(start) :])
        # A minus or an ellipsis has a spelling in ASCII; other letters become numbers.
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
    """Return the commands. Their import takes a second, so it must come within `interrupts.run`."""
    from flipcore.commands import COMMANDS

    return COMMANDS


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands and their options."""
    root_parser = argparse.ArgumentParser(prog=command(), description="Flipscope without a browser.")
    commands = root_parser.add_subparsers(dest="command", required=True)
    for name, module in commands_by_name().items():
        module.add_arguments(commands.add_parser(name, help=module.HELP))
    return root_parser


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code.

    0: it worked; 1: an error, with a sentence; 2: argparse does not know the words. `run` also has
    3 for failed calls and 4 for a used-up budget. Ctrl-C gives 130, SIGTERM 143. The exit code of
    `check` is its verdict, so it has one code of its own for all errors.
    """
    interrupts.forget()
    with redirect_stdout(Terminal(sys.stdout)), redirect_stderr(Terminal(sys.stderr)):
        # numpy warns about numbers that are missing on purpose.
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            code = _run_command(arguments)
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            # The reader of the output ended, as `head` does once it has its lines.
            with suppress(BrokenPipeError):
                sys.stdout.close()
            return 141
        except KeyboardInterrupt:
            return _stopped()
        except Exception:
            # A signal during the import of commands may break a query off with a DuckDB error.
            if not interrupts.has_come():
                raise
            return _stopped()


def _run_command(arguments: list[str] | None) -> int:
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
        # After a signal, work fails in many ways: DuckDB's queries and child processes have errors
        # of their own.
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
    # A command that was interrupted and ended by itself has already printed its own sentence.
    return interrupts.exit_code() if code == CANCELLED else code


def _stopped() -> int:
    with suppress(OSError):
        print(f"\n{interrupts.sentence()}", file=sys.stderr)
    return interrupts.exit_code()


if __name__ == "__main__":
    sys.exit(interrupts.run(main))
