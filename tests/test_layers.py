"""The laws of the house: imports point one way, one place for each dangerous thing."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = sorted((ROOT / "flipcore").rglob("*.py"))
PAGES = sorted((ROOT / "pages").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


def place_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def in_each(paths: Iterable[Path], faults: Callable[[Path], object]) -> dict[str, object]:
    """Place -> what is wrong there. One test walks all modules: three thousand tests of a millisecond each cost a minute."""
    return {place_of(path): found for path in paths if (found := faults(path))}


# A line that begins an import, to its end or that of its parentheses.
IMPORT = re.compile(r"^[ \t]*((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?:\([^)]*\)|(?:\\\n|[^\n(])*))", re.MULTILINE)


def import_statements(text: str) -> Iterator[ast.AST]:
    """Every import of a module, those inside functions too.

    To parse whole modules takes four seconds for all of them. A line of a text that reads like an
    import is taken for one, too: the product has none.
    """
    for statement in IMPORT.findall(text):
        try:
            yield from ast.parse(statement).body
        except SyntaxError:  # a line of prose that begins with "import"
            continue


@cache
def imported(path: Path) -> set[str]:
    names = set()
    for node in import_statements(text_of(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def imports_of(*packages: str) -> Callable[[Path], set[str]]:
    return lambda path: {name for name in imported(path) if any(f"{name}.".startswith(f"{package}.") for package in packages)}


def calls(pattern: str) -> Callable[[Path], list[str]]:
    return lambda path: [line.strip() for line in text_of(path).splitlines() if re.search(pattern, line)]


def contracts_of(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of a folder's `pyproject.toml`, in a process of its own: import-linter turns off every logger there is."""
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(cache_dir=None))",
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_imports_keep_to_the_contracts_of_pyproject():
    run = contracts_of(ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


# Each outer library that flipcore imports, and the modules or packages of flipcore that may: nobody else does. streamlit is not here.
ALLOWED_MODULES = {
    "datasets": "annotation.paraphrases.publish datasets.dataset",
    "duckdb": "datasets.tables store",
    "fsspec": "store.archives",
    "httpx2": "models.openai",
    "huggingface_hub": "annotation.paraphrases.publish datasets.dataset models.weights.backend",
    "jinja2": "reports.exports.rendering text.own_prompts",
    "markupsafe": "reports.exports.rendering",
    "latex2sympy2_extended": "extractors.written.expressions",
    "math_verify": "extractors.written.expressions",
    "numpy": "annotation.control_matching axes charts claims core.contracts core.randomness datasets.tables detectors models reports "
    "runs.asking stats store vectors",
    "openai": "models.openai vectors.embeddings.kinds",
    "openpyxl": "datasets.reading.sheets",
    "pandas": "annotation api claims detectors reports runs.asking_again stats store",
    "plotly": "charts",
    "pyarrow": "datasets runs.import_batch store",
    "pydantic": "core.declared",
    "rapidfuzz": "stats.holdout.duplicates",
    "ray": "runs.cluster.ray_cluster",
    "regex": "extractors.pattern",
    "safetensors": "models.pocket_inference",
    "scipy": "models.simulated stats vectors.classifiers.kinds",
    "sentence_transformers": "vectors.embeddings.kinds",
    "sklearn": "stats vectors",
    "starlette": "invitations meeting.socket",
    "sympy": "extractors.written.expressions",
    "threadpoolctl": "models.pocket_inference",
    "tokenizers": "models.pocket_inference",
    "tomli_w": "core.study models.own_models",
    "torch": "models.weights.inference vectors.classifiers.kinds",
    "transformers": "models.weights.inference vectors.classifiers.kinds",
    "umap": "stats.holdout.projection",
}
# Each package of flipcore and the packages that it may import; the contract of layers in pyproject.toml keeps their order
MAY_IMPORT = {
    "": "api core",
    "__main__": "commands core",
    "commands": "access annotation core datasets invitations models reports runs stats store text",
    "access": "core",
    "annotation": "access axes core datasets extractors models runs stats store text",
    "api": "charts claims core extractors reports stats store",
    "axes": "core text",
    "charts": "core stats",
    "claims": "core extractors stats text",
    "core": "",
    "datasets": "core text",
    "detectors": "axes core stats",
    "extractors": "core text",
    "invitations": "access core store",
    "launch": "__main__ core invitations",
    "meeting": "access core",
    "methods": "",
    "models": "access core text",
    "protocols": "core extractors text",
    "reports": "access annotation axes charts claims core datasets detectors extractors methods models protocols runs stats store text "
    "vectors",
    "runs": "access axes core datasets extractors models protocols stats store text",
    "stats": "core text",
    "store": "access axes core extractors stats text",
    "text": "core",
    "vectors": "core models stats store",
}


def module_of(path: Path) -> str:
    """Its name within flipcore: "stats.base.estimate"; "" for the package itself."""
    return ".".join(path.relative_to(ROOT / "flipcore").with_suffix("").parts).removesuffix("__init__").rstrip(".")


def holders_of(module: str, names: str) -> list[str]:
    """Return which of these modules or packages, named in one text, hold the module."""
    return [name for name in names.split() if f"{module}.".startswith(f"{name}.")]


def strangers(module: str, names: Iterable[str]) -> list[str]:
    """What of the imported names a module may not import: a library of another package, or a package below that is not listed."""
    outer = {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"flipcore", "__future__"}
    packages = {name.split(".")[1] for name in names if name.startswith("flipcore.")}
    package = module.split(".")[0]
    allowed = f"{package} {MAY_IMPORT.get(package, '')}".split()
    return sorted(
        [
            *(one for one in outer if not holders_of(module, ALLOWED_MODULES.get(one, ""))),
            *(one for one in packages if one not in allowed),
        ]
    )


def test_a_module_imports_only_what_its_room_may():
    assert in_each(CORE, lambda path: strangers(module_of(path), imported(path))) == {}


def test_no_library_is_allowed_where_nobody_needs_it():
    used = [(module_of(path), name.split(".")[0]) for path in CORE for name in imported(path)]
    for library, packages in ALLOWED_MODULES.items():
        needed = {package for module, name in used if name == library for package in holders_of(module, packages)}
        assert needed == set(packages.split()), library


@pytest.mark.parametrize(
    ("module", "name"),
    [
        *(("core.errors", library) for library in [*ALLOWED_MODULES, "streamlit", "a_library_of_tomorrow"]),
        ("access.policy", "duckdb"),
        ("runs.runner", "ray"),
        ("meeting.rooms", "openai.types"),
        ("claims.flips", "flipcore.store.connection"),
        ("store.rows", "flipcore.reports"),
        ("stats.base.estimate", "flipcore.datasets.loading"),
    ],
)
def test_an_import_that_no_law_allows_is_seen(module, name):
    """Each law is seen red once: the import that it forbids is planted, and named."""
    assert strangers(module, {name}) == [name.split(".")[1] if name.startswith("flipcore.") else name.split(".")[0]]


# Contract of pyproject.toml -> a module and the line that breaks it
PLANTED = {
    "Layers: a package": ("core/errors.py", "from flipcore.reports.whole_study import whole_study"),
    "Statistics: the base below": ("stats/base/intervals.py", "from flipcore.stats.memory.pearl_analysis import perm_maxdrop"),
    "Statistics know numbers": ("stats/ranking/__init__.py", "from flipcore.datasets.loading import load_report"),
    "Axes, readouts and models": ("axes/framing.py", "from flipcore.datasets.loading import load_report"),
    "A model is asked": ("models/slots.py", "from flipcore.extractors.written_answer import Regex"),
    "A figure is handed": ("charts/theme.py", "from flipcore.store.connection import Store"),
    "No cycles": ("core/bounds.py", "import flipcore.core.study"),
}


def test_each_contract_is_broken_by_what_it_forbids(tmp_path):
    shutil.copytree(ROOT / "flipcore", tmp_path / "flipcore", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for module, line in PLANTED.values():
        with (tmp_path / "flipcore" / module).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    run = contracts_of(tmp_path)
    lines = [line for line in run.stdout.splitlines() if line.endswith((" BROKEN", " KEPT"))]
    assert run.returncode == 1 and len(lines) == len(PLANTED), run.stdout + run.stderr
    assert all(any(line.startswith(name) and line.endswith(" BROKEN") for line in lines) for name in PLANTED), lines


def test_flipcore_never_imports_a_page():
    assert in_each(CORE, imports_of("pages", "app")) == {}


def test_the_product_needs_nothing_of_its_tests():
    """Nor of what only made it: `tests.lab` trains the pocket model and simulates claims."""
    assert in_each([*CORE, *PAGES, ROOT / "app.py"], imports_of("tests")) == {}


def test_random_generators_are_made_in_one_place():
    others = [path for path in CORE if path.name != "randomness.py"]
    assert in_each(others, calls(r"default_rng\(|RandomState|np\.random\.(seed|rand|normal|choice)|^import random")) == {}


def test_the_database_is_opened_in_one_place():
    # whole_copy opens copies alone, and a file that cannot be opened otherwise
    others = [path for path in CORE if path.name not in ("connection.py", "whole_copy.py")]
    assert in_each(others, calls(r"duckdb\.connect\((?!\":memory:\")")) == {}


def test_models_are_asked_in_one_place():
    """What asks keeps to budget and slots, and stores every reply as it comes. A worker of a cluster answers the one that asks, and
    a kind of model its own parent."""
    asking = in_each([*CORE, *PAGES], calls(r"\.complete\("))
    assert sorted(asking) == [
        "flipcore/models/weights/backend.py",
        "flipcore/runs/asking.py",
        "flipcore/runs/cluster/worker.py",
    ]
    assert [len(lines) for lines in asking.values()] == [1, 1, 1]


def test_a_page_holds_no_sql_numpy_or_figure_code():
    assert in_each(PAGES, imports_of("numpy", "duckdb", "plotly", "scipy")) == {}
    assert in_each(PAGES, calls(r"\.groupby\(|SELECT .* FROM|unsafe_allow_html=True|st\.html\(")) == {}


# What a page's function may do without touching the screen: words and drawings of the page itself, and what Streamlit hands over
OFF_SCREEN = {
    "pages/common/showing.py": {"plain": "escapes text for Streamlit's Markdown"},
    "pages/common/inspector.py": {"_title_of_right": "an entry of a menu"},
    "pages/flips/map_data.py": {"DrawnMap": "what was drawn on this screen"},
    "pages/common/session.py": {"_stamp_of_cards": "part of the key under which pages remember"},
    "pages/holdout/cached.py": {"_names": "the key under which the page keeps a result"},
    "pages/holdout/set_selection.py": {"_aside_key": "the key under which the session keeps what was set aside"},
    "pages/memorization/items.py": {"*": "what the page calls its parts"},
    "pages/new_study/questions.py": {"_number": "what was typed into a field"},
}


def off_screen(tree: ast.Module) -> list[str]:
    """Functions of a module that use nothing of Streamlit or of another page, directly or through one another. A parameter called
    `controls`, `column` or `place` is a part of the screen."""
    screen = {"controls", "column", "place"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            screen |= {alias.asname or alias.name for alias in node.names if alias.name.split(".")[0] == "streamlit"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in {"pages", "streamlit"}:
            screen |= {alias.asname or alias.name for alias in node.names}
    used = {}
    for node in tree.body:
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            used[node.name] = names
        elif isinstance(node, ast.Assign) and names & screen:
            screen |= {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    while on_screen := {name for name in used if name not in screen and used[name] & screen}:
        screen |= on_screen
    return [name for name in used if name not in screen]


def test_what_a_page_computes_is_computed_in_the_core():
    """A function of a page shows something, asks somebody, or keeps what the core computed; what does neither is in flipcore."""

    def faults(path: Path) -> set[str]:
        reasons = OFF_SCREEN.get(place_of(path), {})
        return set() if "*" in reasons else set(off_screen(tree_of(path))) ^ set(reasons)

    assert in_each(PAGES, faults) == {}


def test_a_function_that_touches_no_screen_is_seen():
    tree = ast.parse("import streamlit as st\nshow = st.button\ndef a(): return b()\ndef b(): show()\ndef c(x): return x + 1")
    assert off_screen(tree) == ["c"]


def test_a_page_asks_the_core_to_write_and_to_query():
    """Each kind of row is written in one place of the core, which checks it; pages, command line and imports call that."""
    writing = calls(r"\.writer\b|\.execute\(|\.transact\(|\.rows_of\(|\.frame\(|\bwrite_(bytes|text)\(")
    assert in_each([*PAGES, ROOT / "app.py"], writing) == {}


def test_javascript_never_writes_html():
    scripts = [path for path in (ROOT / "pages").rglob("*.js") if "innerHTML" in path.read_text(encoding="utf-8")]
    assert scripts == []


def test_every_file_that_is_taken_away_goes_by_the_one_button():
    """It tells the log of acts who saved what."""
    buttons = [path.name for path in (ROOT / "pages").rglob("*.py") if ".download_button(" in path.read_text(encoding="utf-8")]
    assert buttons == ["showing.py"]
