"""Open weights in this process: a folder or a name of the Hugging Face cache, computed by
`transformers`."""
