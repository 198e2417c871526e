"""Any JSONL, JSON, CSV or Parquet file, under a column mapping that is guessed and can be corrected."""

from flipcore.datasets.dataset import Dataset
from flipcore.datasets.reading.columns import maker

LOADER = Dataset("file", "Your own file", "JSONL, JSON, CSV or Parquet with a question in each row.", "any", maker=maker)
