"""Browser parts: plain JavaScript that looks up arrays which flipcore computed."""
