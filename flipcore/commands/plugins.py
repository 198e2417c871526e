"""`python -m flipcore plugins`: lists the plug-ins of installed packages."""

import argparse

HELP = "what packages add to Flipscope, and what of it cannot be used"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `plugins`."""
    parser.add_argument(
        "--tables", action="store_true", help="what is shipped as Markdown, as docs/parts.md has it"
    )
    parser.add_argument("--all", action="store_true", help="also what is shipped")


def act(options: argparse.Namespace) -> int:
    """Print the list, or the tables."""
    from flipcore.reports.plugins import plugin_lines, tables

    print(tables() if options.tables else "\n".join(plugin_lines(with_shipped=options.all)))
    return 0
