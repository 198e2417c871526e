"""What is done, in words, and the papers that it comes from, for pages, reports and BibTeX alike."""
