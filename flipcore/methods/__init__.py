"""Methods in words, and the papers that they come from, for pages, reports and BibTeX alike."""
