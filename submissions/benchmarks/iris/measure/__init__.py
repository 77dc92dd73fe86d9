"""The raw values of IRIS."""
