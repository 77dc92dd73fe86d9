"""Results in formats of others."""
