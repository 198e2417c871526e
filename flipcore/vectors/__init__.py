"""Texts as vectors: embeddings, comparisons of two sets, and classifiers that tell sets apart."""
