"""Measure the quality of generated images."""
