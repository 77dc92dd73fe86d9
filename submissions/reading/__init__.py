"""Safe reading of a submission's bytes into tables."""
