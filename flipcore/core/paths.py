"""Paths of files, in a clone and in an installed package.

In a clone they are those of the repository. An installed package has the app, the pages and
the data in a folder `flipscope` beside `flipcore`, and writes nothing there. The database and its
files are then in the user's own folder.
"""

import os
from pathlib import Path

_TREE = Path(__file__).resolve().parents[2]
IS_CLONE = (_TREE / "app.py").is_file()
ROOT = _TREE if IS_CLONE else _TREE / "flipscope"
APP = ROOT / "app.py"
COMPONENTS = ROOT / "pages" / "components"
DATA = ROOT / "data"
NAMES = DATA / "names"
PARAPHRASES = DATA / "paraphrases"
POCKET = DATA / "pocket"
POCKET_ANSWERS = POCKET / "answers.parquet"
MODELS_TOML = DATA / "models.toml"
# the user's own files, never in the clone
HOME = Path(os.environ.get("FLIPSCOPE_HOME") or Path.home() / ".flipscope")
DATABASE = (DATA if IS_CLONE else HOME) / "flips.duckdb"


def home() -> Path:
    """Return the user's own folder, as `FLIPSCOPE_HOME` names it now."""
    return Path(os.environ.get("FLIPSCOPE_HOME") or HOME)


def own_models_toml() -> Path:
    """Return the path of the file with the user's own models."""
    return home() / "models.toml"
