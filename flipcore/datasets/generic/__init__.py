"""Any file, any dataset of the hub, any text, under a column mapping."""
