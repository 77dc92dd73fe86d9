"""Uncertainty of values: resampling, fair models, other instruments and missing samples."""
