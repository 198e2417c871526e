"""What is done, in words, and the papers that it comes from: one module a question, for pages, reports and BibTeX alike."""
