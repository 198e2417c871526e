"""Is the holdout fair? What is done to say so."""

from flipcore.methods.method import Method

INFLATION = Method(
    "inflation",
    "Accuracy on the published set less accuracy on the holdout, in percentage points. It means contamination only as far as "
    "the two sets share a source.",
    ("haimes2024benchmark", "newcombe1998interval"),
)
EQUIVALENCE = Method(
    "equivalence",
    "Two sets are equivalent when the whole interval of their difference lies within a margin that was chosen beforehand.",
    ("schuirmann1987comparison",),
)
SEMANTIC = Method(
    "semantic similarity",
    "The distance of two sets of embedded entries, with its permutation distribution.",
    ("gretton2012kernel",),
)
PREDICTION = Method(
    "prediction accuracy",
    "A classifier is cross-validated in 5 folds to tell the sets apart; p is that of its balanced accuracy among shuffled labels, "
    "and the bound for equivalence is the wider of the binomial one and that from the spread of the shuffles.",
)
METHODS = (INFLATION, EQUIVALENCE, SEMANTIC, PREDICTION)
