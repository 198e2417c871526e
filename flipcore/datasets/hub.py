"""Any dataset of the Hugging Face hub (options: repo, config, split), under a column mapping."""

from flipcore.datasets.columns import maker
from flipcore.datasets.dataset import Dataset

LOADER = Dataset("hub", "A Hugging Face dataset", "Any dataset on the hub with a question in each row; needs a network.",
                 "any", maker=maker)
