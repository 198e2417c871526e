"""The model in the box: its invented world, its contamination doses, its training, and inference without torch."""
