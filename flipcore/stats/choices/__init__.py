"""One decision under all combinations of defensible choices of how to count.

`Choice` and `Option` (`choice.py`) say what may be chosen, the declared option first. A setting has
one option per choice. A `Material` (`material.py`) has the values of items under each setting, and
which items count. `count` (`counting.py`) makes a `Curve` (`curve.py`) of one specification per
setting: estimates, limits, states, shares, distances, effects.

    answers = answers_of(readouts, reference, facts)   # readouts.py
    material = material_of(answers.of_models("A", "B"), facts)  # one model: the score of one
    curve = count(material, selected(material.choices, without=[...], also=[...]))
    curve.states(level=0.95, margin=0.01)              # State per specification, 0 is the declared
    curve.limits(0.95)                                 # lower and upper arrays
    curve.lowest, curve.highest                        # all unread answers against it, and for it
    curve.shares(0.95, margin).n_ahead                 # ways: equal specifications are merged
    curve.ways.first, curve.ways.number, curve.ways.n_merged
    curve.ahead_in(margin)["unread", "left-out"]       # (ways ahead, open ways)
    curve.turns(margin), curve.loses(0.95, margin)     # Distance(n_changed, specifications)
    curve.effects                                      # Effect per option: change, p, adjusted_p
    curve.p_survives(margin)                           # of "survives every choice"

Estimates and margins are shares, not points. If the score of one model is counted, `margin` is the
bar that it must pass. Specifications are rows of `curve.options`. A specification is closed if
nothing may be claimed from it; `curve.closed` has the reason. Other specifications are open.

References: Steegen et al. 2016 (multiverse), Simonsohn et al. 2020 (specification curve), Del
Giudice & Gangestad 2021 (which options may enter).
"""
