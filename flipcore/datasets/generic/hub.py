"""Any dataset of the Hugging Face hub (options: repo, config, split), under a column mapping."""

from flipcore.datasets.dataset import Dataset
from flipcore.datasets.reading.columns import maker

LOADER = Dataset(
    "hub", "A Hugging Face dataset", "Any dataset on the hub with a question in each row; needs a network.", "any", maker=maker
)
