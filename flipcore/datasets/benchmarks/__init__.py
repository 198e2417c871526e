"""Published benchmarks and the shipped sets, one a file."""
