"""Measure ARES: accuracy, calibration, ablations, speed, and the error that travels with it."""

DRAWN_FACES, SAMPLE = "drawn faces", "(sample)"
"""Name of drawings in a measurement, and mark of a sample build's revision."""
