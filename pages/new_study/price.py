"""The panel next to the steps: calls, price, time, what the study can find, budget and start."""

from collections import Counter
from dataclasses import replace

import streamlit as st

from flipcore.axes import combined
from flipcore.claims.claim import Claim
from flipcore.claims.plans import equality_design, equality_plan, gap_design, gap_plan
from flipcore.core.bounds import MAX_BUDGET_USD
from flipcore.core.records import IDENTITY
from flipcore.core.study import OTHER_CONTROL, Study
from flipcore.core.wordings import COMBINED
from flipcore.reports.declaration import design_sentence, duration_text, n_answer_extractors
from flipcore.reports.score import plan_sentences
from flipcore.runs.cluster.ray_cluster import why_not
from flipcore.runs.cluster.where import HERE, offered_places
from flipcore.runs.cost import Projection, dollars
from flipcore.runs.plan import Plan, plan, projection, remaining
from flipcore.runs.truncation import token_limits_sentence
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.memory.frames import CONTROL_ROLES
from flipcore.stats.score.error_bar import Components
from flipcore.stats.score.next_calls import assumed_components
from flipcore.store.connection import ALL_STUDIES
from flipcore.store.queries import studies
from flipcore.text.counts import count_of
from pages.common import headline, screen, session
from pages.common.showing import plain, shown_problem

# Looking up stored answers for this many calls takes about a second at every change of the study.
MAX_CALLS_TO_LOOK_UP = 20_000


def draw_price_panel(study: Study) -> None:
    """Show what this study would cost and could find, and offer a pilot and the start."""
    with shown_problem():
        study_plan, full_projection = _study_plan(study.to_toml())
        # The pocket model knows the items of its own world and little else.
        n_foreign = sum(
            not item_plan.item.dataset.startswith("pocket_") for item_plan in study_plan.items
        )
        if n_foreign and any(use.name.split("-")[0] == "pocket" for use in study.models):
            st.warning(
                f"{n_foreign:,} of these items lie outside the pocket model's own world. Expect "
                "wrong answers to them, and smaller effects than the plans below assume.",
                icon=":material/public_off:",
            )
        open_projection = _without_stored_calls(study, full_projection)
        _show_numbers(open_projection, len(study_plan.items))
        if open_projection is not full_projection:
            st.caption(
                f"The study has {count_of(full_projection.n_calls, 'call')}; what is stored "
                "already is not asked again."
            )
        open_items = [item_plan for item_plan in study_plan.items if not item_plan.confirmatory]
        # Artifacts are measured per axis and extractor; the reference extractor has none.
        n_extractors_by_item = [
            n_answer_extractors(study, item_plan.item.kind) for item_plan in open_items
        ]
        n_axes = sum(part.name != IDENTITY for part in study.axes)
        n_cells = n_axes * (max(n_extractors_by_item, default=1) - 1)
        n_by_role = Counter(item_plan.role for item_plan in open_items)
        n_compared_items = sum(n > 1 for n in n_extractors_by_item)
        sentence, conditions = design_sentence(len(open_items), n_compared_items, n_cells)
        st.caption(sentence)
        with st.expander("Pilot, sample size, where it runs", icon=":material/calculate:"):
            place = choose_place()
            _offer_pilot(study, len(study_plan.items))
            offer_calculator()
            show_detectable(n_by_role, study.control)
            _show_score_plan(study, n_by_role)
            if conditions:
                st.caption(f"The sentence above holds if {conditions}")
            for note in (*study_plan.notes, token_limits_sentence(study)):
                st.caption(plain(note))
            if len(open_items) < len(study_plan.items):
                st.caption(
                    f"{count_of(len(study_plan.items) - len(open_items), 'item is', 'items are')} "
                    "set aside for confirmation, not counted here."
                )
        _offer_start(study, place)


def _revision(toml: str) -> tuple[int, int]:
    """Return what changes with paraphrases, their verdicts, and items that studies set aside.

    A plan depends on these and on its study.
    """
    return session.revision(ALL_STUDIES), len(session.all_studies())


@session.cached("Counting the calls", max_entries=16, revision=_revision)
def _study_plan(toml: str) -> tuple[Plan, Projection]:
    study_plan = plan(Study.from_toml(toml), session.store())
    return study_plan, projection(study_plan)


def _without_stored_calls(study: Study, full_projection: Projection) -> Projection:
    """Return the projection without calls whose answers are stored, from this or other studies.

    Returns `full_projection` itself if no answer is stored, or if there are too many calls.
    """
    n_answers = studies.n_answers_of(session.store(), [use.name for use in study.models])
    if not n_answers or full_projection.n_calls > MAX_CALLS_TO_LOOK_UP:
        return full_projection
    open_projection = _open_calls(study.to_toml(), n_answers)
    return open_projection if open_projection.n_calls < full_projection.n_calls else full_projection


@session.cached("Looking for stored answers", max_entries=16, revision=_revision)
def _open_calls(toml: str, n_answers: int) -> Projection:
    """Return the projection of the calls whose answers are not stored.

    `n_answers` is part of the cache's key: with more stored answers, fewer calls are open.
    """
    return remaining(_study_plan(toml)[0], session.store())


def _show_numbers(projected, n_items: int) -> None:
    """Show items, calls, tokens, price and time of a projection or of a pilot's estimate."""
    at_most = "" if projected.is_measured else ", at most"
    about = "" if projected.is_measured else ", about"
    numbers = {
        "Items": f"{n_items:,}",
        "Calls": projected.calls.replace(" calls", "", 1),
        f"Tokens in{about} / out{at_most}": (
            f"{projected.n_tokens_in:,} / {projected.n_tokens_out:,}"
        ),
        f"Price{about}": ("unknown" if projected.cost_usd is None else dollars(projected.cost_usd)),
        "Time": duration_text(projected.seconds),
    }
    for label, value in numbers.items():
        left, right = st.columns([1, 1])
        left.caption(label)
        # Markdown takes text between two dollar signs for a formula.
        right.markdown(f"**{value}**".replace("$", "\\$"))


def _offer_pilot(study: Study, n_items: int) -> None:
    """Offer to ask the first items, and estimate the whole study from their answers."""
    with st.popover("Pilot", icon=":material/speed:"):
        st.markdown(
            "Asks the first items of the study: what they cost, and what extractors cannot read. "
            "What it asks is kept: the study itself will not ask it again."
        )
        n_pilot = int(st.number_input("Items", 1, 50, 3, key="pilot-k"))
        if st.button("Run the pilot", key="pilot-run"):
            with st.spinner("Asking …"), shown_problem():
                estimate = session.registry().pilot(study, n_pilot)
                st.caption(f"For the whole study, from what {count_of(n_pilot, 'item')} used:")
                _show_numbers(estimate, n_items)
                for note in estimate.notes:
                    st.markdown(plain(note))


def _offer_start(study: Study, place: str) -> None:
    """Ask for the budget in US dollars and offer to start the study at `place`."""
    budget = st.number_input(
        "Budget (US dollars)",
        min_value=0.0,
        max_value=MAX_BUDGET_USD,
        value=None if study.budget_usd is None else float(study.budget_usd),
        step=1.0,
        key="budget",
        placeholder="none: no paid call",
        help="A study that would cost more does not start, and spending stops here. Only a server "
        "that bills more than a call's text and token limit allow can exceed it, by one call "
        "for each model.",
    )
    if st.button(
        "Start the study",
        type="primary",
        icon=":material/play_arrow:",
        width="stretch",
        key="start",
    ):
        study = replace(study, budget_usd=budget)
        session.registry().start(study, place)
        st.switch_page("studies/page.py", query_params={"study": study.study_id})


ASSUMED = ""  # in the list of studies: the user's own assumptions


def _show_score_plan(study: Study, n_by_role: Counter[str]) -> None:
    """Show how precise the score will be if answers vary as in an earlier study or as assumed."""
    if not st.toggle(
        "How sure will the score be?",
        key="score-plan",
        help="with other questions and other prompts",
    ):
        return
    # The score on controls counts only if the study has no other items.
    tested_roles = [role for role in n_by_role if role not in CONTROL_ROLES]
    role = next(iter(tested_roles or n_by_role), "")
    n_prompts = 1
    for part in study.axes:
        if part.name == COMBINED:
            n_prompts = int(part.params.get("n", combined.AXIS.n))
            break
    names = {
        study_id: name
        for study_id, name in session.names_of_studies().items()
        if _may_have_error_bar(study_id)
    }
    with shown_problem():
        source = st.selectbox(
            "If answers vary as in",
            [*names, ASSUMED],
            key="plan-source",
            format_func=lambda study_id: names.get(study_id, "my assumptions"),
        )
        components = headline.error_bar(source) if source else _ask_assumptions()
        if components is None:
            st.markdown(
                "That study has no interval over other wordings, so it does not say how much they "
                "matter."
            )
            return
        n_samples = min(use.n_samples for use in study.models)
        for sentence in plan_sentences(components, n_by_role[role], n_prompts, n_samples):
            st.markdown(plain(sentence))
        st.caption(
            "95% half-widths, of one model's score. They hold if this study varies like that."
        )


def _may_have_error_bar(study_id: str) -> bool:
    """Return True if the study may have measured how its score varies with the prompt."""
    study = session.declared(study_id)
    return study.is_recorded or any(part.name == COMBINED for part in study.axes)


def _ask_assumptions() -> Components:
    """Ask how answers vary; return the components of the error bar."""
    left, right = st.columns(2)
    score = _ask_share(left, "Score, %", 1.0, 99.0, 80.0, key="plan-score")
    spread = _ask_share(
        right, "Spread of wordings (sd), points", 0.0, 50.0, 5.0, step=0.5, key="plan-spread"
    )
    wordings = _ask_share(
        left, "Differ between two wordings, %", 0.0, 50.0, 15.0, key="plan-wordings"
    )
    runs = _ask_share(right, "Differ between two runs, %", 0.0, 50.0, 8.0, key="plan-runs")
    return assumed_components(score, wordings, runs, spread)


def _ask_share(
    place, label: str, least: float, most: float, start: float, *, key: str, step: float = 1.0
) -> float:
    """Ask for a percentage and return it as a share."""
    return place.number_input(label, least, most, start, step, key=key) / 100


def show_detectable(n_by_role: Counter[str], control: str = OTHER_CONTROL) -> None:
    """Show, on request, which effects a comparison of the study's sets can detect.

    `control` is the kind of controls that the study declares.
    """
    # Below this no set allows a claim, so there is no effect to show.
    if sum(n_by_role.values()) < MIN_N:
        return
    if not st.toggle(
        "What could the sets show?", key="power-sets", help="simulates the rules of the other pages"
    ):
        return
    claims = []
    n_controls = n_by_role["control"] + n_by_role["non_member"]
    if n_by_role["benchmark"] and n_controls:
        claims.append(gap_design(n_by_role["benchmark"], n_controls, control))
    if n_by_role["target"] and n_by_role["retro"]:
        claims.append(equality_design(n_by_role["target"], n_by_role["retro"]))
    for claim in claims:
        st.caption(plain(f"{claim.text} {claim.detail}"))


def offer_calculator() -> None:
    """Offer to compute how many items a drop gap or the equality of two accuracies needs."""
    with st.popover("How many items do I need?", icon=":material/calculate:"):
        power = screen.segments(
            "Found how often",
            [0.8, 0.9],
            "power-power",
            bind=None,
            label_visibility="visible",
            format_func=lambda share: f"{100 * share:.0f}%",
        )
        question = screen.segments(
            "Claim",
            ["drop gap", "two accuracies are equal"],
            "power-what",
            bind=None,
            label_visibility="visible",
        )
        claim = _ask_design(question, power)
        st.markdown(f"**{claim.text}**")
        st.caption(claim.detail)


def _ask_design(question: str, power: float) -> Claim:
    """Ask for the effect to find; return the claim with the number of items."""
    left, right = st.columns(2)
    if question == "drop gap":
        gap = _ask_share(left, "Gap, points", 1.0, 90.0, 15.0, key="power-gap")
        drop = _ask_share(right, "Drop on the control, points", 0.0, 90.0, 5.0, key="power-drop")
        coverage = _ask_share(
            left, "Share that can be rewritten, %", 5.0, 100.0, 80.0, step=5.0, key="power-coverage"
        )
        gains = _ask_share(
            right, "Answers set right by rewriting, %", 0.0, 50.0, 5.0, key="power-gains"
        )
        return gap_plan(gap, drop, coverage, power, gains)
    accuracy = _ask_share(left, "Accuracy, %", 1.0, 99.0, 70.0, key="power-first")
    margin = _ask_share(right, "Margin, points", 1.0, 50.0, 10.0, key="power-margin")
    return equality_plan(accuracy, margin, power)


def choose_place() -> str:
    """Ask where the study runs, here or on an offered cluster; return the key of the place."""
    places = offered_places()
    # The chosen cluster may have gone since.
    if st.session_state.get("where", HERE) not in places:
        st.session_state.pop("where")
    name = places[st.session_state.get("where", HERE)]
    with st.popover(f"Where it runs: {plain(name)}", icon=":material/lan:"):
        # Without Ray, studies run on this machine only.
        if reason := why_not():
            st.caption(plain(reason))
            return HERE
        return st.selectbox(
            "Where it runs",
            list(places),
            key="where",
            format_func=lambda place: places[place],
            help="Workers of a Ray cluster ask the models; the results are stored here. The admin "
            "names further clusters in `FLIPSCOPE_CLUSTERS`.",
        )
