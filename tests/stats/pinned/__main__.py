"""Compare all pinned results with the files, or write them: `python -m tests.stats.pinned --write`."""

import argparse
import sys

from tests.stats.pinned.files import changed, write


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stats.pinned", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the files again")
    options = parser.parse_args()
    lines = changed()
    print("\n".join(lines) or "All results are as pinned.")
    if options.write:
        write()
        return 0
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
