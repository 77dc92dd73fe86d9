"""Values of GENRES that no score has a part of: what evaluations agree on, how they differ, parts of the passages."""
