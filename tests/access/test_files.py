"""Every way to write a file, at every level: allowed, or a sentence and the disk as it was."""

import ast
import re
import types

import pytest

from flipcore.access import policy
from flipcore.access.acting import Permission, access_file, acting_as
from flipcore.annotation.paraphrases.publish import publish
from flipcore.commands import match
from flipcore.commands.export import write_errata
from flipcore.commands.report import write_report
from flipcore.core.errors import AccessDenied
from flipcore.models import own_models
from flipcore.reports.exports.dataset import dataset_folder
from flipcore.reports.exports.every_eval_ever import write_every_eval_ever
from flipcore.runs import inbox, runner
from flipcore.runs.asking_again import draft_again, draft_with_items
from flipcore.runs.demo import demo_study
from flipcore.runs.harnesses.writing import write_variants, zipped_variants
from flipcore.store.archiving import archive, back_up, restore
from flipcore.store.connection import Store
from flipcore.store.export import export
from flipcore.store.queries import studies
from flipcore.store.uploads import keep_files, keep_upload
from tests.access.test_writes import CARD, PEOPLE
from tests.conftest import ROOT
from tests.datasets.recorded import harness_files
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = tiny_study(name="files")
S = STUDY.study_id


def _matched(store, folder):
    options = types.SimpleNamespace(
        write=str(folder / "paired.toml"), keep=None, dataset=None, path=None, by=["length"], caliper=9.0, models=None
    )
    match.act.__wrapped__(store, S, options)


# module that writes files -> its ways: what each needs, and how it is done
WAYS = {
    "flipcore/store/uploads.py": {
        "upload": (Permission.BRING, lambda s, f: keep_upload("a.csv", b"x")),
        "uploads of a log": (Permission.BRING, lambda s, f: keep_files([("a.json", b"{}")])),
        "ask a log's items again": (Permission.BRING, lambda s, f: draft_again(s, LOG[0])),
        "ask selected items of a log": (
        Permission.BRING,
        lambda s, f: draft_with_items(s, LOG[0], studies.study_items(s, LOG[0])["item_id"]),
    ),
    },
    "flipcore/store/archiving.py": {
        "back up": (Permission.FILES, lambda s, f: back_up(s)),
        "archive": (Permission.FILES, lambda s, f: archive(s, S)),
        "restore": (Permission.FILES, lambda s, f: restore(s, S)),
    },
    "flipcore/store/export.py": {"export": (Permission.PUBLISH, lambda s, f: export(s, S, f / "e", "csv"))},
    "flipcore/reports/exports/every_eval_ever.py": {"exchange": (Permission.PUBLISH, lambda s, f: write_every_eval_ever(s, S, f / "eee"))},
    "flipcore/reports/exports/dataset.py": {"dataset": (Permission.PUBLISH, lambda s, f: dataset_folder(s, S, "mit").write(f / "d"))},
    "flipcore/annotation/paraphrases/publish.py": {"paraphrases": (Permission.PUBLISH, lambda s, f: publish(s, "A", folder=f / "p"))},
    "flipcore/commands/report.py": {"report": (Permission.PUBLISH, lambda s, f: write_report(s, S, str(f / "r.html"), None))},
    "flipcore/commands/export.py": {"errata": (Permission.PUBLISH, lambda s, f: write_errata(s, S, f / "errata"))},
    "flipcore/commands/match.py": {"match": (Permission.PUBLISH, _matched)},
    "flipcore/runs/harnesses/writing.py": {
        "variants": (Permission.PUBLISH, lambda s, f: write_variants(s, STUDY, "jsonl", f / "v")),
        "variants to download, of a study that is not stored": (
            Permission.RUN,
            lambda s, f: zipped_variants(s, tiny_study(name="not stored"), "jsonl"),
        ),
    },
    "flipcore/runs/inbox.py": {"hand over": (Permission.RUN, lambda s, f: inbox.hand_over(demo_study()))},
    "flipcore/models/own_models.py": {
        "model": (Permission.MODELS, lambda s, f: own_models.save(CARD)),
        "remove a model": (Permission.MODELS, lambda s, f: own_models.remove("m")),
    },
}  # fmt: skip
# what the machine itself keeps, and the command line of whoever holds the file
OWN = {
    "flipcore/commands/check.py",  # of files that the caller names, in memory: it opens no study
    "flipcore/access/signing.py",
    "flipcore/commands/access.py",
    "flipcore/store/audit_log.py",
    "flipcore/store/kept_results.py",  # what a page computed for somebody who may read it, for the next start
    "flipcore/store/migrations.py",
    "flipcore/store/whole_copy.py",  # `backup` and `repair`
    "flipcore/runs/harnesses/writing.py",  # called by writing.py alone
}
LOG = []


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIPSCOPE_HOME", str(folder / "home"))
        patch.setenv("FLIPSCOPE_DB", str(folder / "walk.duckdb"))
        opened = Store.open()
        runner.run(STUDY, opened)
        harness_files.lm_eval_scored(folder / "samples_x_2025-01-01.jsonl")
        from flipcore.runs.log_corrections import corrections_of
        from flipcore.runs.log_import import store_logs
        from flipcore.runs.log_survey import survey

        LOG[:] = [store_logs(survey([folder / "samples_x_2025-01-01.jsonl"], corrections_of(["model=m"])), opened)]
        access_file().parent.mkdir(exist_ok=True)
        access_file().write_text(policy.TEMPLATE)
        yield opened
        opened.close()


def on_disk(folder):
    """Every file below, and what is in it; the database has its own walk, and the head of the log of acts is the machine's own."""
    own = ("walk.duckdb", "acts-")
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.name.startswith(own)}


@pytest.mark.parametrize("who", PEOPLE)
def test_whoever_may_not_writes_no_file(store, tmp_path, who):
    person, roots = PEOPLE[who], (store.path.parent, tmp_path)
    before, n_refused = [on_disk(root) for root in roots], 0
    for module, ways in WAYS.items():
        for way, (needs, write) in ways.items():
            if not person.may(needs):
                with acting_as(person), pytest.raises(AccessDenied):
                    write(store, tmp_path)
                assert [on_disk(root) for root in roots] == before, (module, way)
                n_refused += 1
    n_ways = sum(map(len, WAYS.values()))
    assert n_refused == {"analyst": 5, "admin": 0}.get(who, n_ways)


@pytest.mark.slow
def test_an_analyst_writes_what_a_viewer_may_not(store, tmp_path):
    """The walk would pass if nothing ever wrote."""
    n_files = len(on_disk(tmp_path)) + len(on_disk(store.path.parent))
    with acting_as(PEOPLE["analyst"]):
        for module in ("flipcore/store/uploads.py", "flipcore/store/export.py", "flipcore/commands/report.py"):
            for way, (_, write) in WAYS[module].items():
                write(store, tmp_path)
                after = len(on_disk(tmp_path)) + len(on_disk(store.path.parent))
                assert after > n_files or way == "ask selected items of a log", way  # the same items are the same file
                n_files = after


def test_every_module_that_writes_files_is_in_the_walk():
    writing = set()
    for path in (ROOT / "flipcore").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        # Parsing every file takes two seconds: only one with such an import is parsed.
        if not re.search(r"from flipcore\.core[\w.]* import \(?[^()]*?\b(write|whole_files?|copy)\b", text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and {one.name for one in node.names} & {
                "write",
                "whole_file",
                "whole_files",
                "copy",
            }:
                if (node.module or "").startswith("flipcore.core"):
                    writing.add(path.relative_to(ROOT).as_posix())
    assert writing == set(WAYS) | OWN
