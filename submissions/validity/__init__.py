"""How far a benchmark's values can be relied on: repeats, orders, wordings, judges, and other benchmarks."""
