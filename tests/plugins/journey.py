"""Run in a process of its own with the five wheels on its path: everything that must know of the plug-ins, as one JSON."""

import io
import json
import os
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

from flipcore import __main__ as command_line
from flipcore.core.study import DETECTORS, ItemSource, ModelUse, Part, Study
from flipcore.runs import demo, runner
from flipcore.store.connection import Store
from flipcore.store.export import export
from flipcore.store.queries import studies

CHOICES = Study(
    "riddles",
    (ItemSource("riddles"),),
    (Part("identity"), Part("option_order", {"n": 2}), Part("shout", {"marks": 2})),
    (Part("regex"), Part("last_letter")),
    (ModelUse("parrot-1"),),
)
MEMORY = Study(
    "ratio",
    (
        ItemSource("pocket_problems", n=24, where={"dose": [256]}),
        ItemSource("pocket_problems", "control", n=24, where={"split": "control"}),
    ),
    (Part("paraphrase"),),
    (Part("question_loss"),),
    (ModelUse("pocket"),),
    control="random",
    detectors=(*DETECTORS, "loss_ratio"),
)
UNDECLARED = replace(MEMORY, name="without", detectors=DETECTORS)


def said(*words):
    """What the command line prints."""
    with redirect_stdout(io.StringIO()) as out:
        code = command_line.main(list(words))
    return out.getvalue() if code == 0 else f"exit {code}"


def page(name, root, study="", **state):
    """A page with everything on it that is text, and the options and keys of its controls."""
    from tests.pages.opening import opened

    app = opened(f"{name}/page.py", study=study)
    for key, value in state.items():
        app.button_group(key=key).set_value(value).run()
    problems = [str(one.value) for one in app.exception]
    kinds = ("markdown", "caption", "warning", "table", "dataframe", "toggle", "selectbox", "multiselect", "button_group")
    words = []
    for block in (one for kind in kinds for one in getattr(app, kind)):
        words.append(f"{block.key} {getattr(block, 'label', '')} {getattr(block, 'options', '')} {getattr(block, 'help', '')}")
        words.append(block.value.to_string() if hasattr(block.value, "to_string") else str(block.value))
    return {"problems": problems, "text": "\n".join(words).replace("\\", "")}


def main(folder, root):
    os.environ["FLIPSCOPE_DB"] = str(folder / "flips.duckdb")
    demo.fill_store, demo.demo_studies = lambda store: None, list
    store = Store.open()
    states = [runner.run(one, store).state for one in (CHOICES, MEMORY, UNDECLARED)]
    rows = studies.studies(store).set_index("name")["plugins"].to_dict()
    files = {path.name: path.read_text(encoding="utf-8") for path in export(store, CHOICES.study_id, folder / "out", "csv")}
    store.close()
    command = {
        name: said(*words)
        for name, words in {
            "plugins": ("plugins",),
            "choices": ("stats", CHOICES.study_id),
            "memory": ("stats", MEMORY.study_id),
            "json": ("stats", MEMORY.study_id, "--json"),
            "undeclared": ("stats", UNDECLARED.study_id, "--json"),
        }.items()
    }
    pages = {
        "new_study": page("new_study", root),
        "memorization": page("memorization", root, MEMORY.study_id),
        "loss": page("memorization", root, MEMORY.study_id, tab="loss"),
        "flips": page("flips", root, CHOICES.study_id),
    }
    names = [name for name in files if "readouts." in name]
    print(
        json.dumps(
            {
                "states": states,
                "origins": rows,
                "command": command,
                "pages": pages,
                "readouts": files[names[0]],
                "study": next(text for name, text in files.items() if "-study." in name),
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
    sys.stdout.flush()
    os._exit(0)  # a page's threads may outlive it
