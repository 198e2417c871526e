"""What is imported before anybody looks."""

import subprocess
import sys

from flipcore.core.early_imports import NEEDED


def test_all_of_it_can_be_imported_and_is_there_afterwards():
    code = (
        "import sys\n"
        "from flipcore.core import early_imports\n"
        "early_imports.begin().join(60)\n"
        f"lacking = [name for name in {NEEDED!r} if name not in sys.modules]\n"
        "assert not lacking, lacking"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr[-2000:]
