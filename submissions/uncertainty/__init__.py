"""Uncertainty of values: resampling, fair models, sensitivity analysis and missing samples."""
