"""Publish accepted paraphrases as a Hugging Face dataset with a card, to a folder or to the hub.

Source 004 publishes its perturbation set in this form. Only paraphrases that people accepted are
included; verdicts of models are separate columns. People are numbered and never named.
"""

import os
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from flipcore.access.acting import Permission, require
from flipcore.annotation.paraphrases.effect import source_gates
from flipcore.annotation.paraphrases.ratings import (
    agreement,
    models_sentence,
    retained,
    verdicts_by_people,
)
from flipcore.annotation.paraphrases.verdicts import CHECKS, RULE_VERSION
from flipcore.core.errors import BadInput, MissingPackage
from flipcore.core.whole_files import whole_file, write
from flipcore.datasets.licenses import license_of, may_be_passed_on
from flipcore.stats.base.estimate import percent_text
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, review, studies

TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_CARD = Path(__file__).with_name("card.txt").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Published:
    """The place of `n_rows` published paraphrases; `left_out` is a sentence on the others."""

    place: str
    n_rows: int
    left_out: str = ""

    def sentence(self) -> str:
        """Return what was published, and where."""
        return (
            f"{self.n_rows:,} accepted paraphrases were published to {self.place}.{self.left_out}"
        )


def _left_out(datasets: Sequence[str], license: str) -> str:
    """Say which accepted paraphrases of these datasets are left out; "" for none."""
    counts = Counter(name for name in datasets if not may_be_passed_on(license_of(name, license)))
    if not counts:
        return ""
    is_single = counts.total() == 1
    return (
        f" {counts.total():,} more {'is' if is_single else 'are'} left out: the licence of "
        f"{', '.join(sorted(counts))} is not known or forbids changed copies."
    )


def _states_of(store: Store, source: tuple[str, str] | None) -> pd.DataFrame:
    """Return the states of all paraphrases that may be shown, or of one (dataset, generator)."""
    states = studies.paraphrase_states(store)
    states = states[~states["set_aside"]]
    if source is None:
        return states
    dataset, generator = source
    return states[(states["dataset"] == dataset) & (states["generator"] == generator)]


_PAIR_COLUMNS = (
    *("pair_id", "dataset", "item_id", "generator"),
    *("original", "paraphrase", "change", "kind"),
)


def verified_rows(store: Store, source: tuple[str, str] | None = None) -> list[dict]:
    """Return one row per accepted paraphrase, with numbered reviewers; BadInput for none."""
    states = {row["pair_id"]: row for row in _states_of(store, source).to_dict("records")}
    accepted = [pair_id for pair_id, row in states.items() if row["state"] == "accepted"]
    if not accepted:
        raise BadInput(
            "No person has accepted a paraphrase yet, so there is nothing to publish. Review some "
            "first."
        )
    verdicts = judgements.standing(store, PAIR_VERDICTS, among=states)
    reviewers = sorted({row["reviewer"] for row in verdicts})
    reviewer_numbers = {name: i for i, name in enumerate(reviewers, start=1)}
    by_pair: dict[str, list[dict]] = {}
    for row in verdicts:
        by_pair.setdefault(row["pair_id"], []).append(
            {
                "reviewer": reviewer_numbers[row["reviewer"]],
                "reviewer_kind": row["reviewer_kind"],
                **{check: row[check] for check in CHECKS},
                "note": row["note"],
            }
        )
    rows = []
    for pair in review.pairs(store, accepted):
        state = states[pair["pair_id"]]
        row = {name: pair[name] for name in _PAIR_COLUMNS}
        row |= {"options": list(pair["options"] or ()), "target": pair["target"]}
        for name in ("n_reviewers", "n_kept", "n_models", "n_models_kept"):
            row[name] = int(state[name])
        row["is_settled"] = state["settled_by"] is not None
        row["verdicts"] = by_pair.get(pair["pair_id"], [])
        rows.append(row)
    return rows


def card(
    store: Store,
    title: str,
    license: str = "",
    source: tuple[str, str] | None = None,
    language: str = "en",
) -> str:
    """Return the dataset's card, with contents, rule, agreement, models' verdicts and gates.

    `license` is that of datasets without a known one. Raises BadInput for a licence or language
    that is not a valid code.
    """
    check_codes(license or "other", language)
    states = _states_of(store, source)
    accepted = states[states["state"] == "accepted"]
    licenses = {}
    for name in sorted(set(accepted["dataset"])):
        if may_be_passed_on(license_name := license_of(name, license)):
            licenses[name] = license_name
    published = accepted[accepted["dataset"].isin(licenses)]
    all_verdicts = judgements.standing(store, PAIR_VERDICTS, among=states["pair_id"])
    verdicts = verdicts_by_people(all_verdicts)
    n_by_state = states["state"].value_counts()
    alpha = agreement(verdicts, "kept").alpha
    n_accepted = len(published)
    gates = "\n".join(
        f"| {_cell(source_gate.dataset)} | {_cell(source_gate.generator)} | "
        f"{source_gate.n_pairs:,} | {source_gate.gate.accepted.text_percent()} | "
        f"{'yes' if source_gate.gate.is_open else 'no'} |"
        for source_gate in source_gates(states)
    )
    distinct_licenses = set(licenses.values())
    license_list = "; ".join(f"{name} {license_name}" for name, license_name in licenses.items())
    agreement_text = "not measured, no pair has two verdicts."
    if alpha.n_items:
        agreement_text = (
            f"Krippendorff's alpha {alpha.estimate.text()} on {alpha.n_items:,} pairs, raw "
            f"{percent_text(alpha.raw)}."
        )
    return _CARD.format(
        license=distinct_licenses.pop() if len(distinct_licenses) == 1 else "other",
        licenses=_cell(license_list) or "none is known",
        left_out=_left_out(list(accepted["dataset"]), license),
        language=language,
        models=models_sentence(all_verdicts) or "none judged.",
        n_settled=int(states["settled_by"].notna().sum()),
        title=title,
        checks=", ".join(CHECKS),
        n_accepted=n_accepted,
        rule=RULE_VERSION,
        gates=gates,
        size=_size_category(n_accepted),
        n_items=published["item_id"].nunique(),
        n_rejected=int(n_by_state.get("rejected", 0)),
        n_unreviewed=int(n_by_state.get("unreviewed", 0)),
        n_people=len({row["reviewer"] for row in verdicts}),
        retention=retained(verdicts, "majority").text(3),
        agreement=agreement_text,
    )


def _size_category(n: int) -> str:
    """Return the size category that dataset cards of the hub use."""
    if n < 1_000:
        return "n<1K"
    return "1K<n<10K" if n < 10_000 else "10K<n<100K"


def check_codes(license: str, language: str) -> None:
    """Raise BadInput unless a licence is like cc-by-4.0 and a language like en."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9.+-]{1,40}", license):
        raise BadInput(
            f"The licence {license[:40]!r} is no identifier of the hub: write one like cc-by-4.0, "
            "mit or other."
        )
    if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?", language):
        raise BadInput(
            f"The language {language[:40]!r} is no code: write one like en, de or zh-Hant."
        )


def _cell(text: str) -> str:
    """Return the text for a cell of a Markdown table."""
    return " ".join(text.replace("|", "\\|").split())


def publish(
    store: Store,
    title: str,
    *,
    folder: str | Path | None = None,
    repository: str | None = None,
    private: bool = True,
    license: str = "",
    language: str = "en",
    source: tuple[str, str] | None = None,
) -> Published:
    """Save the accepted paraphrases under `folder`, or push them to `repository` with HF_TOKEN.

    The folder has the layout of the hub, so that `datasets.load_dataset` reads it. `source` is one
    (dataset, generator), None for all. Paraphrases of items whose licence is unknown or forbids
    changed copies are left out; `license` is that of datasets without a known one.

    Raises AccessDenied without the permission to publish. Raises BadInput unless exactly one of
    the two places is given, without paraphrases that may be passed on, or without a token.
    """
    require(Permission.PUBLISH)
    if (folder is None) == (repository is None):
        raise BadInput("Give either a folder to save to or a repository to push to.")
    token = next((os.environ[name] for name in TOKENS if os.environ.get(name)), None)
    if repository and not token:
        raise BadInput(
            "There is no token for the hub: set HF_TOKEN in the environment of the server, or save "
            "to a folder."
        )
    accepted = verified_rows(store, source)
    text = card(store, title, license=license, source=source, language=language)
    left_out = _left_out([row["dataset"] for row in accepted], license)
    rows = [row for row in accepted if may_be_passed_on(license_of(row["dataset"], license))]
    if not rows:
        raise BadInput(
            f"Nothing was published.{left_out} Name the licence, as cc-by-4.0, if you may publish "
            "them."
        )
    # In the log before the upload, so that no publication is without an entry.
    store.record_act("published paraphrases", repository or str(folder))
    dataset = _dataset(rows)
    if folder is not None:
        _write(dataset, text, folder=Path(folder))
        return Published(str(folder), len(rows), left_out=left_out)
    with tempfile.TemporaryDirectory() as draft:
        _write(dataset, text, folder=Path(draft))
        _push(Path(draft), str(repository), token=str(token), private=private)
    return Published(f"https://huggingface.co/datasets/{repository}", len(rows), left_out=left_out)


def _write(dataset, text: str, folder: Path) -> None:
    with whole_file(folder / "data" / "train.parquet") as draft:
        dataset.to_parquet(str(draft))
    write(folder / "README.md", text)


def _dataset(rows: list[dict]):
    """Return the rows as a `datasets.Dataset` with declared column types."""
    try:
        import datasets
    except ImportError as error:
        raise MissingPackage(
            "Publishing needs the package `datasets`; install requirements.txt."
        ) from error
    text, number = datasets.Value("string"), datasets.Value("int64")
    verdict = {"reviewer": number, **dict.fromkeys(("reviewer_kind", *CHECKS, "note"), text)}
    columns = {name: number if name.startswith("n_") else text for name in rows[0]}
    columns |= {
        "is_settled": datasets.Value("bool"),
        "options": datasets.List(text),
        "verdicts": datasets.List(verdict),
    }
    return datasets.Dataset.from_list(rows, features=datasets.Features(columns))


def _push(folder: Path, repository: str, token: str, *, private: bool) -> None:
    """Upload the files that a local `load_dataset` reads, so that the hub reads the same."""
    import huggingface_hub

    try:
        hub = huggingface_hub.HfApi(token=token)
        hub.create_repo(repository, repo_type="dataset", private=private, exist_ok=True)
        hub.upload_folder(repo_id=repository, repo_type="dataset", folder_path=str(folder))
    # The client has many error classes: no network, no right, a bad name.
    except Exception as error:
        first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
        reason = first_line.replace(token, "…")[:300]
        raise BadInput(
            f"The hub did not take {repository}: {reason}. Check the name, the token's rights and "
            "the network."
        ) from error
