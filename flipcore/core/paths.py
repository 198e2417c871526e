"""Places of files: the one module that knows how the tree is laid out, in a clone and as an
installed package.

In a clone everything is where the repository has it. An installed package keeps app, pages and data
in a folder `flipscope` beside `flipcore`, and writes nothing there: the database and what belongs
to it live in the user's own folder.
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
    """The user's own folder, as `FLIPSCOPE_HOME` says it now."""
    return Path(os.environ.get("FLIPSCOPE_HOME") or HOME)


def own_models_toml() -> Path:
    """The user's own models: beside no code, so that an update or a commit never touches them."""
    return home() / "models.toml"
