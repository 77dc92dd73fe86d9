"""IRIS: reading, measuring, resampling, scoring."""
