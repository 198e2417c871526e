"""Files, datasets of the hub and texts of any kind."""
