"""Open weights, computed in this process by `transformers`."""
