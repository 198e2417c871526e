"""Find option labels that cannot be read as first tokens, because the model hardly ever begins its
output with them."""

import pandas as pd

LEAST_MASS = 0.05  # probability that all labels together need as the first token
LEAST_ANSWERS = 5


def unreadable_labels(frame: pd.DataFrame) -> list[str]:
    """Return one sentence per model, extractor, axis and variant whose labels have less than
    `LEAST_MASS` in the median answer.

    `frame` has readouts with the column `label_mass`, the probability that the first token is a
    label; rows where it is missing are left out.
    """
    rows = frame[frame["label_mass"].notna()]
    if rows.empty:
        return []
    sentences = []
    for (model, extractor, axis, variant), mass in rows.groupby(
        ["model", "extractor", "axis", "variant"], sort=False
    )["label_mass"]:
        n_low = int((mass < LEAST_MASS).sum())
        # The median, because a few answers with a chatty start are no problem.
        if len(mass) >= LEAST_ANSWERS and mass.median() < LEAST_MASS:
            sentences.append(
                f"{model}: the labels of {str(axis).replace('_', ' ')} {variant} cannot be read "
                f"as first tokens ({str(extractor).replace('_', ' ')}): they hold "
                f"{mass.mean():.2f} of the probability, and less than {LEAST_MASS:.2f} on "
                f"{n_low:,} of {len(mass):,} answers."
            )
    return sentences
