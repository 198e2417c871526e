"""The odd-one-out survey: sheets, files, models as annotators."""
