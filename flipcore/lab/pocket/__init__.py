"""Training and measuring the pocket model: `python -m flipcore.lab.pocket train | export | items | card | gguf`."""
