"""Every estimate of a study and its sentences, for pages, command line and export alike."""
