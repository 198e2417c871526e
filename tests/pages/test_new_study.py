"""New study, used: questions that switch parts, a filter by the items' own data, and how many items a claim needs."""

import gzip
import json
from dataclasses import replace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load
from flipcore.runs import runner
from flipcore.runs.cluster import ray_cluster
from flipcore.runs.plan import plan, projection
from flipcore.stats.score.next_calls import assumed_components, half_width
from flipcore.store.connection import Store
from flipcore.store.queries import review
from flipcore.store.rows import study_row
from flipcore.store.visible import HIDDEN
from tests.pages.opening import PAGE_MARKS, opened, quiet, words

pytestmark = PAGE_MARKS


@pytest.fixture
def app(tmp_path, monkeypatch):
    st.cache_resource.clear()
    st.cache_data.clear()
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    yield opened("new_study/page.py")
    st.cache_resource.clear()


def test_details_are_folded_to_lines_that_say_what_they_are_set_to(app):
    assert not any(app.session_state[f"step-{number}"] for number in (1, 2, 3))
    assert app.session_state["summary-1"] == "60 of Pocket: choices, 20 of Pocket: word problems"
    assert app.session_state["summary-3"] == "temperature 0.7, 2 samples, token limit 96"


def parts_on(app) -> set[str]:
    return {part.name for what in ("axes", "extractors") for part in getattr(Study.from_toml(app.code[0].value), what)}


def test_a_question_of_the_user_switches_its_axes_and_extractors(app):
    assert [app.checkbox(key=f"purpose-{name}").value for name in ("flips", "score", "memory")] == [True, True, False]
    before = parts_on(app)
    app.checkbox(key="purpose-flips").uncheck().run()
    assert not app.exception and before - parts_on(app) == {"option_order", "label_set", "prompt_format"}
    app.checkbox(key="purpose-memory").check().run()
    assert {"numeric_resample", "question_loss", "combined"} <= parts_on(app) and "bit_flip" not in parts_on(app)
    app.toggle(key="axis-typos").set_value(True).run()
    app.checkbox(key="purpose-flips").check().run()
    app.checkbox(key="purpose-memory").uncheck().run()
    assert parts_on(app) == before | {"typos"}


def test_a_benchmark_is_compared_with_the_holdout_that_is_added_to_it(app):
    """Both roles are called benchmark, and with the other one no page compared the two files."""
    app.file_uploader(key="own-file").set_value([("mine.csv", UNKIND.encode(), "text/csv")]).run()
    assert [source.role for source in app.session_state["draft-sources"]] == ["benchmark"]
    app.selectbox(key="add-dataset").set_value("flipscope_choice").run()
    (role,) = [box for box in app.selectbox if str(box.key).startswith("add-role-")]
    role.set_value("retro").run()
    app.button(key="add-items").click().run()
    assert not app.exception
    assert [source.role for source in app.session_state["draft-sources"]] == ["target", "retro"]


def test_a_file_that_is_dropped_takes_the_place_of_the_sample(app):
    app.file_uploader(key="own-file").set_value([("mine.csv", UNKIND.encode(), "text/csv")]).run()
    assert not app.exception and not app.error
    (source,) = app.session_state["draft-sources"]
    assert source.dataset == "file" and source.columns["target"] == "Key"
    assert [app.selectbox(key=f"own-{name}").value for name in ("question", "target")] == ["Prompt text", "Key"]
    app.selectbox(key="own-target").select_index(0).run()
    assert "target" not in app.session_state["draft-sources"][0].columns and "flips only" in words(app)
    assert Study.from_toml(app.code[0].value).items == tuple(app.session_state["draft-sources"])
    app.button(key="remove-0").click().run()
    assert not app.exception and app.session_state["draft-sources"] == []


def test_a_column_of_roles_makes_controls_of_a_dropped_file(app):
    """It was ignored, and "Does it remember these questions?" began without controls."""
    lines = [f"What is {n} times 3?,{3 * n},{'control' if n % 2 else 'benchmark'}" for n in range(12)]
    text = "\n".join(["question,answer,set", *lines])
    app.file_uploader(key="own-file").set_value([("mine.csv", text.encode(), "text/csv")]).run()
    assert not app.exception and not app.error
    sources = app.session_state["draft-sources"]
    assert [source.role for source in sources] == ["benchmark", "control"]
    assert "The column set says what each question is: 6 as benchmark, 6 as control." in words(app)
    app.selectbox(key="own-target").select_index(0).run()
    assert all("target" not in source.columns for source in app.session_state["draft-sources"])


def test_questions_with_short_answers_are_read_by_their_text(app):
    rows = "".join(f'{{"question": "What is {n} and {n}?", "answer": "twice {n}"}}\n' for n in range(12))
    app.file_uploader(key="own-file").set_value([("mine.jsonl", rows.encode(), "application/json")]).run()
    assert not app.exception and "text_match" in parts_on(app) and "first_token" not in parts_on(app)


def test_what_no_chosen_model_can_do_is_off_with_the_reason(app, monkeypatch):
    assert "first_token" in parts_on(app)
    app.text_input(key="model-callable").set_value("tests.annotation.judging:reader").run()
    app.multiselect(key="model-names").set_value([]).run()
    assert not app.exception
    assert app.toggle(key="extractor-first_token").disabled and "first_token" not in parts_on(app)
    app.multiselect(key="model-names").set_value(["pocket"]).run()
    assert not app.toggle(key="extractor-first_token").disabled and "first_token" in parts_on(app)


def test_a_name_that_is_too_long_is_cut_with_a_sentence(app):
    app.text_input(key="study-name").set_value("a" * 200).run()
    assert not app.exception and "A name has at most 120 characters; these 200 are cut there." in words(app)
    (declared,) = [block.value for block in app.code if block.value.startswith("name = ")]
    assert declared.startswith(f'name = "{"a" * 120}"\n')


def test_items_are_filtered_by_their_own_data(app):
    app.selectbox(key="add-dataset").set_value("pocket_problems").run()
    app.multiselect(key="add-where-pocket_problems-dose").set_value([256]).run()
    app.number_input(key="add-n-pocket_problems").set_value(0).run()
    app.button(key="add-items").click().run()
    assert not app.exception
    assert app.session_state["draft-sources"][-1].where == {"dose": [256]}
    assert "all of Pocket: word problems" in app.session_state["summary-1"]


def test_the_calculator_gives_the_table_of_statistics_md(app):
    """Control drop 0, gap .10: 71 items a set at 80% power, 95 at 90%; at full coverage as many to start from."""
    app.number_input(key="power-gap").set_value(10.0)
    app.number_input(key="power-drop").set_value(0.0)
    app.number_input(key="power-gains").set_value(0.0)
    app.number_input(key="power-coverage").set_value(100.0).run()
    assert "71 rewritten items a set, so 71 items" in words(app)
    app.button_group(key="power-power").set_value(0.9).run()
    assert "95 rewritten items a set" in words(app)
    app.button_group(key="power-what").set_value("two accuracies are equal").run()
    app.number_input(key="power-first").set_value(40.0)
    app.number_input(key="power-margin").set_value(20.0).run()
    assert not app.exception and "items a set" in words(app)


def test_a_plan_says_how_sure_the_score_will_be_and_where_more_calls_go(app):
    app.toggle(key="score-plan").set_value(True).run()
    app.selectbox(key="plan-source").set_value("").run()  # the demo has no answers yet
    said = words(app)
    parts = assumed_components(0.8, 0.15, 0.08, 0.05)
    assert (
        f"80 questions × 8 prompts × 2 runs: ± {100 * half_width(parts, 80, 8, 2):.1f} points with other questions and prompts."
        in said
    )
    assert "100 more calls on new" in said and "1,280 calls are split best as" in said
    app.number_input(key="plan-runs").set_value(40.0).run()
    assert "raise that share" in words(app) and not app.exception


def test_an_axis_and_an_extractor_of_memory_can_be_chosen(app):
    app.toggle(key="extractor-question_loss").set_value(True).run()
    app.toggle(key="axis-paraphrase").set_value(True).run()
    assert not app.exception and {"question_loss", "paraphrase"} <= parts_on(app)


def test_question_completion_joins_the_family_and_says_its_calls_and_price_beforehand(app):
    app.toggle(key="axis-completion").set_value(True).run()
    app.toggle(key="extractor-rouge_l").set_value(True).run()
    assert not app.exception and app.session_state["summary-2"] == "6 axes, 4 extractors"
    declared = Study.from_toml(app.code[0].value)
    assert declared.detectors[-1] == "completion_rouge_l" and Part("completion") in declared.axes
    before = projection(plan(replace(declared, axes=declared.axes[:-1]))).n_calls
    assert before + 80 == projection(plan(declared)).n_calls  # one call an item
    assert f"{before + 80:,}" in words(app)


def test_a_reference_model_is_chosen_among_several_where_a_loss_is_read(app):
    app.multiselect(key="model-names").set_value(["pocket", "simulated-clean"]).run()
    assert not [one for one in app.selectbox if one.key == "reference-model"]
    app.toggle(key="extractor-question_loss").set_value(True).run()
    app.selectbox(key="reference-model").set_value("simulated-clean").run()
    declared = Study.from_toml(app.code[0].value)
    assert not app.exception and (declared.reference_model, declared.detectors[-1]) == ("simulated-clean", "over_reference")


def test_reference_models_of_the_hardness_curve_are_chosen_where_there_are_enough(app):
    names = [
        "pocket",
        "simulated-clean",
        "simulated-brittle",
        "simulated-noisy",
        "simulated-memorized",
        "simulated-artifact-prone",
    ]
    app.multiselect(key="model-names").set_value(names[:5]).run()
    assert not [one for one in app.multiselect if one.key == "reference-models"]
    app.multiselect(key="model-names").set_value(names).run()
    app.multiselect(key="reference-models").set_value(names[1:]).run()
    assert not app.exception and Study.from_toml(app.code[0].value).reference_models == tuple(names[1:])


FULL = Study(
    name="everything set",
    items=(ItemSource("flipscope_choice", n=8, seed=3),),
    axes=(Part("option_order", {"kind": "random"}), Part("identity")),
    extractors=(Part("judge"), Part("regex")),
    models=(ModelUse("simulated-brittle", temperature=0.5, n_samples=2, seed=4, max_tokens=99, top_p=0.5),),
    seed=11,
    judge="simulated-noisy",
    layout="instruct",
    budget_usd=1.5,
    confirmatory_share=0.333,
    control="random",
)


def duplicated(study):
    """The page as a link from the study's card opens it."""
    from pages.common import session

    session.store().writer.add("studies", [study_row(study, "done")]).result(10)
    page = opened("new_study/page.py", from_study=study.study_id)
    assert not page.exception
    return page


def declared(page):
    text = next(block.value for block in page.code if "everything set" in block.value)
    return Study.from_toml(text)


def test_a_duplicate_keeps_every_setting(app):
    copy = declared(duplicated(FULL))
    assert copy.name == "everything set (copy)"
    assert replace(copy, name=FULL.name) == FULL


def test_the_preview_shows_the_variants_that_are_asked_and_the_seed_is_a_control(app, monkeypatch):
    shown = []
    monkeypatch.setattr("pages.new_study.questions.show_differences", lambda base, text, key: shown.append(text))
    page = duplicated(FULL)
    page.selectbox(key="preview-axis").set_value("option_order").run()
    prompts = []
    for seed in (11, 12):
        shown.clear()
        page.number_input(key="study-seed").set_value(seed).run()
        study, item = declared(page), page.selectbox(key="preview-item").value
        asked = next(one for one in plan(study).items if one.item.item_id == item.item_id)
        prompts.append([one.prompt.text for one in asked.variants if one.axis == "option_order"])
        assert study.seed == seed and prompts[-1] and shown[-len(prompts[-1]) :] == prompts[-1]
        assert not asked.confirmatory  # what is set aside is not offered
    assert prompts[0] != prompts[1]


def test_what_is_stored_already_is_not_in_the_price_that_is_left(app):
    from pages.common import session

    study = Study(
        "everything set", (ItemSource("flipscope_choice", n=8),), (Part("option_order"),), (Part("regex"),),
        (ModelUse("simulated-clean"),),
    )  # fmt: skip
    runner.run(study, session.store())
    page = opened("new_study/page.py", from_study=study.study_id)
    said = words(page)
    n_calls = session.store().rows("SELECT count(*) FROM study_calls")[0][0]
    assert (
        not page.exception
        and f"The study has {n_calls} calls; what is stored already is not asked again." in said
        and "**0**" in said
    )
    page.session_state["draft-sources"] = [replace(study.items[0], n=10)]
    page.run()
    n_left = len(plan(replace(study, items=(replace(study.items[0], n=10),))).items[0].variants) * 2
    assert not page.exception and f"**{n_left}**" in words(page)
    fresh = duplicated(replace(study, models=(ModelUse("simulated-noisy"),)))
    assert "stored already" not in words(fresh)


def test_what_a_study_set_aside_is_neither_in_the_first_rows_nor_in_the_preview(app, tmp_path):
    store = Store.open(tmp_path / "aside.duckdb")
    study = Study(
        "aside", (ItemSource("flipscope_choice"),), (Part("option_order"),), (Part("regex"),),
        (ModelUse("simulated-clean"),), confirmatory_share=0.6,
    )  # fmt: skip
    runner.run(study, store)
    hidden = {text for (text,) in store.rows(f"SELECT question FROM items WHERE item_id IN ({HIDDEN})")}
    store.close()
    st.cache_resource.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIPSCOPE_DB", str(tmp_path / "aside.duckdb"))
        page = opened("new_study/page.py", from_study=study.study_id)
        assert not page.exception and hidden
        tables = [one.value for one in page.dataframe if "question" in one.value]
        assert [len(table) for table in tables[:2]] == [3, 5]  # in sight, and among all sources
        assert not any(hidden & set(table["question"]) for table in tables)
        assert "items are not shown: a study set them aside" in words(page)
        offered = set(page.selectbox(key="preview-item").options)
        assert offered and not {text[:90] for text in hidden} & offered


def test_a_file_of_ones_own_comes_first():
    from flipcore.reports.declaration import OWN_SOURCES, dataset_names

    assert dataset_names()[: len(OWN_SOURCES)] == list(OWN_SOURCES) == ["file", "text", "hub"] and len(dataset_names()) > len(
        OWN_SOURCES
    )


def test_a_preset_fills_the_users_own_prompt_and_is_shown_whole_before_it_runs(app):
    app.toggle(key="own-prompt").set_value(True).run()
    app.selectbox(key="own-preset").set_value("inspect_multiple_choice").run()
    assert not app.exception and app.text_area(key="own-template-inspect_multiple_choice").value.startswith(
        "Answer the following"
    )
    app.text_area(key="own-system-inspect_multiple_choice").set_value("Be brief.").run()
    assert not app.exception
    captions = " ".join(str(one.value).replace("\\", "") for one in app.caption)
    assert "System prompt: Be brief." in captions
    app.text_area(key="own-template-inspect_multiple_choice").set_value("{{ question").run()
    assert not app.exception and "mistake in line 1" in " ".join(str(one.value).replace("\\", "") for one in app.warning)


def test_where_a_study_runs_is_chosen_among_what_the_admin_named(app, monkeypatch):
    started = []
    monkeypatch.setattr("flipcore.runs.background.Registry.start", lambda self, study, on: started.append(on))
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    app.run()
    assert "pip install -r requirements-ray.txt" in words(app) and "where" not in [box.key for box in app.selectbox]
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: object())
    monkeypatch.setenv("FLIPSCOPE_CLUSTERS", "10.0.0.1:6379")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    app.run()
    box = app.selectbox(key="where")
    assert box.options == ["This machine", "Ray on this machine", "Ray at 10.0.0.1:6379"] and box.value == ""
    box.set_value("10.0.0.1:6379").run()
    app.button(key="start").click().run()
    assert started == ["10.0.0.1:6379"]


def test_the_progress_of_a_run_on_a_cluster_lists_its_workers():
    def page():
        from flipcore.runs.cluster.states import WorkerState
        from flipcore.runs.progress import Progress
        from pages.common.header import show_progress

        show_progress(Progress(n_calls=10, n_done=5, workers=(WorkerState("10.0.0.2 #1", "lab", "lost", 5, 1, 2, "Gone."),)))

    app = AppTest.from_function(page).run()
    assert not app.exception and "by worker 5" in app.get("progress")[0].proto.text
    assert app.dataframe[0].value.to_dict("records") == [
        {"worker": "10.0.0.2 #1", "model": "lab", "state": "lost", "answers": 5, "failed": 1, "lost": 2, "why": "Gone."}
    ]


UNKIND = "Nr,Prompt text,Choice 1,Choice 2,Choice 3,Choice 4,Key,Topic\n" + "".join(
    f"{i},Which of these is a metal no. {i}?,tin {i},oak,ash,elm,{'ABCD'[i % 4]},metals\n" for i in range(12)
)


def test_a_file_with_unkind_headers_is_guessed_and_its_right_answers_are_previewed(app):
    app.selectbox(key="add-dataset").set_value("file").run()
    app.file_uploader(key="add-file").set_value([("mine.csv", UNKIND.encode(), "text/csv")]).run()
    assert not app.exception
    fields = {field: app.selectbox(key=f"map-{field}").value for field in ("question", "target", "category", "key")}
    assert fields == {"question": "Prompt text", "target": "Key", "category": "Topic", "key": "Nr"}
    first = next(one.value for one in app.dataframe if "right answer" in one.value and "metal" in one.value["question"][0])
    assert list(first["right answer"])[:2] == ["tin 0", "oak"] and first["item"][1] == "file/1"
    app.selectbox(key="map-target").select_index(0).run()
    assert "No column holds a right answer: no score, flips only." in words(app)
    app.selectbox(key="map-key").set_value("Key").run()
    assert "line 2 and line 6 both have 'A' there" in words(app)
    assert not any(one.key == "add-items" for one in app.button)


def test_an_extractor_that_cannot_read_here_says_why_and_cannot_be_chosen(app, tmp_path, monkeypatch):
    path = tmp_path / "HumanEval.jsonl"
    row = {
        "task_id": "HumanEval/0",
        "prompt": "def f(x):\n",
        "canonical_solution": "    return x\n",
        "entry_point": "f",
        "test": "",
    }
    path.write_text(json.dumps(row), encoding="utf-8")
    monkeypatch.delenv("FLIPSCOPE_RUN_CODE", raising=False)
    app.session_state["draft-sources"] = [ItemSource("humaneval_code", path=str(path))]
    app.run()
    assert not app.exception and app.toggle(key="extractor-unit_tests").disabled
    assert any("only where the admin allows it" in one.value for one in app.caption)
    assert any("come in through logs" in one.value for one in app.caption)


def test_a_public_sets_file_is_uploaded_packed_and_a_damaged_one_is_a_sentence(app):
    row = {
        "task_id": "HumanEval/0",
        "prompt": "def f(x):\n",
        "canonical_solution": "    return x\n",
        "entry_point": "f",
        "test": "",
    }
    packed = gzip.compress(json.dumps(row).encode())
    app.selectbox(key="add-dataset").set_value("humaneval_code").run()
    upload = app.file_uploader(key="add-file-humaneval_code")
    upload.set_value([("HumanEval.jsonl.gz", packed[:20], "application/gzip")]).run()
    assert not app.exception and any("HumanEval\\.jsonl\\.gz is a damaged or half" in one.value for one in app.error)
    upload = app.file_uploader(key="add-file-humaneval_code")
    upload.set_value([("HumanEval.jsonl.gz", packed, "application/gzip")]).run()
    app.button(key="add-items").click().run()
    assert not app.exception and not app.error
    added = app.session_state["draft-sources"][-1]
    assert added.dataset == "humaneval_code" and added.path.endswith(".gz")


def test_a_paraphrase_that_came_since_is_in_the_plan(app):
    from pages.common import session

    axes = (Part("identity"), Part("paraphrase", {"unreviewed": True}))
    page = duplicated(
        Study("everything set", (ItemSource("flipscope_choice", n=8),), axes, (Part("regex"),), (ModelUse("simulated-clean"),))
    )
    assert "No item has an accepted paraphrase" in words(page)
    item = load(ItemSource("flipscope_choice", n=8))[0]
    pair = {"item_id": item.item_id, "dataset": "d", "original": item.question, "paraphrase": f"Say: {item.question}"}
    review.keep_pairs(session.store(), [pair | {"pair_id": "p", "generator": "me"}])
    page.run()
    assert not page.exception and "1 of 8 items have a paraphrase that may be asked." in words(page)
