"""Run the checks of prose, names and layout: ``python -m tests.release [options of pytest]``.

It is red, too, where a slow test failed last or has not run in the last ten runs of CI.
"""

import sys
from pathlib import Path

import pytest

from tests import shards

if __name__ == "__main__":
    folder = str(Path(__file__).resolve().parent)
    code = pytest.main(["-q", "-m", "release", folder, *sys.argv[1:]])
    sys.exit(shards.main(["--strict"]) or code)
