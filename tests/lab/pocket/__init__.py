"""Training and measuring the pocket model: `python -m tests.lab.pocket train | export | items | card | gguf`."""
