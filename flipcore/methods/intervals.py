"""How every interval was computed, by the name that an `Estimate` carries, and what is said of several tests together."""

from flipcore.methods.method import Method

_WELCH = Method("Welch's t", "A difference of two means of different items with unequal variances.")
BY_METHOD = {
    "clt_cluster": Method(
        "Student's t over clusters",
        "The mean of the items' values with Student's t limits; items made from one template count as one.",
        ("miller2024error",),
    ),
    "families": Method(
        "families of items (CR2)",
        "The clustered error CR2 with Satterthwaite's degrees of freedom; a share has Wilson's limits on the number of independent "
        "items that would vary as much, and a difference that few families carry an unseen item at the far end.",
        ("bell2002bias", "wilson1927probable"),
    ),
    "guarded t": Method(
        "guarded t",
        "Student's t over items or families with a fraction of an unseen item added at the far end, so that rare events do not decide.",
    ),
    "crossed": Method(
        "mean squares of questions and wordings",
        "Variances of questions, wordings and reruns from one crossed table, with Satterthwaite's degrees of freedom; a share has "
        "Wilson's limits on the number of independent answers that would vary as much.",
        ("miller2024error", "wilson1927probable"),
    ),
    "prediction": Method(
        "prediction of another wording's score",
        "Student's t limits for one further wording from the spread of those that were asked.",
    ),
    "mean squares drawn": Method(
        "draws of mean squares",
        "Each mean square is drawn from the χ² distribution about its estimate; limits are percentiles.",
    ),
    "tango": Method(
        "Tango's score limits",
        "A difference of two shares of the same items: what the score test does not reject, exact up to 300 items.",
        ("tango1998equivalence",),
    ),
    "two_shares": Method(
        "Farrington and Manning's score limits",
        "A difference of two shares of other items: what the score test does not reject, exact where the smaller set has up to 400.",
        ("farrington1990test", "suissa1985exact"),
    ),
    "studentized": Method(
        "studentised bootstrap", "Whole items are resampled; each mean is divided by its own error.", ("hall1988theoretical",)
    ),
    "bca": Method(
        "BCa bootstrap", "Whole items are resampled; percentiles are corrected for bias and skewness.", ("efron1987better",)
    ),
    "percentile": Method("percentile bootstrap", "Whole items are resampled; the limits are percentiles of the means."),
    "wilson": Method("Wilson's score interval", "A share of items with the limits of the score test.", ("wilson1927probable",)),
    "wilson_t": Method(
        "Wilson's limits with Student's t",
        "A share with Wilson's limits on the number of independent items that would vary as much.",
        ("wilson1927probable",),
    ),
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
    "clt": Method("plain standard error", "The mean with normal limits, each item by itself, as other harnesses print it."),
    "clopper_pearson": Method("Clopper and Pearson's limits", "A share of items with the exact binomial limits."),
    "delta": Method(
        "delta method with a permutation bound",
        "The lower limit comes from the standard error of the distance, the upper one from its spread when labels are shuffled.",
    ),
    "mover": Method(
        "MOVER from score intervals",
        "A difference of two paired differences of shares: the score interval of each, joined by the method of variance estimates "
        "recovery.",
        ("newcombe1998interval",),
    ),
    "mover_families": Method(
        "MOVER from intervals over families",
        "A difference of two shares of different items that come in families: the interval of each over its families, joined by the "
        "method of variance estimates recovery.",
    ),
    "padded_mover": Method(
        "MOVER with two added items",
        "Few items changed, so one full loss and one opposite are added to each set; both t intervals are joined.",
        ("bonett2012adjusted",),
    ),
    "welch": _WELCH,
    "welch_t": _WELCH,
    "wald": Method("Wald's interval", "A difference of log odds with normal limits."),
    "delong, logit": Method("DeLong's interval on the logit", "An area under the curve with limits that stay within 0 and 1."),
    "newcombe_5": Method("Newcombe's fifth method", "An area under the curve where the groups are few or wholly apart."),
    "jackknife, log(1 - coefficient)": Method(
        "jackknife on log(1 − coefficient)", "Whole items are left out in turn; limits on the logarithm of disagreement."
    ),
    "delta, log(1 - kappa)": Method("delta method on log(1 − kappa)", "Limits on the logarithm of disagreement."),
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
