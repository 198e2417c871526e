"""flipcore: the statistics and perturbation core of Flipscope. It never imports streamlit."""

import os
from typing import TYPE_CHECKING, Any

from flipcore.core.version import __version__ as __version__

if TYPE_CHECKING:
    from pathlib import Path

    from flipcore.api import Flipscope, StudyView

# Before numpy and scipy are imported: one thread for linear algebra, unless the environment says
# otherwise. The matrices are small and sessions many; threads that wait for one another made 19
# permutations of a classifier on 2,630 entries take 381 s of processor time instead of 2 s on a
# busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def open(path: "str | Path | None" = None) -> "Flipscope":
    """Open the database for a notebook: `flipcore.open().study("…").decomposition()`."""
    # Imported when it is called: `import flipcore` alone should load no pandas.
    from flipcore.api import open_store

    return open_store(path)


def read(source: Any, *words: str, name: str = "table") -> "StudyView":
    """Read logs or a DataFrame into a study in memory: `read(frame, "score=points").audit()`.

    `source` is a path to logs, or a table of scores or outputs. `words` correct a guess, as --map
    does; `name` is what a DataFrame is called.
    """
    from flipcore.api import study_in_memory

    return study_in_memory(source, words, name)
