"""Parts that commands share: the open database, the options that name a study, and Ctrl-C."""

import argparse
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import wraps
from pathlib import Path

from flipcore.core import folders, interrupts
from flipcore.store.connection import Store


@contextmanager
def open_store() -> Iterator[Store]:
    """Open the database, closed in any case. Raises StoreHeld if another process holds it."""
    with closing(Store.open()) as store:
        yield store


def add_study(parser: argparse.ArgumentParser) -> None:
    """Add the study that a command is about."""
    parser.add_argument("study", help="its id, or the start of its name")


def add_map(parser: argparse.ArgumentParser, about: str) -> None:
    """Add the option by which a user corrects a guess about logs or tables."""
    parser.add_argument(
        "--map", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help=about
    )


def admit_folders_of(names: Iterable[str]) -> None:
    """Let this command read the current folder, and the files or folders that it was given."""
    paths = [Path(name) for name in names]
    folders.admit(".", *(path if path.is_dir() else path.parent for path in paths))


def on_study(
    act: Callable[[Store, str, argparse.Namespace], int],
) -> Callable[[argparse.Namespace], int]:
    """A command about one study, which is handed the open database and the study's id. Raises
    BadInput where no study, or more than one, is named so."""

    @wraps(act)
    def opened(options: argparse.Namespace) -> int:
        from flipcore.reports.whole_study import study_of

        with open_store() as store:
            return act(store, study_of(store, options.study), options)

    return opened


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets, so that what is on its way comes in and is stored; a
    second Ctrl-C ends at once."""
    cancel = threading.Event()

    def stop(number, frame) -> None:
        interrupts.note(number)
        if cancel.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancel
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
