"""One file per format, ending in its READER; the first that recognises the content reads it."""

from flipcore.core.plugins import in_files
from flipcore.datasets.recorded.formats.reader import Reader

_FILES = (
    "lm_eval inspect_ai every_eval_ever helm lighteval zeroeval promptfoo openai_evals tau_bench "
    "planned_answers"
)
READERS: tuple[Reader, ...] = tuple(in_files(__name__, _FILES, "READER", "READERS"))
