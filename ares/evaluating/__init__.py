"""Measure ARES: accuracy, calibration, ablations, speed, and the error that travels with it."""

DRAWN_FACES, SAMPLE = "drawn faces", "(sample)"
"""How a measurement names drawings, and marks the revision of a sample build."""
