"""Any table with a question in each row, from a file or from the Hugging Face hub (options: repo,
config, split), under a column mapping that is guessed and can be corrected.
"""

from flipcore.datasets.dataset import Dataset
from flipcore.datasets.reading.columns import maker

FILE = Dataset(
    "file",
    "Your own file",
    "JSONL, JSON, CSV, Excel or Parquet with a question in each row.",
    "any",
    maker=maker,
)
HUB = Dataset(
    "hub",
    "A Hugging Face dataset",
    "Any dataset on the hub with a question in each row; needs a network.",
    "any",
    maker=maker,
)
LOADERS = (FILE, HUB)
