"""The words of pages and reports: meaning, formula, picture, papers. One word for one thing."""

from dataclasses import dataclass

from flipcore.methods.papers import PAPERS


@dataclass(frozen=True)
class Term:
    """`formula` is LaTeX; `picture` is a key of `charts.term_pictures.PICTURES`; `papers` are keys of `papers.PAPERS`, `about` is
    what stands before them."""

    name: str
    meaning: str
    formula: str
    picture: str
    papers: tuple[str, ...] = ()
    about: str = ""

    @property
    def paper(self) -> str:
        """The papers as a line of small print; "" of a word of this project's own."""
        if not self.papers:
            return ""
        names = "; ".join(f"{PAPERS[key].short}, {PAPERS[key].address}" for key in self.papers)
        return f"{self.about}: {names}." if self.about else f"{names}."


TERMS = (
    Term(
        "Item",
        "One question of a benchmark, with its right answer. Items are the unit that every interval resamples.",
        r"(x_i,\ y_i),\quad i = 1,\dots,n",
        "item",
        papers=("miller2024error",),
    ),
    Term(
        "Variant",
        "An item asked in one particular form: with another option order, other labels, another prompt format.",
        r"x_{iv},\quad v = 0,\dots,k",
        "variant",
        papers=("sclar2024quantifying",),
    ),
    Term(
        "Axis",
        "One kind of change, for example option order. Within an axis all variants of an item are compared.",
        r"\{x_{i0}, x_{i1}, \dots, x_{ik}\},\quad y_{iv} = y_i",
        "axis",
        papers=("pezeshkpour2024large",),
        about="Option order",
    ),
    Term(
        "Paraphrase",
        "A restatement that people have checked: same meaning, same difficulty, same way to solve it.",
        r"x' \ne x,\quad y(x') = y(x)",
        "paraphrase",
        papers=("sclar2024quantifying",),
        about="Changes that keep the meaning",
    ),
    Term(
        "Rewrite",
        "A changed item with its own right answer: other numbers, other names.",
        r"x' \ne x,\quad y(x')\ \text{worked out again}",
        "rewrite",
        papers=("mirzadeh2024gsm",),
    ),
    Term(
        "Extractor",
        "A method that reads an answer from a completion: first token, written answer, cloze. What it reads is a readout.",
        r"e(\text{completion}) \in \text{answers} \cup \{\text{unreadable}\}",
        "extractor",
        papers=("wang2024my",),
        about="First token against written answer",
    ),
    Term(
        "Reference extractor",
        "The extractor whose flips count as genuine. It is the written answer unless you choose another.",
        r"G = T(e^*),\quad A = T(e) - T(e^*)",
        "reference",
        papers=("wang2024my",),
        about="First token against written answer",
    ),
    Term(
        "Label mass",
        "The share of the first token's probability that lies on any option label. Near 0 the readout means little.",
        r"m = \sum_{\ell \in \text{labels}} p(\ell)",
        "label mass",
        papers=("wang2024my",),
    ),
    Term(
        "Flip rate T",
        "How often two variants of an item get different answers under the compared extractor; the mean over items.",
        r"T = \frac1n\sum_i \Pr(\text{two variants of item } i \text{ differ})",
        "flip rate",
        papers=("sclar2024quantifying",),
        about="Changes that keep the meaning",
    ),
    Term(
        "Genuine G, artifact A",
        "G is the flip rate under the reference extractor: the model changed its answer. A is the rest. A may be negative.",
        r"A = T - G = A^+ - A^-",
        "split",
        papers=("wang2024my",),
        about="First token against written answer",
    ),
    Term(
        "Noise floor",
        "How often the same prompt, sent again, gets another answer. At temperature 0 there is no floor to measure.",
        r"W = \frac1n\sum_i \Pr(\text{two samples of one prompt differ})",
        "floor",
        papers=("miller2024error",),
    ),
    Term(
        "Confidence interval",
        "A range from a procedure that covers the true value in 95 of 100 studies. Valid only for settings fixed before "
        "looking.",
        r"\Pr(\text{low} \le \theta \le \text{high}) \approx 0.95",
        "interval",
        papers=("miller2024error",),
        about="Clustered by items",
    ),
    Term(
        "Holm's correction",
        "p values of several tests are raised so that the chance of any false claim among them stays at the level.",
        r"\tilde p_{(k)} = \max_{j\le k}\min\{1,(m-j+1)\,p_{(j)}\}",
        "holm",
        papers=("holm1979simple",),
    ),
    Term(
        "Exploratory, simultaneous, locked",
        "Three modes. Exploratory: settings may follow the result. Simultaneous: a band holds at every setting at once. "
        "Locked: settings are stored before the items that were set aside are read.",
        r"\Pr(\theta_s \in [\text{low}_s, \text{high}_s]\ \text{for all}\ s) \ge 0.95",
        "modes",
        papers=("nosek2018preregistration",),
        about="Locked",
    ),
    Term(
        "Drop gap",
        "How much more accuracy the benchmark loses under rewriting than its control does.",
        r"\text{gap} = (a_B - a_B') - (a_C - a_C')",
        "slopes",
        papers=("mirzadeh2024gsm",),
        about="Numbers and names changed",
    ),
    Term(
        "Loss test",
        "Is the published wording easier for the model than a paraphrase, beyond what controls show? D is in nats.",
        r"D = \ell(\text{paraphrase}) - \ell(\text{published})",
        "loss",
        papers=("yeom2018privacy", "shi2023detecting"),
    ),
    Term(
        "PEARL",
        "Bits of a text's beginning are flipped. A memorized continuation breaks off; a skilled one fades.",
        r"s = \max_k\,(\text{sim}_k - \text{sim}_{k+1})",
        "curve",
        papers=("djire2025memorization",),
    ),
    Term(
        "Control",
        "Items that the model cannot have read. What a detector shows on them is no memory.",
        r"\text{memory} = \Delta_\text{benchmark} - \Delta_\text{control}",
        "control",
        papers=("zhang2024careful",),
        about="Fresh problems as a control",
    ),
    Term(
        "Dose",
        "How often an item stood in the training data. It is known for the pocket model only.",
        r"d_i = \text{times that item } i \text{ was read}",
        "dose",
        papers=("carlini2022quantifying",),
    ),
    Term(
        "AUC",
        "The chance that an item that was read scores higher than one that was not. 0.5 is a coin, 1 is perfect.",
        r"\mathrm{AUC} = \Pr(S_\text{read} > S_\text{never}) + \tfrac12\Pr(=)",
        "auc",
        papers=("hanley1982meaning",),
    ),
    Term(
        "Retro-holdout",
        "New items written so that they could have come from the same source as a published benchmark.",
        r"H_0:\ P_\text{retro} = P_\text{target}",
        "retro",
        papers=("haimes2024benchmark",),
    ),
    Term(
        "Inflation",
        "Accuracy on the published set less accuracy on the holdout, in percentage points. It means contamination only as "
        "far as the two sets share a source.",
        r"\text{inflation} = a_\text{target} - a_\text{retro}",
        "inflation",
        papers=("haimes2024benchmark",),
    ),
    Term(
        "Margin and equivalence",
        "The margin is the difference that you would call too small to matter. Two sets are equivalent when the whole "
        "interval lies inside it. No significant difference is not equivalence.",
        r"[\text{low}, \text{high}] \subset (-\delta, \delta)",
        "margin",
        papers=("schuirmann1987comparison",),
        about="Two one-sided tests",
    ),
    Term(
        "Balanced accuracy",
        "The mean of the shares that a classifier gets right in either set. 0.5 means that it cannot tell the sets apart.",
        r"\tfrac12(\text{right}_\text{target} + \text{right}_\text{retro})",
        "balanced",
        papers=("brodersen2010balanced",),
    ),
    Term(
        "Trustworthiness of a map",
        "How far neighbours on the map are neighbours in all dimensions. 1 is all of them; below about 0.9 read no shapes.",
        r"1 - \frac{2}{nk(2n - 3k - 1)} \sum_i \sum_{j \in U_i} (r_{ij} - k)",
        "trust",
        papers=("venna2001neighborhood", "mcinnes2018umap"),
    ),
    Term(
        "Gate",
        "What people have not checked enough is shown and not claimed: paraphrases, judges. A gate says what is missing.",
        r"\text{lower bound of what people accept} \ge g",
        "gate",
        papers=("zheng2023judging",),
        about="Judges against people",
    ),
    Term(
        "Not claimed",
        "Shown, and nothing is concluded from it: a gate or a lock is closed. The reason stands beside it.",
        r"\text{claimed} \iff \text{every gate is open and the lock is kept}",
        "not claimed",
    ),
    Term(
        "Item role",
        "An item's place in a study: benchmark or control for memorization, target or retro for a holdout, non-member to "
        "set a cut-off.",
        r"\text{role}(\text{study}, \text{item})",
        "role",
    ),
    Term(
        "False-positive rate",
        "The share of never-read items above a cut-off. It is measured on items that did not set the cut-off.",
        r"\text{FPR} = \Pr(S_\text{never} > \text{cut-off})",
        "false positives",
        papers=("carlini2022membership",),
    ),
    Term(
        "Cross-validation",
        "A classifier learns four fifths of the entries and is tested on the last fifth, five times in turn.",
        r"\frac15 \sum_{k=1}^{5} \text{accuracy on fold } k",
        "folds",
        papers=("stone1974cross",),
    ),
    Term(
        "Agreement (κ, α)",
        "How far reviewers agree beyond chance: 0 is what chance gives, 1 is full agreement.",
        r"\kappa = \frac{p_o - p_e}{1 - p_e}",
        "agreement",
        papers=("cohen1960coefficient", "krippendorff2004reliability"),
    ),
    Term(
        "Cut off",
        "An answer that a token limit or a filter ended. It is wrong for accuracy and never a flip.",
        r"\text{right} = 0,\quad \text{flip undefined}",
        "cut off",
    ),
    Term(
        "Pocket model",
        "The small language model that comes with Flipscope: real log-probabilities, known memorization.",
        r"d \in \{0, 1, 4, 16, 64, 256\}",
        "pocket",
        papers=("carlini2019secret",),
        about="Planted texts",
    ),
)
