"""The benchmarks: one folder each, with the same file names, and what they share."""
