"""The part Propose and exchange: paraphrases by a model, imports, downloads and publishing."""

import re
from itertools import chain
from typing import Any

import streamlit as st

from flipcore.annotation.paraphrases import pair_files
from flipcore.annotation.paraphrases.publish import publish
from flipcore.annotation.paraphrases.verdicts import KINDS, MODEL, PERSON
from flipcore.annotation.proposals import proposing
from flipcore.annotation.proposals.proposing import RECIPES, TRANSLATION, Recipe, translation
from flipcore.core.records import Item
from flipcore.core.study import ModelUse
from flipcore.core.wordings import TYPOS
from flipcore.datasets import LOADERS
from flipcore.stats.base.estimate import percent_text
from flipcore.store.connection import default_path
from flipcore.store.queries import review
from flipcore.text.counts import count_of
from pages.common import screen, session
from pages.common.showing import (
    SEND_HOLDOUT_LABEL,
    offer_file,
    plain,
    saved_upload,
    show_table,
    shown_problem,
)


def _offer_proposals() -> None:
    """Offer to let a model or a rule propose paraphrases; those that pass wait for a reviewer."""
    st.subheader("Let a model propose", anchor=False)
    st.markdown(
        "A model paraphrases or translates the questions. A paraphrase is stored if it keeps "
        "numbers, names, negations and options and is about as long, a translation if it keeps the "
        "figures. No study asks it before a person has accepted it."
    )
    sources = proposing.question_sources(session.store())
    source_place, model_place, method_place = st.columns(3)
    source = source_place.selectbox(
        "Questions of", list(sources), key="propose-source", format_func=sources.__getitem__
    )
    model = model_place.selectbox("Model", proposing.writers(), key="propose-model")
    titles = {name: recipe.title for name, recipe in RECIPES.items()} | {
        TRANSLATION: "Translation",
        TYPOS: "Typos, by rule",
    }
    method = method_place.selectbox(
        "How", list(titles), key="propose-recipe", format_func=titles.__getitem__
    )
    if method == TYPOS:
        _propose_typos(source)
        return
    with shown_problem():
        if method in RECIPES:
            recipe = RECIPES[method]
        else:
            language = method_place.text_input("Into", "German", key="propose-language")
            recipe = translation(language)
        _propose_by_model(source, model, recipe)


def _propose_typos(source: str) -> None:
    """Offer to propose versions with typos, made by a rule."""
    st.caption(
        "A few letters of the question change places, as the axis Typos does it. No model is "
        "asked; reviewers decide."
    )
    n = st.slider("Questions", 1, 200, 20, key="propose-typos-n")
    if st.button("Propose", key="propose-typos", type="primary", icon=":material/edit_note:"):
        with shown_problem():
            items = proposing.items_to_paraphrase(session.store(), source, n, proposing.BY_RULE)
            review.keep_pairs(session.store(), [], items)
            st.session_state["proposed"] = proposing.propose_typos(items, session.store())
            if not st.session_state["proposed"]:
                st.info(
                    "Every question of this set has versions with typos already, or no word that "
                    "may be changed."
                )
    _show_proposals(st.session_state.get("proposed", []))


def _propose_by_model(source: str, model: str, recipe: Recipe) -> None:
    """Ask for prompts, settings and budget, show the price, and let the model propose."""
    with st.expander("The prompts, and how it is asked"):
        steps = [
            st.text_area(f"Step {i}", text, key=f"propose-{recipe.name}-{i}", height=150)
            for i, text in enumerate(recipe.steps, start=1)
        ]
        left, middle, right = st.columns(3)
        temperature = left.number_input(
            "Temperature",
            min_value=0.0,
            max_value=2.0,
            value=0.7,
            step=0.1,
            key="propose-temperature",
        )
        max_tokens = middle.number_input("Most tokens a reply", 16, 4096, 256, key="propose-tokens")
        budget = right.number_input(
            "Budget, US dollars",
            min_value=0.0,
            max_value=None,
            value=0.0,
            step=1.0,
            key="propose-budget",
            help="0: only models that cost nothing",
        )
    n = st.slider("Questions", 1, 200, 20, key="propose-n")
    may_send_holdout = st.checkbox(SEND_HOLDOUT_LABEL, key="propose-retro")
    use = ModelUse(model, temperature=float(temperature), max_tokens=int(max_tokens))
    recipe = recipe.with_steps(steps)
    maker = proposing.maker(model, recipe)
    items = proposing.items_to_paraphrase(
        session.store(), source, n, maker, with_retro=may_send_holdout
    )
    if not items:
        st.info("Every question of this set has a paraphrase by this model and recipe already.")
    else:
        price = proposing.projected_cost(items, recipe, use).sentence()
        st.caption(
            plain(
                f"{len(items):,} questions: {price}. "
                "Calls that were made before cost nothing, so it may be stopped and started again."
            )
        )
        if st.button("Propose", key="propose", type="primary", icon=":material/edit_note:"):
            st.session_state["proposed"] = _ask_model(
                items, recipe, use, budget or None, may_send_holdout=may_send_holdout
            )
    _show_proposals(st.session_state.get("proposed", []))


def _ask_model(
    items: list[Item],
    recipe: Recipe,
    use: ModelUse,
    budget: float | None,
    *,
    may_send_holdout: bool,
) -> list[proposing.Proposal]:
    """Let the model paraphrase the items and show the progress; `budget` is in US dollars."""
    bar = st.progress(0.0, text="Asking …")

    def on_progress(n_done: int, total: int) -> None:
        bar.progress(n_done / total, text=f"{n_done:,} of {total:,} questions")

    # Stored first, because a stored proposal refers to its item.
    review.keep_pairs(session.store(), [], items)
    proposals = proposing.propose(
        items,
        recipe,
        use,
        session.store(),
        budget_usd=budget,
        on_progress=on_progress,
        may_send_retro=may_send_holdout,
    )
    bar.empty()
    return proposals


def _show_proposals(proposals: list[proposing.Proposal]) -> None:
    """Show the proposals with the reasons why some were refused."""
    if not proposals:
        return
    # If all questions met the same error, one sentence replaces the table.
    errors = {proposal.error for proposal in proposals}
    if len(errors) == 1 and "" not in errors:
        st.error(
            plain(f"No text came back for any of the {len(proposals):,} questions. {errors.pop()}"),
            icon=":material/error:",
        )
        return
    n = sum(proposal.pair_id is not None for proposal in proposals)
    st.markdown(f"**{n:,} of {len(proposals):,} proposals passed the rules and wait for review.**")
    rows = []
    for proposal in proposals:
        reasons = [reason for _, passed, reason in proposal.checks if not passed]
        row = {
            "waits for review": "yes" if proposal.pair_id else "no",
            "why not": proposal.error or " ".join(reasons),
            "proposal": proposal.text,
            "original": proposal.original,
            "words in common": percent_text(proposal.overlap),
        }
        rows.append(row)
    show_table("proposals", rows)


SUFFIXES = ["jsonl", "json", "csv", "tsv", "parquet"]
SAME_FILE = "in the same file"
PREVIEW_COLUMNS = ("original", "paraphrase")


def show() -> None:
    """Draw the part."""
    _offer_proposals()
    st.subheader("Bring pairs or verdicts in", anchor=False)
    st.markdown(
        "A file of pairs has an original and a paraphrase in each row; a file of verdicts a "
        "reviewer and their answers, with the pair's id or its two texts. The originals may also "
        "be a file of their own, row by row."
    )
    with shown_problem():
        _offer_import()
    st.subheader("Take them out", anchor=False)
    _offer_downloads()
    st.subheader("Publish the verified set", anchor=False)
    with shown_problem():
        offer_publishing()


def _offer_import() -> None:
    """Ask for a file of pairs or verdicts, its originals and columns, and offer to store it."""
    upload = st.file_uploader("File of pairs or verdicts", SUFFIXES, key="pairs-file")
    if upload is None:
        return
    rows = pair_files.file_rows(saved_upload(upload))
    # Rows of a file may lack fields, so collect the names from many rows.
    names = list(dict.fromkeys(chain.from_iterable(map(str, row.values) for row in rows[:200])))
    left, right = st.columns(2)
    originals_source = left.selectbox(
        "The originals are",
        [SAME_FILE, *LOADERS],
        key="originals-kind",
        format_func=lambda name: (
            name if name == SAME_FILE else f"items of {LOADERS[name].title}, row by row"
        ),
    )
    originals = None
    if originals_source != SAME_FILE:
        originals_upload = right.file_uploader(
            "File of the originals", SUFFIXES, key="originals-file"
        )
        if originals_upload is None:
            return
        originals = pair_files.row_originals(originals_source, saved_upload(originals_upload))
    columns = choose_columns(names, has_originals=originals is not None)
    dataset_place, author_place, kind_place = st.columns(3)
    dataset = dataset_place.text_input(
        "Dataset, where a row names none",
        originals_source if originals else upload.name.rsplit(".", 1)[0],
        max_chars=80,
        key="pairs-dataset",
    )
    generator = author_place.text_input(
        "Made by, where a row does not say", "unknown", max_chars=80, key="pairs-generator"
    )
    kind = screen.segments(
        "Reviewers, where a row does not say",
        KINDS,
        "pairs-reviewers",
        default=PERSON,
        place=kind_place,
        bind=None,
        label_visibility="visible",
        format_func={PERSON: "people", MODEL: "models"}.__getitem__,
        help="Only people's verdicts decide; models' are shown beside them.",
    )
    batch = pair_files.incoming(
        rows,
        columns,
        dataset=dataset.strip() or "imported",
        generator=generator.strip() or "unknown",
        inventory=pair_files.inventory_of(session.store()),
        originals=originals,
        reviewer_kind=kind,
    )
    _offer_batch(batch)


def _offer_batch(batch: pair_files.Incoming) -> None:
    """Show what the file adds and which rows are refused, and offer to store it."""
    counts = (
        f"{count_of(len(batch.pairs), 'new pair')} and {count_of(len(batch.verdicts), 'verdict')}"
    )
    refusals = ""
    if batch.refusals:
        refusals = f"; {count_of(len(batch.refusals), 'row is', 'rows are')} refused"
    st.markdown(f"**{counts} can be taken in{refusals}.**")
    for note in batch.notes:
        st.caption(plain(note))
    if batch.refusals:
        with st.expander(
            f"The {len(batch.refusals):,} refused rows", expanded=len(batch.refusals) <= 5
        ):
            show_table(
                "refused-pairs",
                [{"line": line, "why": reason} for line, reason in batch.refusals[:1000]],
            )
    if batch.pairs:
        preview = [{name: pair[name] for name in PREVIEW_COLUMNS} for pair in batch.pairs[:20]]
        with st.expander("The first pairs"):
            show_table("first-pairs", preview)
    if (batch.pairs or batch.verdicts) and st.button(
        "Take them in", type="primary", icon=":material/upload:"
    ):
        st.success(
            plain(pair_files.store_incoming(session.store(), batch)), icon=":material/check_circle:"
        )


def _offer_downloads() -> None:
    """Offer all pairs and verdicts as files."""
    store = session.store()
    pairs, verdicts = pair_files.pair_rows(store), pair_files.verdict_rows(store)
    if not pairs:
        st.caption("There is nothing to download yet.")
        return
    kind = screen.segments(
        "As",
        ["csv", "jsonl"],
        "out-kind",
        bind=None,
        label_visibility="visible",
        format_func=str.upper,
    )
    with st.container(horizontal=True):
        for name, rows in (("pairs", pairs), ("verdicts", verdicts)):
            content = pair_files.file_bytes(rows, kind)
            offer_file(
                f"{len(rows):,} {name}",
                content,
                f"{name}.{kind}",
                key=f"out-{name}",
                disabled=not rows,
            )
    st.caption(
        "Both come back in here. In CSV, cells that a spreadsheet would run as a formula carry an "
        "apostrophe."
    )


NO_COLUMN = "(none)"
# Fields that have a control to choose their column.
CHOSEN_FIELDS = tuple(
    (
        "original paraphrase pair_id dataset generator item_id answer reviewer reviewer_kind "
        "meaning difficulty solution_path note"
    ).split()
)


def choose_columns(names: list[str], *, has_originals: bool) -> dict[str, str]:
    """Offer to correct the guessed columns; return field -> column of an uploaded file.

    With `has_originals`, the originals come from another file, so the file needs only paraphrases.
    """
    guessed = pair_files.guessed_columns(names)
    if has_originals and "paraphrase" not in guessed:
        guessed["paraphrase"] = next(
            (name for name in ("text", "question") if name in names), names[0] if names else ""
        )
    with st.expander(
        "Which column is which",
        expanded=not {"original", "paraphrase"} <= set(guessed) and not has_originals,
    ):
        columns = st.columns(4)
        fields = [
            field
            for field in CHOSEN_FIELDS
            if not (has_originals and field in ("original", "answer", "item_id"))
        ]
        mapping = {
            field: columns[i % len(columns)].selectbox(
                field.replace("_", " "),
                [NO_COLUMN, *names],
                key=f"column-{field}",
                index=1 + names.index(guessed[field]) if guessed.get(field) in names else 0,
            )
            for i, field in enumerate(fields)
        }
    # Fields without a control keep the guessed column.
    unshown = {
        field: name
        for field, name in guessed.items()
        if field in pair_files.COLUMNS and field not in CHOSEN_FIELDS
    }
    return unshown | {field: name for field, name in mapping.items() if name != NO_COLUMN}


def offer_publishing() -> None:
    """Offer to publish the accepted paraphrases with their verdicts, in a folder or on the hub."""
    st.caption(
        "Only paraphrases that people accepted, with numbered reviewers and a card. Models' "
        "verdicts stand apart. The questions keep the licence of their benchmark; those whose "
        "licence is not known are left out, unless you may publish them and name it."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sources = {}
        for row in review.pairs_with_source(session.store()):
            sources[review.source_of(row)] = row["dataset"], row["generator"]
        source = st.selectbox(
            "Pairs of", ["all sources", *sorted(sources)], key="publish-source", width=300
        )
        title = st.text_input(
            "Title", "Verified paraphrases", max_chars=120, key="publish-title", width=300
        )
        repository = st.text_input(
            "Repository on the hub (empty: a folder here)",
            max_chars=120,
            key="publish-repository",
            placeholder="owner/name",
            width=300,
        )
        license = st.text_input(
            "Licence of your own items",
            max_chars=40,
            key="publish-license",
            placeholder="cc-by-4.0",
            width=200,
        )
        language = st.text_input("Language", "en", max_chars=12, key="publish-language", width=90)
        private = st.toggle(
            "Private", value=True, key="publish-private", disabled=not repository.strip()
        )
        pressed = st.button(
            "Publish", key="publish", icon=":material/publish:", disabled=not title.strip()
        )
    if pressed:
        about: dict[str, Any] = {"license": license.strip(), "language": language.strip()}
        target: dict[str, Any]
        if repository.strip():
            target = {"repository": repository.strip(), "private": private}
        else:
            folder_name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "set"
            target = {"folder": default_path().parent / "published" / folder_name}
        with st.spinner("Publishing …"):
            published = publish(
                session.store(), title.strip(), source=sources.get(source), **target, **about
            )
            st.success(plain(published.sentence()), icon=":material/check_circle:")
