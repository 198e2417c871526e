"""What is imported before anybody looks."""

import ast
import subprocess
import sys

import pytest

from flipcore.core.early_imports import NEEDED
from tests.browser.serving import ROOT


@pytest.mark.slow
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


@pytest.mark.slow  # the quick one below refuses what would let it happen
def test_threads_that_begin_with_scikit_learn_at_once_all_find_it_whole():
    code = """
import sys, threading
import numpy as np
from flipcore.stats.base.separability import logistic
from flipcore.stats.flips.predictor import _folds, _model
from flipcore.vectors.classifiers.kinds import linear_decisions, weighted
from flipcore.vectors.embeddings.kinds import EMBEDDINGS

rows, labels = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)
texts = ["an oak here", "a tin there", "an ash here", "a yew there"]
jobs = [
    lambda: logistic(rows, labels, rows), _model, lambda: _folds(np.arange(9)), lambda: weighted(texts),
    lambda: linear_decisions(rows, labels, rows), lambda: EMBEDDINGS[0].vectors(texts),
]
together, failed = threading.Barrier(len(jobs)), []
def begin(job):
    together.wait()
    try:
        job()
    except ImportError as error:
        failed.append(str(error))
sys.setswitchinterval(1e-5)
threads = [threading.Thread(target=begin, args=(job,)) for job in jobs]
[one.start() for one in threads]
[one.join() for one in threads]
sys.exit("; ".join(failed) or 0)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_no_function_imports_scikit_learn_by_itself():
    """Where two threads did, one of them found half a module: seen on the Holdout page, whose tests run beside each other."""
    n = 0
    for path in [*(ROOT / "flipcore").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        if "sklearn" not in text:  # parsing every file takes three seconds
            continue
        for one in ast.walk(ast.parse(text)):
            body = one.body if isinstance(one, (ast.FunctionDef, ast.Try, ast.Module)) else []
            for before, line in zip([None, *body], body, strict=False):
                if isinstance(line, ast.ImportFrom) and (line.module or "").startswith("sklearn"):
                    n += 1
                    follows = isinstance(before, ast.ImportFrom) and (before.module or "").startswith("sklearn")
                    assert follows or (before and ast.unparse(before) == "learners()"), f"{path}:{line.lineno}"
    assert n
