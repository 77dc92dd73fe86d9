"""GENRES: reading, measuring, resampling, scoring."""
