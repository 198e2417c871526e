"""Any JSONL, JSON, CSV or Parquet file, under a column mapping that is guessed and can be corrected."""

from flipcore.datasets.columns import maker
from flipcore.datasets.dataset import Dataset

LOADER = Dataset("file", "Your own file", "JSONL, JSON, CSV or Parquet with a question in each row.", "any", maker=maker)
