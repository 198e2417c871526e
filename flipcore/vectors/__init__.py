"""Texts as vectors: embeddings, what they say of two sets, and classifiers that tell sets apart."""
