"""The panel next to the steps: calls, tokens, price, time, detectable effects; budget, start."""

from collections import Counter
from dataclasses import replace

import streamlit as st

from flipcore.axes import combined
from flipcore.claims.claim import Claim
from flipcore.claims.plans import equality_design, equality_plan, gap_design, gap_plan
from flipcore.core.bounds import MOST_BUDGET_USD
from flipcore.core.records import IDENTITY
from flipcore.core.study import OTHER_CONTROL, Study
from flipcore.core.wordings import COMBINED
from flipcore.reports.declaration import design_sentence, duration_text, n_readings
from flipcore.reports.score import plan_sentences
from flipcore.runs.cluster.ray_cluster import why_not
from flipcore.runs.cluster.where import HERE, offered_places
from flipcore.runs.cost import Projection, dollars
from flipcore.runs.plan import Plan, plan, projection, remaining
from flipcore.runs.truncation import token_limits
from flipcore.stats.memory.frames import CONTROL_ROLES
from flipcore.stats.score.error_bar import Components
from flipcore.stats.score.next_calls import assumed
from flipcore.store.queries import studies
from flipcore.text.counts import count_of
from pages.common import headline, screen, session
from pages.common.showing import plain, shown_problem

# Looking for the answers of so many calls takes about a second, while a study is put together.
MOST_LOOKED_UP = 20_000


def price_panel(study: Study) -> None:
    """Show what this study would cost and could show.

    Nothing is sent before Start or Pilot is pressed.
    """
    with shown_problem():
        study_plan, full_projection = _study_plan(study.to_toml())
        # The pocket model knows the items of its own world and little else.
        foreign = sum(
            not item_plan.item.dataset.startswith("pocket_") for item_plan in study_plan.items
        )
        if foreign and any(use.name.split("-")[0] == "pocket" for use in study.models):
            st.warning(
                f"{foreign:,} of these items lie outside the pocket model's own world. Expect "
                "wrong answers to them, and lower figures below.",
                icon=":material/public_off:",
            )
        open_projection = _not_stored(study, full_projection)
        _numbers(open_projection, len(study_plan.items))
        if open_projection is not full_projection:
            st.caption(
                f"The study has {count_of(full_projection.n_calls, 'call')}; what is stored "
                "already is not asked again."
            )
        open_items = [item_plan for item_plan in study_plan.items if not item_plan.confirmatory]
        readings = [n_readings(study, item_plan.item.kind) for item_plan in open_items]
        n_cells = sum(part.name != IDENTITY for part in study.axes) * (max(readings, default=1) - 1)
        n_by_role = Counter(item_plan.role for item_plan in open_items)
        # The sentence is in sight; the assumptions behind it are one click away.
        finds, conditions = design_sentence(len(open_items), sum(n > 1 for n in readings), n_cells)
        st.caption(finds)
        with st.expander("Pilot, sample size, where it runs", icon=":material/calculate:"):
            place = where()
            _pilot(study, len(study_plan.items))
            calculator()
            detectable(n_by_role, study.control)
            _score_plan(study, n_by_role)
            if conditions:
                st.caption(f"The sentence above holds if {conditions}")
            for note in (*study_plan.notes, token_limits(study)):
                st.caption(plain(note))
            if len(open_items) < len(study_plan.items):
                st.caption(
                    f"{count_of(len(study_plan.items) - len(open_items), 'item is', 'items are')} "
                    "set aside for confirmation, not counted here."
                )
        _start(study, place)


def _revision(toml: str) -> tuple[int, int]:
    """Return the state that a plan rests on besides its study.

    Paraphrases with their verdicts, and what other studies set aside.
    """
    return session.revision(""), len(session.all_studies())


@session.cached("Counting the calls", 16, _revision)
def _study_plan(toml: str) -> tuple[Plan, Projection]:
    study_plan = plan(Study.from_toml(toml), session.store())
    return study_plan, projection(study_plan)


def _not_stored(study: Study, full_projection: Projection) -> Projection:
    """Return what is asked and paid.

    Answers that other studies have to the same prompts, or this one has, are taken from there.
    """
    n_answers = studies.n_answers_of(session.store(), [use.name for use in study.models])
    # The number of stored answers is part of the key: with more of them less is open.
    if not n_answers or full_projection.n_calls > MOST_LOOKED_UP:
        return full_projection
    open_projection = _open_calls(study.to_toml(), n_answers)
    return open_projection if open_projection.n_calls < full_projection.n_calls else full_projection


@session.cached("Looking for stored answers", 16, _revision)
def _open_calls(toml: str, n_answers: int) -> Projection:
    """Return the calls that are not stored yet.

    Counted again when more of these models' answers are.
    """
    return remaining(_study_plan(toml)[0], session.store())


def _numbers(projected, n_items: int) -> None:
    most = "" if projected.is_measured else ", at most"
    about = "" if projected.is_measured else ", about"
    cost = "unknown" if projected.cost_usd is None else dollars(projected.cost_usd)
    for label, value in (
        ("Items", f"{n_items:,}"),
        ("Calls", projected.calls.replace(" calls", "", 1)),
        (
            f"Tokens in{about} / out{most}",
            f"{projected.n_tokens_in:,} / {projected.n_tokens_out:,}",
        ),
        (f"Price{about}", cost),
        ("Time", duration_text(projected.seconds)),
    ):
        left, right = st.columns([1, 1])
        left.caption(label)
        right.markdown(f"**{value}**".replace("$", "\\$"))


def _pilot(study: Study, n_items: int) -> None:
    with st.popover("Pilot", icon=":material/speed:"):
        st.markdown(
            "Asks the first items of the study: what they cost, and what extractors cannot read. "
            "What it asks is kept: the study itself will not ask it again."
        )
        k = st.number_input("Items", 1, 50, 3, key="pilot-k")
        if st.button("Run the pilot", key="pilot-run"):
            with st.spinner("Asking …"), shown_problem():
                estimate = session.registry().pilot(study, int(k))
                st.caption(
                    f"For the whole study, from what {int(k):,} item{'' if k == 1 else 's'} used:"
                )
                _numbers(estimate, n_items)
                for note in estimate.notes:
                    st.markdown(plain(note))


def _start(study: Study, place: str) -> None:
    cap = st.number_input(
        "Budget (US dollars)",
        0.0,
        MOST_BUDGET_USD,
        None if study.budget_usd is None else float(study.budget_usd),
        1.0,
        key="budget",
        placeholder="none: no paid call",
        help="A study that would cost more does not start, and spending stops here. Only a server "
        "that bills more than a call's "
        "text and token limit allow can exceed it, by one call for each model.",
    )
    if st.button(
        "Start the study",
        type="primary",
        icon=":material/play_arrow:",
        width="stretch",
        key="start",
    ):
        ready = replace(study, budget_usd=cap)
        session.registry().start(ready, place)
        st.switch_page("studies/page.py", query_params={"study": ready.study_id})


# How sure will the score be, if answers vary as in an earlier study or as somebody assumes?

ASSUMED = ""


def _score_plan(study: Study, n_by_role: Counter[str]) -> None:
    if not st.toggle(
        "How sure will the score be?",
        key="score-plan",
        help="with other questions and other prompts",
    ):
        return
    # Not the score on controls, where the study has another role.
    role = next(iter(sorted(n_by_role, key=lambda name: name in CONTROL_ROLES)), "")
    ways = next(
        (
            int(part.params.get("n", combined.AXIS.n))
            for part in study.axes
            if part.name == COMBINED
        ),
        1,
    )
    names = {name: title for name, title in session.names_of_studies().items() if _varies(name)}
    with shown_problem():
        source = st.selectbox(
            "If answers vary as in",
            [*names, ASSUMED],
            key="plan-source",
            format_func=lambda name: names.get(name, "my assumptions"),
        )
        like = headline.error_bar(source) if source else _assumptions()
        if like is None:
            st.markdown(
                "That study has no interval over other wordings, so it does not say how much they "
                "matter."
            )
            return
        for line in plan_sentences(
            like, n_by_role[role], ways, min(use.n_samples for use in study.models)
        ):
            st.markdown(plain(line))
        st.caption(
            "95% half-widths, of one model's score. They hold if this study varies like that."
        )


def _varies(study_id: str) -> bool:
    """Return True where a study may say how its score varies with the prompt."""
    study = session.declared(study_id)
    return study.is_recorded or any(part.name == COMBINED for part in study.axes)


def _assumptions() -> Components:
    """Return components from what people know of a model."""
    left, right = st.columns(2)
    score = _share(left, "Score, %", 1.0, 99.0, 80.0, key="plan-score")
    spread = _share(
        right, "Spread of wordings (sd), points", 0.0, 50.0, 5.0, step=0.5, key="plan-spread"
    )
    wordings = _share(left, "Differ between two wordings, %", 0.0, 50.0, 15.0, key="plan-wordings")
    runs = _share(right, "Differ between two runs, %", 0.0, 50.0, 8.0, key="plan-runs")
    return assumed(score, wordings, runs, spread)


def _share(
    place, label: str, least: float, most: float, start: float, *, key: str, step: float = 1.0
) -> float:
    """Ask for a percentage, and return it as a share."""
    return place.number_input(label, least, most, start, step, key=key) / 100


# How many items does a claim need, and what is the smallest effect that this design can detect?


def detectable(n_by_role: Counter[str], control: str = OTHER_CONTROL) -> None:
    """Say what the sets of this design could show.

    `control` is what the study declares its controls to be.
    """
    if sum(n_by_role.values()) < 10:
        return
    if not st.toggle(
        "What could the sets show?", key="power-sets", help="simulates the rules of the other pages"
    ):
        return
    claims, n_controls = [], n_by_role["control"] + n_by_role["non_member"]
    if n_by_role["benchmark"] and n_controls:
        claims.append(gap_design(n_by_role["benchmark"], n_controls, control))
    if n_by_role["target"] and n_by_role["retro"]:
        claims.append(equality_design(n_by_role["target"], n_by_role["retro"]))
    for claim in claims:
        st.caption(plain(f"{claim.text} {claim.detail}"))


def calculator() -> None:
    """Say how many items a drop gap needs, and to show that two accuracies are equal."""
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
        claim = _answer(question, power)
        st.markdown(f"**{claim.text}**")
        st.caption(claim.detail)


def _answer(question: str, power: float) -> Claim:
    left, right = st.columns(2)
    if question == "drop gap":
        gap = _share(left, "Gap, points", 1.0, 90.0, 15.0, key="power-gap")
        drop = _share(right, "Drop on the control, points", 0.0, 90.0, 5.0, key="power-drop")
        coverage = _share(
            left, "Share that can be rewritten, %", 5.0, 100.0, 80.0, step=5.0, key="power-coverage"
        )
        gains = _share(
            right, "Answers set right by rewriting, %", 0.0, 50.0, 5.0, key="power-gains"
        )
        return gap_plan(gap, drop, coverage, power, gains)
    first = _share(left, "Accuracy, %", 1.0, 99.0, 70.0, key="power-first")
    margin = _share(right, "Margin, points", 1.0, 50.0, 10.0, key="power-margin")
    return equality_plan(first, margin, power)


# Where a new study runs: this machine, or a cluster that the dashboard offers.


def where() -> str:
    """Return the chosen place; this machine until another one is chosen."""
    places = offered_places()
    # A cluster may be gone since it was chosen.
    if st.session_state.get("where", HERE) not in places:
        st.session_state.pop("where")
    name = places[st.session_state.get("where", HERE)]
    with st.popover(f"Where it runs: {plain(name)}", icon=":material/lan:"):
        # Without Ray there is only this machine.
        if reason := why_not():
            st.caption(plain(reason))
            return HERE
        return st.selectbox(
            "Where it runs",
            list(places),
            key="where",
            format_func=lambda place: places[place],
            help="Workers of a Ray cluster ask the models; the results are stored here. The admin "
            "names further clusters in "
            "`FLIPSCOPE_CLUSTERS`.",
        )
