"""Resampling designs of FACT-OR-FAIR."""
