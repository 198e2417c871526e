"""Methods in words, and their papers, for pages, reports and BibTeX alike."""
