"""What a log's own rows say of its reported numbers."""
