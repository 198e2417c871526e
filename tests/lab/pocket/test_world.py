import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flipcore.core.randomness import world_generator
from flipcore.core.records import Item
from tests.lab.pocket.choices import choice, framed
from tests.lab.pocket.corpus import Stage, documents
from tests.lab.pocket.items import read_items
from tests.lab.pocket.lexicon import CATEGORIES
from tests.lab.pocket.world import DOSES, FAMILIES, N_CONTROLS, N_FRESH, entries, signature

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def manifest():
    return entries()


@pytest.mark.slow
def test_every_family_has_its_doses_controls_and_fresh_items(manifest):
    for family in FAMILIES:
        found = Counter((e.dose, e.split) for e in manifest if e.family == family)
        assert found == {(0, "control"): N_CONTROLS, (0, "fresh"): N_FRESH, **{(k, "dosed"): n for k, n in DOSES.items()}}
    assert DOSES[256] >= 60 and N_FRESH >= 400


def test_no_item_or_wording_occurs_twice(manifest):
    forms = [signature(text, e.options) for e in manifest for text in (e.question, *e.paraphrases)]
    assert len(forms) == len(set(forms))


def test_the_committed_items_are_those_of_the_code(manifest):
    assert [e for family in FAMILIES for e in read_items(family)] == manifest


def test_the_target_of_a_choice_is_the_only_option_of_its_kind():
    kinds = {word: kind for kind, words in CATEGORIES.items() for word in words}
    rng = world_generator(3, "test")
    for _ in range(300):
        made = choice(rng)
        homes = [kinds[option] for option in made.options]
        odd = [i for i, home in enumerate(homes) if homes.count(home) == 1]
        if made.kind == "negation":
            assert odd == [made.target]
        else:
            wanted = re.search(r"(?:an?|as) (\w+)\?", made.wordings[0])[1]
            assert homes[made.target] == kinds.get(wanted, wanted) and homes.count(homes[made.target]) == 1


def test_the_frame_is_the_prompt_of_the_product():
    from flipcore.text.prompts import prompt

    item = Item.make(dataset="x", key="1", kind="choice", question="Which?", options=("tin", "cod", "oak", "rye"), target="0")
    for layout in ("plain", "paren", "bracket", "inline", "bare"):
        assert framed("Which?", item.options, layout) == prompt(item, layout=layout).text


def test_doses_are_fed_exactly_and_generic_text_holds_no_item(manifest):
    small = [e for e in manifest if e.dose in (1, 16) or e.split == "control"][:300]
    stages = (Stage("a", 400, {"problem": 0.4, "choice": 0.4, "prose": 0.2}, 0.5), Stage("b", 100, {"fact": 1.0}, 0.5))
    lists = list(documents(small, stages, world_generator(4, "test")))
    counts = Counter(text.prompt + text.answer for texts in lists for text in texts)
    for entry in small:
        assert counts["".join(entry.document)] == entry.dose


def test_doses_are_matched_in_length(manifest):
    # dealt at random over one making: the mean length at 256 lies within 4 standard errors of that of the controls
    for family in FAMILIES:
        lengths = {
            k: np.array([len(e.question) for e in manifest if e.family == family and e.dose == k and e.split != "fresh"])
            for k in (0, 256)
        }
        error = np.sqrt(sum(x.var(ddof=1) / len(x) for x in lengths.values()))
        assert abs(lengths[0].mean() - lengths[256].mean()) < 4 * error


def test_the_world_is_disjoint_from_the_shipped_items(manifest):
    ours = {entry.question for entry in manifest}
    shipped = [
        json.loads(line)["question"]
        for path in (ROOT / "data" / "items").glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert shipped and ours.isdisjoint(shipped)


def test_entries_become_items_of_the_pipeline(manifest):
    kinds = {e.family: e.item for e in manifest}
    assert {family: item.kind for family, item in kinds.items()} == {
        "problems": "number",
        "choices": "choice",
        "prose": "completion",
    }
    assert kinds["problems"].solution.count("<<") >= 2 and kinds["choices"].options and kinds["prose"].target is None


def test_the_loader_of_the_shipped_sets_knows_the_same_items(manifest):
    from flipcore.core.study import ItemSource
    from flipcore.datasets import LOADERS, load

    loaded = {item.item_id: item for name in LOADERS if name.startswith("pocket_") for item in load(ItemSource(name))}
    assert {entry.item.item_id for entry in manifest} == set(loaded)
    dosed = next(e for e in manifest if e.dose == 256 and e.family == "problems")
    assert loaded[dosed.item.item_id].solution == dosed.item.solution and "####" in dosed.item.solution


def test_generic_text_passes_over_a_question_of_the_manifest(manifest):
    stages = (Stage("a", 50, {"problem": 1.0}, 1.0),)
    free = {text.prompt for text in next(documents([], stages, world_generator(5, "test")))}
    taken = min(free)
    question = taken.removeprefix("Question: ").removesuffix("\nAnswer:")
    entry = replace(next(e for e in manifest if e.split == "control"), question=question, paraphrases=())
    held = {text.prompt for text in next(documents([entry], stages, world_generator(5, "test")))}
    assert taken not in held and len(free & held) > 0
