"""Published benchmarks and the shipped sets, one per file."""
