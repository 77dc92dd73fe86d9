"""Measure ARES: accuracy, calibration, ablations, speed, drift, and the error that travels with it."""
