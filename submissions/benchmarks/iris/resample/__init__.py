"""Resampling designs of IRIS."""
