"""Parts that commands share: the open database, shared options, and Ctrl-C."""

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
    """Open the database for a block. Raises StoreHeld if another process holds it."""
    with closing(Store.open()) as store:
        yield store


def add_study(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a study."""
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
    """Decorate a command about one study: give it the open database and the study's id.
    Raises BadInput if no study has that name, or several have."""

    @wraps(act)
    def act_on_study(options: argparse.Namespace) -> int:
        from flipcore.reports.whole_study import study_id_of

        with open_store() as store:
            return act(store, study_id_of(store, options.study), options)

    return act_on_study


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Give an event that Ctrl-C or SIGTERM sets, so that calls in flight are still stored.
    A second Ctrl-C ends the command immediately."""
    cancel = threading.Event()

    def stop(number, frame) -> None:
        interrupts.note(number)
        if cancel.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        cancel.set()

    # Only the main thread may set signal handlers.
    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    former_handlers = {
        number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield cancel
    finally:
        for number, handler in former_handlers.items():
            signal.signal(number, handler)
