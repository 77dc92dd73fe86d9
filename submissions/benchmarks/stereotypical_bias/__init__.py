"""Stereotypical bias: reading, measuring, resampling, scoring."""
