"""Pairs and verdicts that come in by a file, and merged databases: kept, and then counted where they can be."""

from collections.abc import Iterable
from pathlib import Path

from flipcore.annotation.paraphrases.pair_files import Incoming
from flipcore.annotation.paraphrases.random_order import count_beginnings
from flipcore.store.connection import Store
from flipcore.store.merge import merge
from flipcore.store.queries import review
from flipcore.text.counts import count_of


def take_in(store: Store, batch: Incoming) -> str:
    """Stores what a file brings; the sentence that says how much. Raises AccessDenied."""
    review.keep_pairs(store, batch.pairs, batch.items)
    review.keep_verdicts(store, batch.verdicts)
    sentence = f"{count_of(len(batch.pairs), 'pair')} and {count_of(len(batch.verdicts), 'verdict')} are stored."
    return " ".join([sentence, *_counting(store, bool(batch.verdicts))])


def merge_files(paths: Iterable[str | Path], store: Store) -> list[str]:
    """Adds what database files hold; one sentence a fact. Raises BadInput for a file that cannot be used."""
    report = merge(paths, store)
    return [*report.sentences(), *_counting(store, report.added["verdicts"] > 0)]


def _counting(store: Store, has_verdicts: bool) -> list[str]:
    n = count_beginnings(store) if has_verdicts else 0
    return [f"{n:,} verdict{'s' * (n != 1)} from elsewhere now count{'s' * (n == 1)} as drawn at random."] if n else []
