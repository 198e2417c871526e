"""`python -m flipcore backup FILE`: copies the whole database, also beside an open dashboard."""

import argparse
from pathlib import Path

from flipcore.store.connection import default_path

HELP = "the whole database as one file, also while a dashboard has it open"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `backup`."""
    parser.add_argument("file", help="a file that does not exist yet, or a folder")


def act(options: argparse.Namespace) -> int:
    """Write the copy, and print up to which commit it goes."""
    import datetime as dt

    from flipcore.core.command_line import command
    from flipcore.store.whole_copy import copy_whole
    from flipcore.text.counts import count_of

    path, target = default_path(), Path(options.file)
    if target.is_dir():
        target /= f"{path.stem}-{dt.datetime.now():%Y-%m-%d-%H%M%S}{path.suffix}"
    number, folders = copy_whole(path, target)
    print(
        f"{target}: {path} with {count_of(number, 'commit')}. To go back to it, close Flipscope and"
        f" run `{command('restore')} {target}`."
    )
    if folders:
        print(f"Answers of archived studies are not in it; copy {', '.join(folders)} too.")
    return 0
