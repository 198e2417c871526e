"""The command line: `python -m flipcore COMMAND`. The commands stand in `flipcore.commands`, one file each."""

import argparse
import sys
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress

from flipcore.commands import COMMANDS
from flipcore.commands.terminal import Terminal
from flipcore.core.errors import FlipscopeError


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    root_parser = argparse.ArgumentParser(prog="python -m flipcore", description="Flipscope without a browser.")
    commands = root_parser.add_subparsers(dest="command", required=True)
    for name, command in COMMANDS.items():
        command.add_arguments(commands.add_parser(name, help=command.HELP))
    return root_parser


def main(arguments: list[str] | None = None) -> int:
    """0 when it worked, 1 with a sentence when it did not; argparse exits with 2 for words it does not know. A run also says
    that calls failed (3), that its budget is used up (4) or that it was interrupted (130). A command whose verdict is its code, `check`,
    has a code of its own for every error."""
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


def _acted(arguments: list[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    of_error = getattr(COMMANDS.get(next(iter(words), "")), "ERROR", None)
    try:
        options = parser().parse_args(words)
    except SystemExit as end:
        raise SystemExit(of_error) if end.code and of_error else end from None
    try:
        return COMMANDS[options.command].act(options)
    except FlipscopeError as error:
        print(error, file=sys.stderr)
        return of_error or 1
    except Exception as error:
        if not of_error or isinstance(error, BrokenPipeError):
            raise
        traceback.print_exc()
        return of_error
    except KeyboardInterrupt:
        print("\nStopped. What came back is stored; run the same command to continue.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
