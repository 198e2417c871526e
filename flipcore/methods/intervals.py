"""How every interval was computed, by the name that an `Estimate` carries, and what is said of several tests together."""

from __future__ import annotations

from flipcore.methods.method import Method

BY_METHOD = {
    "clt_cluster": Method(
        "Student's t over clusters",
        "The mean of the items' values with Student's t limits; items made from one template count as one.",
        ("miller2024error",),
    ),
    "studentized": Method(
        "studentised bootstrap", "Whole items are resampled; each mean is divided by its own error.", ("hall1988theoretical",)
    ),
    "bca": Method(
        "BCa bootstrap", "Whole items are resampled; percentiles are corrected for bias and skewness.", ("efron1987better",)
    ),
    "percentile": Method("percentile bootstrap", "Whole items are resampled; the limits are percentiles of the means."),
    "wilson": Method("Wilson's score interval", "A share of items with the limits of the score test.", ("wilson1927probable",)),
    "bonett_price": Method(
        "Bonett and Price's interval",
        "A difference of two shares of the same items, by an adjusted Wald interval.",
        ("bonett2012adjusted",),
    ),
    "newcombe": Method(
        "Newcombe's interval",
        "A difference of two shares of different items, from Wilson's limits of each.",
        ("newcombe1998interval",),
    ),
    "hoeffding": Method(
        "Hoeffding's bound",
        "All items have the same value, so only the range of a value limits its mean.",
        ("hoeffding1963probability",),
    ),
    "conf_seq": Method("confidence sequence", "Limits that hold at every number of items at once.", ("waudbysmith2021time",)),
    "simultaneous band": Method(
        "simultaneous band", "One band for all rows and settings at once: the largest |t| of a joint bootstrap over items."
    ),
    "worst cases of cut answers": Method(
        "worst cases of cut answers", "The span over everything that the answers that were cut off could have been."
    ),
    "none": Method("no interval", "At least 10 items are needed for an interval; below that the number stands alone."),
}
HOLM = Method(
    "Holm's correction",
    "p-values of one family are raised so that the chance of any false claim among them stays at the level.",
    ("holm1979simple",),
)


def method_of(name: str) -> Method:
    """The method by the name that an estimate carries; one without words of its own has its name."""
    return BY_METHOD.get(name) or Method(
        name.replace("_", " "), f"The limits are those of the method {name.replace('_', ' ')}."
    )
