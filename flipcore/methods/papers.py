"""The papers that methods come from, each in one place: as a line of text, as a short reference and as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """`authors` are "Family, Given", at most the first few; `more` says that there are others. `venue` is a journal with its
    volume and pages, or a conference."""

    key: str
    authors: tuple[str, ...]
    year: int
    title: str
    venue: str = ""
    arxiv: str = ""
    doi: str = ""
    more: bool = False

    @property
    def names(self) -> str:
        """ "Miller", "Shen and Li", "Wang et al."."""
        families = [author.split(",")[0] for author in self.authors]
        if self.more or len(families) > 2:
            return f"{families[0]} et al."
        return " and ".join(families)

    @property
    def short(self) -> str:
        """ "Wang et al. 2024"."""
        return f"{self.names} {self.year}"

    @property
    def address(self) -> str:
        """Where it is: its arXiv number, or else its DOI, or else its venue."""
        return f"arXiv:{self.arxiv}" if self.arxiv else f"doi:{self.doi}" if self.doi else self.venue

    @property
    def line(self) -> str:
        """The whole reference as a line of text."""
        authors = "; ".join(self.authors) + ("; and others" if self.more else "")
        places = [self.venue, f"arXiv:{self.arxiv}" if self.arxiv else "", f"doi:{self.doi}" if self.doi else ""]
        return f"{authors} ({self.year}). {self.title}. {', '.join(filter(None, places))}."

    @property
    def bibtex(self) -> str:
        """An entry for a BibTeX file."""
        kind = "article" if self.venue else "misc"
        authors = " and ".join([*self.authors, *(["others"] if self.more else [])])
        fields = {"author": authors, "title": f"{{{self.title}}}", "year": str(self.year)}
        fields |= {"journal": self.venue} if self.venue else {}
        fields |= {"eprint": self.arxiv, "archivePrefix": "arXiv"} if self.arxiv else {}
        fields |= {"doi": self.doi} if self.doi else {}
        inside = ",\n".join(f"  {name} = {{{_tex(value)}}}" for name, value in fields.items())
        return f"@{kind}{{{self.key},\n{inside}\n}}"


def _tex(text: str) -> str:
    return text.replace("&", r"\&").replace("%", r"\%").replace("–", "--")


_PAPERS = (
    Paper(
        "miller2024error",
        ("Miller, Evan",),
        2024,
        "Adding Error Bars to Evals: A Statistical Approach to Language Model Evaluations",
        arxiv="2411.00640",
    ),
    Paper(
        "wang2024my",
        ("Wang, Xinpeng", "Ma, Bolei", "Hu, Chengzhi"),
        2024,
        "“My Answer is C”: First-Token Probabilities Do Not Match Text Answers in Instruction-Tuned Language Models",
        "Findings of ACL 2024",
        "2402.14499",
        more=True,
    ),
    Paper(
        "holm1979simple",
        ("Holm, Sture",),
        1979,
        "A Simple Sequentially Rejective Multiple Test Procedure",
        "Scandinavian Journal of Statistics 6(2), 65–70",
    ),
    Paper(
        "wilson1927probable",
        ("Wilson, Edwin B.",),
        1927,
        "Probable Inference, the Law of Succession, and Statistical Inference",
        "Journal of the American Statistical Association 22(158), 209–212",
        doi="10.1080/01621459.1927.10502953",
    ),
    Paper(
        "efron1987better",
        ("Efron, Bradley",),
        1987,
        "Better Bootstrap Confidence Intervals",
        "Journal of the American Statistical Association 82(397), 171–185",
        doi="10.1080/01621459.1987.10478410",
    ),
    Paper(
        "hall1988theoretical",
        ("Hall, Peter",),
        1988,
        "Theoretical Comparison of Bootstrap Confidence Intervals",
        "The Annals of Statistics 16(3), 927–953",
        doi="10.1214/aos/1176350933",
    ),
    Paper(
        "bonett2012adjusted",
        ("Bonett, Douglas G.", "Price, Robert M."),
        2012,
        "Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired Data",
        "Journal of Educational and Behavioral Statistics 37(4), 479–488",
        doi="10.3102/1076998611411915",
    ),
    Paper(
        "hoeffding1963probability",
        ("Hoeffding, Wassily",),
        1963,
        "Probability Inequalities for Sums of Bounded Random Variables",
        "Journal of the American Statistical Association 58(301), 13–30",
        doi="10.1080/01621459.1963.10500830",
    ),
    Paper(
        "clopper1934use",
        ("Clopper, C. J.", "Pearson, E. S."),
        1934,
        "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
        "Biometrika 26(4), 404–413",
        doi="10.1093/biomet/26.4.404",
    ),
    Paper(
        "waudbysmith2024estimating",
        ("Waudby-Smith, Ian", "Ramdas, Aaditya"),
        2024,
        "Estimating Means of Bounded Random Variables by Betting",
        "Journal of the Royal Statistical Society B 86(1), 1–27",
        "2010.09686",
        "10.1093/jrsssb/qkad009",
    ),
    Paper(
        "waudbysmith2021time",
        ("Waudby-Smith, Ian", "Arbour, David", "Sinha, Ritwik"),
        2021,
        "Time-uniform Central Limit Theory and Asymptotic Confidence Sequences",
        arxiv="2103.06476",
        more=True,
    ),
    Paper(
        "massart1990tight",
        ("Massart, Pascal",),
        1990,
        "The Tight Constant in the Dvoretzky–Kiefer–Wolfowitz Inequality",
        "The Annals of Probability 18(3), 1269–1283",
        doi="10.1214/aop/1176990746",
    ),
    Paper(
        "mcnemar1947note",
        ("McNemar, Quinn",),
        1947,
        "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages",
        "Psychometrika 12(2), 153–157",
        doi="10.1007/BF02295996",
    ),
    Paper(
        "stuart2010matching",
        ("Stuart, Elizabeth A.",),
        2010,
        "Matching Methods for Causal Inference: A Review and a Look Forward",
        "Statistical Science 25(1), 1–21",
        doi="10.1214/09-STS313",
    ),
    Paper(
        "benjamini1995controlling",
        ("Benjamini, Yoav", "Hochberg, Yosef"),
        1995,
        "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
        "Journal of the Royal Statistical Society B 57(1), 289–300",
        doi="10.1111/j.2517-6161.1995.tb02031.x",
    ),
    Paper(
        "shi2023detecting",
        ("Shi, Weijia", "Ajith, Anirudh", "Xia, Mengzhou"),
        2023,
        "Detecting Pretraining Data from Large Language Models",
        arxiv="2310.16789",
        more=True,
    ),
    Paper(
        "djire2025memorization",
        ("Djiré, Albérick Euraste", "Kaboré, Abdoul Kader", "Barr, Earl T."),
        2025,
        "Memorization or Interpolation? Detecting LLM Memorization through Input Perturbation Analysis",
        arxiv="2505.03019",
        more=True,
    ),
    Paper(
        "cilibrasi2005clustering",
        ("Cilibrasi, Rudi", "Vitányi, Paul M. B."),
        2005,
        "Clustering by Compression",
        "IEEE Transactions on Information Theory 51(4), 1523–1545",
        doi="10.1109/TIT.2005.844059",
    ),
    Paper(
        "lin2004rouge",
        ("Lin, Chin-Yew",),
        2004,
        "ROUGE: A Package for Automatic Evaluation of Summaries",
        "Text Summarization Branches Out, 74–81",
    ),
    Paper(
        "haimes2024benchmark",
        ("Haimes, Jacob", "Wenner, Cenny", "Thaman, Kunvar"),
        2024,
        "Benchmark Inflation: Revealing LLM Performance Gaps Using Retro-Holdouts",
        arxiv="2410.09247",
        more=True,
    ),
    Paper(
        "schuirmann1987comparison",
        ("Schuirmann, Donald J.",),
        1987,
        "A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the Equivalence of Average "
        "Bioavailability",
        "Journal of Pharmacokinetics and Biopharmaceutics 15(6), 657–680",
        doi="10.1007/BF01068419",
    ),
    Paper(
        "gretton2012kernel",
        ("Gretton, Arthur", "Borgwardt, Karsten M.", "Rasch, Malte J."),
        2012,
        "A Kernel Two-Sample Test",
        "Journal of Machine Learning Research 13, 723–773",
        more=True,
    ),
    Paper(
        "newcombe1998interval",
        ("Newcombe, Robert G.",),
        1998,
        "Interval Estimation for the Difference Between Independent Proportions: Comparison of Eleven Methods",
        "Statistics in Medicine 17(8), 873–890",
        doi="10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I",
    ),
    Paper(
        "venna2001neighborhood",
        ("Venna, Jarkko", "Kaski, Samuel"),
        2001,
        "Neighborhood Preservation in Nonlinear Projection Methods: An Experimental Study",
        "ICANN 2001",
        doi="10.1007/3-540-44668-0_68",
    ),
    Paper(
        "mcinnes2018umap",
        ("McInnes, Leland", "Healy, John", "Melville, James"),
        2018,
        "UMAP: Uniform Manifold Approximation and Projection for Dimension Reduction",
        arxiv="1802.03426",
    ),
    Paper(
        "cohen1960coefficient",
        ("Cohen, Jacob",),
        1960,
        "A Coefficient of Agreement for Nominal Scales",
        "Educational and Psychological Measurement 20(1), 37–46",
        doi="10.1177/001316446002000104",
    ),
    Paper(
        "krippendorff2004reliability",
        ("Krippendorff, Klaus",),
        2004,
        "Reliability in Content Analysis: Some Common Misconceptions and Recommendations",
        "Human Communication Research 30(3), 411–433",
        doi="10.1111/j.1468-2958.2004.tb00738.x",
    ),
)
PAPERS = {paper.key: paper for paper in _PAPERS}


def cited(keys: Iterable[str]) -> str:
    """ " (Miller 2024; Holm 1979)" for the end of a sentence; "" without any."""
    names = "; ".join(PAPERS[key].short for key in keys)
    return f" ({names})" if names else ""


def bibtex(keys: Iterable[str]) -> str:
    """Entries of these papers, each once, in the order of their keys."""
    return "\n\n".join(PAPERS[key].bibtex for key in sorted(set(keys))) + "\n"
