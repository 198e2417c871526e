"""flipcore: the statistics and perturbation core of Flipscope. It never imports streamlit."""

import os
from typing import TYPE_CHECKING, Any

from flipcore.core.version import __version__ as __version__

if TYPE_CHECKING:
    from pathlib import Path

    from flipcore.api import Flipscope, StudyView

# One thread for linear algebra, unless the environment says otherwise; it must be set before numpy
# and scipy are imported. The matrices are small and the sessions many. On a busy machine, threads
# that waited for one another took 381 s of processor time instead of 2 s (19 permutations of a
# classifier on 2,630 entries).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def open(path: "str | Path | None" = None) -> "Flipscope":
    """Open the database for a notebook: `flipcore.open().study("…").decomposition()`."""
    # Imported here, so that `import flipcore` does not load pandas.
    from flipcore.api import open_store

    return open_store(path)


def read(source: Any, *words: str, name: str = "table") -> "StudyView":
    """Read logs or a DataFrame into a study in memory: `read(frame, "score=points").audit()`.

    `source` is a path to logs, or a table of scores or outputs. `words` correct guesses, as --map
    does; `name` is the name of a DataFrame.
    """
    from flipcore.api import study_in_memory

    return study_in_memory(source, words, name)
