"""From files to checked items."""
