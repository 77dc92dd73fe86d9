"""Run a model: from a benchmark's items to a submission."""
