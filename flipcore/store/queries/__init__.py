"""Every question that is asked of the store, by the page that asks. Rows out."""
