"""A study as a dataset for the Hugging Face hub: Parquet files and a card.

Items whose licence is unknown or forbids changed copies are left out with their readouts, and the
card says how many they are. Where an example in a prompt may be such an item, a note replaces all
examples. No person is named. Items that were set aside are left out, as in every export.
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
from flipcore.text.counts import count_of
from flipcore.text.tables import markdown, markdown_text

NO_EXAMPLES = "[Examples are left out, because of their licence.]\n\n"
_EXAMPLE_PARTS = ("examples", "shots", *EXAMPLE_TURNS)  # parts of a prompt that show other items
TABLES = {"readouts": READOUTS, "items": ITEMS, "completions": COMPLETIONS}


@dataclass(frozen=True)
class DatasetFolder:
    """The files of a dataset by their path within the folder. It lacks `n_left_out` items, those of
    the datasets `unlicensed`, because they may not be passed on."""

    files: Mapping[str, bytes]
    n_items: int
    n_left_out: int
    unlicensed: tuple[str, ...]

    @property
    def sentence(self) -> str:
        left_out = ""
        if self.n_left_out:
            counted = count_of(self.n_left_out, "item is", "items are")
            left_out = (
                f" {counted} left out, because of the licence of {', '.join(self.unlicensed)}."
            )
        return f"{self.n_items:,} items with their answers.{left_out}"

    def zipped(self) -> bytes:
        """Return the folder as a zip archive."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in self.files.items():
                # The entries have no times, so that a study always gives the same bytes.
                archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
        return buffer.getvalue()

    def write(self, folder: str | Path) -> Path:
        """Write the folder and return its path.

        Raises BadInput if the folder cannot be written or has other files already.
        """
        require(Permission.PUBLISH)
        target = Path(folder)
        for path in target.iterdir() if target.is_dir() else ():
            # An earlier export may be overwritten.
            if path.name not in ("README.md", "data"):
                raise BadInput(
                    f"{target} holds {path.name} already: choose an empty folder or a new one."
                )
        for name, content in self.files.items():
            write(target / name, content)
        return target


def dataset_folder(
    store: Store, study_id: str, license: str = "", language: str = "en"
) -> DatasetFolder:
    """Pack a study as a dataset. `license` is the one that the user declares for datasets without
    one, such as own files. Raises BadInput if no item may be passed on."""
    check_codes(license or "other", language)
    items = studies.study_items(store, study_id)
    open_licenses: dict[str, str] = {}
    unlicensed: list[str] = []
    for dataset in sorted(set(items["dataset"])):
        dataset_license = license_of(dataset, license)
        if may_be_passed_on(dataset_license):
            open_licenses[dataset] = dataset_license
        else:
            unlicensed.append(dataset)
    ids = set(items["item_id"][items["dataset"].isin(open_licenses)])
    if not ids:
        raise BadInput(
            f"No item may be passed on: the licence of {', '.join(unlicensed) or 'the items'} is"
            " not known or forbids changed copies. If it is not known and you may publish the"
            " items, name it, such as cc-by-4.0."
        )
    store.record_act("packed a dataset", study_id)
    results = whole_study(store, study_id)
    source = results.study.prompt.examples_from if results.study.prompt else None
    is_source_free = source is None or may_be_passed_on(license_of(source.dataset, license))
    # Any item may be an example in a prompt, also one that is left out.
    shows_examples = not unlicensed and is_source_free
    frames, files = {}, {}
    for name, frame in _frames(results, shows_examples=shows_examples).items():
        frames[name] = frame[frame["item_id"].isin(ids)]
        buffer = io.BytesIO()
        frames[name].reset_index(drop=True).to_parquet(buffer, index=False)
        files[f"data/{name}.parquet"] = buffer.getvalue()
    folder = DatasetFolder(files, len(ids), len(items) - len(ids), tuple(unlicensed))
    card = _card(results, folder, frames, open_licenses, language)
    return replace(folder, files={"README.md": card.encode(), **files})


def _frames(results: WholeStudy, *, shows_examples: bool) -> dict[str, pd.DataFrame]:
    """Return the tables of `TABLES` for all items."""
    completions = exchange.completions(results.store, results.study_id)
    prompts = []
    for parts in completions["parts"]:
        prompts.append(_prompt(json.loads(parts), shows_examples=shows_examples))
    completions["prompt"] = prompts
    return {
        "readouts": results.all_readouts[list(READOUTS)],
        "items": results.items[list(ITEMS)],
        "completions": completions[list(COMPLETIONS)],
    }


def _prompt(parts: list[tuple[str, str]], *, shows_examples: bool) -> str:
    """Return a prompt as it was sent, or with a note in place of its examples."""
    if shows_examples:
        return Prompt(tuple((name, text) for name, text in parts)).transcript
    own_text = "".join(text for name, text in parts if name not in _EXAMPLE_PARTS)
    has_examples = len(own_text) < sum(len(text) for _, text in parts)
    return f"{NO_EXAMPLES}{own_text}" if has_examples else own_text


_CARD = Path(__file__).with_name("card.txt").read_text(encoding="utf-8")


def _card(
    results: WholeStudy,
    folder: DatasetFolder,
    frames: Mapping[str, pd.DataFrame],
    licenses: Mapping[str, str],
    language: str,
) -> str:
    """Return the dataset's card, which is its README."""
    study, roles = results.study, Counter(frames["items"]["role"])
    counts = [{"table": name, "rows": len(frame)} for name, frame in frames.items()]
    for role, n in sorted(roles.items()):
        counts.append({"table": f"items, {role.replace('_', ' ')}", "rows": n})
    names = sorted(set(licenses.values()))
    models = sorted(set(frames["readouts"]["model"]))
    sentences, columns = [], []
    for model, flips in results.flips.items():
        sentences.append(f"- {markdown(f'{model}: {flips.headline.sentence}')}")
    for name, meanings in TABLES.items():
        rows = [{"column": column, "meaning": meaning} for column, meaning in meanings.items()]
        columns.append(f"**{name}**\n\n{markdown_text(rows)}")
    return _CARD.format(
        license=f"license: {names[0]}\n" if len(names) == 1 else "license: other\n",
        language=language,
        configs="\n".join(_config(name, is_default=i == 0) for i, name in enumerate(frames)),
        # A name may have characters that Markdown would interpret.
        title=markdown(study.name),
        version=__version__,
        study_id=study.study_id,
        n_items=folder.n_items,
        left_out=f"\n{folder.sentence}\n" if folder.n_left_out else "",
        sentences="\n".join(sentences),
        counts=markdown_text(counts),
        n_models=len(models),
        models=markdown(", ".join(models)),
        n_people=_n_people(results.store, study),
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
    """Return the study with file names in place of paths, because a folder may name a person."""

    def without_folder(source: ItemSource) -> ItemSource:
        return replace(source, path=source.path and Path(source.path).name)

    prompt = study.prompt
    if prompt and prompt.examples_from:
        prompt = replace(prompt, examples_from=without_folder(prompt.examples_from))
    return replace(study, items=tuple(map(without_folder, study.items)), prompt=prompt)


def _n_people(store: Store, study: Study) -> int:
    """Count the people who reviewed the paraphrases that the study asked."""
    sources = set()
    for dataset, generator, *_ in studies.reviewed(store, study.study_id):
        sources.add((dataset, generator))
    states = studies.paraphrase_states(store)
    columns = (states["pair_id"], states["dataset"], states["generator"])
    pair_ids = set()
    for pair_id, dataset, generator in zip(*columns, strict=True):
        if (dataset, generator) in sources:
            pair_ids.add(pair_id)
    reviewers = set()
    for row in judgements.standing(store, PAIR_VERDICTS):
        # Models review too, but are not people.
        if row["pair_id"] in pair_ids and row["reviewer_kind"] == "person":
            reviewers.add(row["reviewer"])
    return len(reviewers)
