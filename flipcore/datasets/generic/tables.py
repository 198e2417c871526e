"""Tables with a question in each row, of a file or of the Hugging Face hub.

The options of the hub are repo, config and split. The mapping of columns is guessed and can be
corrected.
"""

from flipcore.datasets.dataset import Dataset
from flipcore.datasets.reading.columns import maker

FILE = Dataset(
    "file",
    "Your own file",
    about="JSONL, JSON, CSV, Excel or Parquet with a question in each row.",
    kind="any",
    maker=maker,
)
HUB = Dataset(
    "hub",
    "A Hugging Face dataset",
    about="Any dataset on the hub with a question in each row; needs a network.",
    kind="any",
    maker=maker,
)
LOADERS = (FILE, HUB)
