"""Every way to a number: pages with their links, `stats`, `export` and `report`, with items set aside and with gates closed.

Nothing of what a study set aside reaches the browser, the terminal or a file before a lock, whether it is asked for through that study,
a later one, the same questions uploaded under no ids, or a file with them that was merged; and nothing behind a closed gate is said as
a claim.
"""

import csv
import io
import json
from contextlib import closing
from dataclasses import replace

import pandas as pd
import pytest

from flipcore import __main__ as command_line
from flipcore.annotation import gates
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.api import StudyView
from flipcore.core.study import ItemSource, Part
from flipcore.reports.exports.dataset import dataset_folder
from flipcore.reports.exports.document import report
from flipcore.runs import demo, runner
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.merge import merge
from flipcore.store.queries import holdout, judgements, locks, review
from tests.annotation.paraphrases.pairs import OTHER
from tests.claims.walks import BOARD, FLIPS, HOLDOUT, MEMORY, REVIEW, page_of, sent, walk_over
from tests.reports.exports.reading import everything_in
from tests.store.queries.test_set_aside import STUDY, S, hidden_ids, open_ids

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.slow,
    pytest.mark.usefixtures("allowed_folders", "allowed_callables"),
]

LATER = replace(  # over the same items, with none set aside
    STUDY,
    name="later",
    axes=(Part("identity"), Part("few_shot", {"n": 4})),
    extractors=(Part("regex"),),
    confirmatory_share=0.0,
)
L = LATER.study_id
OWN_ITEMS = "SELECT question, options, target FROM items WHERE item_id IN (SELECT unnest($ids))"


def uploaded(name, path):
    """The same questions from a file without ids."""
    return replace(LATER, name=name, items=(ItemSource("file", path=str(path)),), axes=(Part("identity"),))


U, M = "uploaded", "merged"  # in the file they have ids of their own
# New study shows the first rows of the files that items come from, which no study has set aside; its preview is tested there
WAYS = [
    ("studies/page.py", {}),
    ("audit/page.py", {"study": S}),
    *((page, {"study": S, "item": "HIDDEN", "axis": axis}) for page in (FLIPS, MEMORY) for axis in ("identity", "paraphrase")),
    (FLIPS, {"study": S, "item-search": "HIDDEN"}),
    *((FLIPS, BOARD | {"study": S, "mode": mode}) for mode in ("Explore", "Locked")),
    *(("score/page.py", {"study": S, "mode": mode}) for mode in ("Explore", "Simultaneous", "Locked")),
    ("score/page.py", {"study": S, "item": "HIDDEN", "axis": "identity", "way": "identity|base"}),
    ("score/page.py", {"study": L}),
    *((HOLDOUT, {"sets": f"study:{S}", "mode": mode}) for mode in ("Explore", "Locked")),
    (HOLDOUT, {"sets": f"study:{S}", "part": "Look inside"}),
    (HOLDOUT, {"sets": "version:VERSION", "part": "Look inside"}),
    *((page, {"study": L, "item": "HIDDEN", "axis": axis}) for page in (FLIPS, MEMORY) for axis in ("identity", "few_shot")),
    (FLIPS, {"study": L, "item": "OPEN", "axis": "few_shot"}),
    (FLIPS, BOARD | {"study": L}),
    *(("report/page.py", {"study": S, "part": part}) for part in ("Report", "Sentences", "Methods", "Tables")),
    ("audit/page.py", {"study": L}),
    *((page, {"study": one, "item": "TWIN", "axis": "identity"}) for page in (FLIPS, MEMORY) for one in (U, M)),
    *((FLIPS, BOARD | {"study": one}) for one in (U, M)),
    *((page, {"study": one}) for page in ("audit/page.py", "ranking/page.py") for one in (U, M)),
    *((REVIEW, {"part": part}) for part in ("Agreement", "Effect", "Outputs", "Keys", "Propose and exchange")),
    (REVIEW, {"part": "Review", "shared": "100"}),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The study with its items set aside, verdicts that strike its open pairs, a version that names hidden items."""
    place = tmp_path_factory.mktemp("ways") / "flips.duckdb"
    store = Store.open(place)
    demo.fill_store(store)
    runner.run(STUDY, store)
    runner.run(LATER, store)
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, "Bea", OTHER, "changes it") for pair in review.pairs(store)[:20]])
    file = place.with_name("again.csv")
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question", "options", "answer"])
        writer.writerows([q, json.dumps(list(o)), t] for q, o, t in store.rows(OWN_ITEMS, ids=_of(store, S)) if len(o))
    runner.run(uploaded(U, file), store)
    with closing(Store.open(place.with_name("there.duckdb"))) as there:
        runner.run(uploaded(M, file), there)
    merge([place.with_name("there.duckdb")], store)
    ids = hidden_ids(store)
    row = {"name": "v", "note": "", "parent_id": None, "sets_id": "s", "target_ids": ids[:8], "retro_ids": ids[8:]}
    holdout.keep_version(store, row | {"results": {}, "settings": {}, "author": "Ada"}, [])
    store.close()
    return place


def _of(store, study):
    """The ids of all items of a study; of one that has its name as well."""
    sql = "SELECT item_id FROM study_items JOIN studies USING (study_id) WHERE $study IN (study_id, name) ORDER BY ALL"
    return [one for (one,) in store.rows(sql, study=study)]


def study_of(store, name):
    return store.rows("SELECT study_id FROM studies WHERE $name IN (study_id, name)", name=name)[0][0]


def marks(store):
    """What tells a hidden item: a piece of its question that no open item has."""
    sql = "SELECT item_id, question FROM items WHERE item_id IN (SELECT unnest($ids))"
    shown = " ".join(text for _, text in store.rows(sql, ids=open_ids(store)))
    pieces = [text.split("\n")[0][:40] for _, text in store.rows(sql, ids=hidden_ids(store))]
    return [piece for piece in pieces if '"' not in piece and "'" not in piece and piece not in shown]


@pytest.fixture(scope="module")
def opened(path):
    with walk_over(path) as store:
        yield store


@pytest.mark.parametrize(("page", "link"), WAYS, ids=[f"{page.split('/')[1]}-{i}" for i, (page, _) in enumerate(WAYS)])
def test_no_page_or_link_sends_anything_that_is_set_aside(opened, page, link):
    twin = (
        [i for i in _of(opened, link["study"]) if i in holdout.hidden_items(opened, _of(opened, U))]
        if "TWIN" in link.values()
        else [""]
    )
    assert twin
    link = link | ({"study": study_of(opened, link["study"])} if "study" in link else {})
    known = {
        "TWIN": twin[0],
        "HIDDEN": hidden_ids(opened)[0],
        "OPEN": open_ids(opened)[0],
        "VERSION": holdout.versions(opened)[0]["version_id"],
    }
    link = {key: known.get(value, value.replace("VERSION", known["VERSION"])) for key, value in link.items()}
    if "item-search" in link:
        link["item-search"] = marks(opened)[0]
    app = page_of(page, link)
    said = sent(app).replace(link.get("item-search", "\0"), "")  # what the link says itself
    assert len(said) > 500
    assert [mark for mark in marks(opened) if mark in said] == []


def test_the_walk_would_see_a_leak(opened):
    assert len(marks(opened)) > 5
    app = page_of(FLIPS, {"study": S})
    sql = "SELECT question FROM items WHERE item_id IN (SELECT unnest($ids))"
    shown = [text.split("\n")[0][:40] for (text,) in opened.rows(sql, ids=open_ids(opened))]
    assert any(piece in sent(app) for piece in shown)


@pytest.mark.parametrize("study_id", [S, L, U, M])
def test_stats_and_export_hold_nothing_that_is_set_aside(study_id, opened, capsys, tmp_path):
    study_id = study_of(opened, study_id)
    command_line.main(["stats", study_id, "--json"])
    said = capsys.readouterr().out
    assert json.loads(said) and [mark for mark in [*marks(opened), *hidden_ids(opened)] if mark in said] == []
    command_line.main(["export", study_id, "--format", "csv", "--folder", str(tmp_path)])
    files = list(tmp_path.iterdir())
    assert len(files) > 2
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert [mark for mark in [*marks(opened), *hidden_ids(opened)] if mark in text] == [], file.name


def test_no_report_or_dataset_holds_anything_that_is_set_aside(opened):
    text = everything_in(report(opened, S, 1))
    assert [mark for mark in [*marks(opened), *hidden_ids(opened)] if mark in text] == []
    assert any(item in text for item in open_ids(opened)) and "were set aside for confirmation" in text
    folder = dataset_folder(opened, S)
    for name in ("readouts", "items", "completions"):
        frame = pd.read_parquet(io.BytesIO(folder.files[f"data/{name}.parquet"]))
        assert len(frame) and not set(frame["item_id"]) & set(hidden_ids(opened)), name


@pytest.mark.parametrize("study_id", [S, L, U, M])
def test_a_notebook_is_handed_nothing_that_is_set_aside(study_id, opened):
    view = StudyView(opened, study_of(opened, study_id))
    results = [view.score(), view.decomposition(), view.memory(), view.holdout()]
    tables = [view.readouts(everything=True), view.flips("regex").reset_index(), *(result.frame for result in results)]
    # what asks the same questions under other ids hands on the open half of them, under one axis and one reader
    least = 15 if study_id in (U, M) else 50
    assert len(tables[0]) > least and len(tables[1]) > 5
    said = [view.text(), *(table.to_csv() for table in tables), *(result.text() for result in results)]
    assert [mark for mark in [*marks(opened), *hidden_ids(opened)] for text in said if mark in text] == []


def test_what_is_behind_a_closed_gate_is_said_as_no_claim_by_stats(opened, capsys):
    shut = gates.reasons(opened, S)
    assert {"paraphrase", "judge", "judge_backwards"} <= set(shut)
    command_line.main(["stats", S])
    lines = capsys.readouterr().out.splitlines()
    cells = [line for line in lines if line.strip().lower().startswith("paraphrase,")]
    assert [line for line in cells if "no claim" not in line.lower() and "not claimed" not in line.lower()] == []
    assert any(shut["paraphrase"].split(":")[0] in line for line in lines)


def test_after_a_lock_its_page_shows_what_was_set_aside_and_says_so(opened):
    before = len(locks.locks(opened, S))
    assert before == 0
    locks.keep_lock(opened, S, "decomposition", {"level": 0.95, "reference": "regex"}, "Ada")
    said = sent(page_of(FLIPS, BOARD | {"study": S, "mode": "Locked"}))
    assert (
        "these settings were stored before anybody could read what the models answered to them" in said
        and "Settings stored by Ada" in said
    )
