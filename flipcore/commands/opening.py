"""Where a command opens the database and closes it again, and how it names a study."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import wraps

from flipcore.store.connection import Store


@contextmanager
def open_store() -> Iterator[Store]:
    """The database, closed at the end whatever happens. Raises StoreHeld where another process holds it."""
    with closing(Store.open()) as store:
        yield store


def add_study(parser: argparse.ArgumentParser) -> None:
    """The study that a command is about."""
    parser.add_argument("study", help="its id, or the start of its name")


def add_map(parser: argparse.ArgumentParser, about: str) -> None:
    """What a user says of logs or tables in the place of a guess."""
    parser.add_argument("--map", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help=about)


def on_study(act: Callable[[Store, str, argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """A command about one study, which is handed the open database and the study's id. Raises BadInput where no study, or more
    than one, is named so."""

    @wraps(act)
    def opened(options: argparse.Namespace) -> int:
        from flipcore.reports.whole_study import study_of

        with open_store() as store:
            return act(store, study_of(store, options.study), options)

    return opened
