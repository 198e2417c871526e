"""Outputs that another tool recorded, as rows of the pipeline."""
