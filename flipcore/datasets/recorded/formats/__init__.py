"""One file a format, each ending in one READER; the first that recognises a file's content reads it."""

from flipcore.datasets.recorded.formats import (
    every_eval_ever,
    helm,
    inspect_ai,
    lighteval,
    lm_eval,
    openai_evals,
    planned_answers,
    promptfoo,
    tau_bench,
    zeroeval,
)
from flipcore.datasets.recorded.formats.reader import Reader

READERS: tuple[Reader, ...] = (
    lm_eval.READER,
    inspect_ai.READER,
    every_eval_ever.READER,
    helm.READER,
    lighteval.READER,
    zeroeval.READER,
    promptfoo.READER,
    openai_evals.READER,
    tau_bench.READER,
    planned_answers.READER,
)
