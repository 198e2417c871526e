"""Let Ctrl-C and SIGTERM end a command at any moment, with a sentence and an exit code.

A command runs within `run`, with its slow imports. There a signal is raised as `Interrupted`, so
that drafts are removed and the database is closed on the way out.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
AGAIN_S = 0.05  # seconds until a lost signal is sent again
_received: list[int] = []  # signal numbers, the first one first


class Interrupted(KeyboardInterrupt):
    """SIGINT or SIGTERM came while a command was running."""


def run(command: Callable[[], int]) -> int:
    """Run the command of a process, which signals may end at any moment; return its exit code."""
    sys.unraisablehook = _say_unraisable
    _set_handler(_raise)
    try:
        return command()
    except KeyboardInterrupt:  # before the command line was imported, or at a second signal
        return exit_code()
    finally:
        # the work is done, so a signal may end the process immediately
        _set_handler(signal.SIG_DFL)


def _set_handler(handler: Any) -> None:
    for number in _SIGNALS:
        # A process that a shell starts in the background with `&` ignores SIGINT; keep that.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def forget() -> None:
    """Forget the signals of an earlier command of this process."""
    _received.clear()


def note(number: int) -> None:
    """Record a signal that the caller handles without raising it."""
    _received.append(number)


def has_come() -> bool:
    """Tell whether this process received a signal."""
    return bool(_received)


def exit_code() -> int:
    """Return the exit code of a command that a signal ended: 130 for SIGINT, 143 for SIGTERM."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def sentence() -> str:
    """Say that a signal ended the command, and what to do."""
    sender = "SIGTERM" if exit_code() == 128 + signal.SIGTERM else "Ctrl-C"
    return f"Stopped by {sender}. What was stored stays; run the same command to continue."


def _raise(number: int, frame: FrameType | None) -> None:
    note(number)
    raise Interrupted


def _say_unraisable(unraisable: Any) -> None:
    # Python cannot raise out of a finalizer: it prints a traceback, and the command would go on.
    # An exception raised here would be lost too, so the signal is sent again a moment later.
    if isinstance(unraisable.exc_value, Interrupted):
        resend = threading.Timer(AGAIN_S, os.kill, (os.getpid(), _received[-1]))
        resend.daemon = True
        resend.start()
    else:
        sys.__unraisablehook__(unraisable)
