"""Labels that cannot be read as first tokens: hardly any of the first token's probability lies on
them."""

import pandas as pd

LEAST_MASS = 0.05
LEAST_ANSWERS = 5


def unreadable_labels(frame: pd.DataFrame) -> list[str]:
    """Return a sentence for each model, extractor and variant (of one axis) whose labels hold less
    than `LEAST_MASS` on the median answer. `frame` holds readouts with `label_mass`; where the mass
    is unknown nothing is said."""
    rows = frame[frame["label_mass"].notna()]
    if rows.empty:
        return []
    sentences = []
    for (model, extractor, axis, variant), mass in rows.groupby(
        ["model", "extractor", "axis", "variant"], sort=False
    )["label_mass"]:
        n_low = int((mass < LEAST_MASS).sum())
        # The median: a few answers with a chatty start do not condemn a variant.
        if len(mass) >= LEAST_ANSWERS and mass.median() < LEAST_MASS:
            sentences.append(
                f"{model}: the labels of {str(axis).replace('_', ' ')} {variant} cannot be read "
                f"as first tokens ({str(extractor).replace('_', ' ')}): they hold "
                f"{mass.mean():.2f} of the probability, and less than {LEAST_MASS:.2f} on "
                f"{n_low:,} of {len(mass):,} answers."
            )
    return sentences
