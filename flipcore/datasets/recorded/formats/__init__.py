"""One file per format with its READER. The first reader that recognises a file reads it."""

from flipcore.core.plugins import in_files
from flipcore.datasets.recorded.formats.reader import Reader

_FILES = (
    "lm_eval inspect_ai every_eval_ever helm lighteval zeroeval promptfoo openai_evals tau_bench "
    "planned_answers"
)
READERS: tuple[Reader, ...] = tuple(in_files(__name__, _FILES, "READER", "READERS"))
