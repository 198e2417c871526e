"""A study as a folder that the Hugging Face hub reads: readouts, items and completions as Parquet,
and a card.

Items whose licence is unknown or forbids changed copies are left out with everything that was read
from them, and counted; where any example before a question may be such an item, a note stands for
the examples. Nobody is named. What is set aside stays out, as in every export.
"""

import io
import json
import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from flipcore.access.acting import Permission, require
from flipcore.annotation.paraphrases.publish import check_codes
from flipcore.core.errors import BadInput
from flipcore.core.records import EXAMPLE_TURNS, Prompt
from flipcore.core.study import ItemSource, Study
from flipcore.core.version import __version__
from flipcore.core.whole_files import write
from flipcore.datasets.licenses import license_of, may_be_passed_on
from flipcore.reports.exports.data_files import COMPLETIONS, ITEMS, READOUTS
from flipcore.reports.whole_study import WholeStudy, whole_study
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import exchange, judgements, studies
from flipcore.text.tables import markdown, markdown_text

NO_EXAMPLES = "[Examples are left out, because of their licence.]\n\n"
_OF_OTHERS = ("examples", "shots", *EXAMPLE_TURNS)  # the parts of a prompt that show other items
TABLES = {"readouts": READOUTS, "items": ITEMS, "completions": COMPLETIONS}


@dataclass(frozen=True)
class DatasetFolder:
    """`files` by their path within the folder; `n_left_out` items may not be passed on, of the
    datasets in `unlicensed`."""

    files: Mapping[str, bytes]
    n_items: int
    n_left_out: int
    unlicensed: tuple[str, ...]

    @property
    def sentence(self) -> str:
        left_out = ""
        if self.n_left_out:
            are = "item is" if self.n_left_out == 1 else "items are"
            left_out = (
                f" {self.n_left_out:,} {are} left out, because of the licence of"
                f" {', '.join(self.unlicensed)}."
            )
        return f"{self.n_items:,} items with their answers.{left_out}"

    def zipped(self) -> bytes:
        """The folder as a zip without times."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in self.files.items():
                # Without times the same study gives the same bytes.
                archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
        return buffer.getvalue()

    def write(self, folder: str | Path) -> Path:
        """Write the folder; BadInput if it cannot be written or holds something else already."""
        require(Permission.PUBLISH)
        place = Path(folder)
        for path in place.iterdir() if place.is_dir() else ():
            # An earlier export may be written over.
            if path.name not in ("README.md", "data"):
                raise BadInput(
                    f"{place} holds {path.name} already: choose an empty folder or a new one."
                )
        for name, content in self.files.items():
            write(place / name, content)
        return place


def dataset_folder(
    store: Store, study_id: str, license: str = "", language: str = "en"
) -> DatasetFolder:
    """Pack a study as a dataset. `license` is what the user declares for items whose dataset names
    none (a file of their own). Raises BadInput where no item may be passed on."""
    check_codes(license or "other", language)
    items = studies.study_items(store, study_id)
    licenses = {name: license_of(name, license) for name in sorted(set(items["dataset"]))}
    free = {name: value for name, value in licenses.items() if may_be_passed_on(value)}
    unlicensed = tuple(name for name in licenses if name not in free)
    ids = set(items["item_id"][items["dataset"].isin(free)])
    if not ids:
        raise BadInput(
            "No item may be passed on: nobody has said under which licence"
            f" {', '.join(unlicensed) or 'the items'} may be. Name it, as cc-by-4.0, if you may"
            " publish them."
        )
    store.told("packed a dataset", study_id)
    c = whole_study(store, study_id)
    split = c.study.prompt.examples_from if c.study.prompt else None
    # The examples of a prompt may be any item, also one that is left out.
    shows_examples = not unlicensed and (
        split is None or may_be_passed_on(license_of(split.dataset, license))
    )
    frames, files = {}, {}
    for name, frame in _frames(c, shows_examples=shows_examples).items():
        frames[name] = frame[frame["item_id"].isin(ids)]
        buffer = io.BytesIO()
        frames[name].reset_index(drop=True).to_parquet(buffer, index=False)
        files[f"data/{name}.parquet"] = buffer.getvalue()
    folder = DatasetFolder(files, len(ids), len(items) - len(ids), unlicensed)
    card = _card(c, folder, frames, free, language)
    return replace(folder, files={"README.md": card.encode(), **files})


def _frames(c: WholeStudy, *, shows_examples: bool) -> dict[str, pd.DataFrame]:
    completions = exchange.completions(c.store, c.study_id)
    completions["prompt"] = [
        _prompt(json.loads(parts), shows_examples=shows_examples) for parts in completions["parts"]
    ]
    return {
        "readouts": c.everything[list(READOUTS)],
        "items": c.items[list(ITEMS)],
        "completions": completions[list(COMPLETIONS)],
    }


def _prompt(parts: list[tuple[str, str]], *, shows_examples: bool) -> str:
    """Prompt as sent; without examples if any of them may be of items that are left out."""
    if shows_examples:
        return Prompt(tuple((name, text) for name, text in parts)).transcript
    kept = [text for name, text in parts if name not in _OF_OTHERS]
    note = NO_EXAMPLES if len("".join(kept)) < sum(len(text) for _, text in parts) else ""
    return note + "".join(kept)


_CARD = Path(__file__).with_name("card.txt").read_text(encoding="utf-8")


def _card(
    c: WholeStudy,
    folder: DatasetFolder,
    frames: Mapping[str, pd.DataFrame],
    licenses: Mapping[str, str],
    language: str,
) -> str:
    study, roles = c.study, Counter(frames["items"]["role"])
    counts = [{"table": name, "rows": len(frame)} for name, frame in frames.items()]
    for role, n in sorted(roles.items()):
        counts.append({"table": f"items, {role.replace('_', ' ')}", "rows": n})
    names = sorted(set(licenses.values()))
    models = sorted(set(frames["readouts"]["model"]))
    sentences, columns = [], []
    for model, flips in c.flips.items():
        sentences.append(f"- {markdown(f'{model}: {flips.headline.sentence}')}")
    for name, meanings in TABLES.items():
        rows = [{"column": column, "meaning": words} for column, words in meanings.items()]
        columns.append(f"**{name}**\n\n{markdown_text(rows)}")
    return _CARD.format(
        license=f"license: {names[0]}\n" if len(names) == 1 else "license: other\n",
        language=language,
        configs="\n".join(_config(name, is_default=i == 0) for i, name in enumerate(frames)),
        # Names may hold signs that Markdown reads.
        title=markdown(study.name),
        version=__version__,
        study_id=study.study_id,
        n_items=folder.n_items,
        left_out=f"\n{folder.sentence}\n" if folder.n_left_out else "",
        sentences="\n".join(sentences),
        counts=markdown_text(counts),
        n_models=len(models),
        models=markdown(", ".join(models)),
        n_people=_n_people(c.store, study),
        licenses=markdown("; ".join(f"{name} {value}" for name, value in licenses.items())),
        columns="\n".join(columns),
        # A fence within the declaration would end its block.
        toml=_without_folders(study).to_toml().strip().replace("```", "` ` `"),
    )


def _config(name: str, *, is_default: bool) -> str:
    default = "\n  default: true" if is_default else ""
    return (
        f"- config_name: {name}\n  data_files:\n  - split: train\n    path:"
        f" data/{name}.parquet{default}"
    )


def _without_folders(study: Study) -> Study:
    """Local files by their name alone: a folder may name a person."""

    def without_folder(source: ItemSource) -> ItemSource:
        return replace(source, path=source.path and Path(source.path).name)

    prompt = study.prompt
    if prompt and prompt.examples_from:
        prompt = replace(prompt, examples_from=without_folder(prompt.examples_from))
    return replace(study, items=tuple(map(without_folder, study.items)), prompt=prompt)


def _n_people(store: Store, study: Study) -> int:
    """Reviewers of the sources whose paraphrases the study asked."""
    sources = {
        (dataset, generator) for dataset, generator, *_ in studies.reviewed(store, study.study_id)
    }
    states = studies.paraphrase_states(store)
    pairs = set()
    for pair, dataset, generator in zip(
        states["pair_id"], states["dataset"], states["generator"], strict=True
    ):
        if (dataset, generator) in sources:
            pairs.add(pair)
    reviewers = set()
    for row in judgements.standing(store, PAIR_VERDICTS):
        # Models review too, and are not counted.
        if row["pair_id"] in pairs and row["reviewer_kind"] == "person":
            reviewers.add(row["reviewer"])
    return len(reviewers)
