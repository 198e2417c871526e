"""Run the checks of prose, names and layout: ``python -m tests.release [options of pytest]``."""

import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    folder = str(Path(__file__).resolve().parent)
    sys.exit(pytest.main(["-q", "-m", "release", folder, *sys.argv[1:]]))
