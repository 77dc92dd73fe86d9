"""FACT-OR-FAIR: reading, measuring, resampling, scoring."""
