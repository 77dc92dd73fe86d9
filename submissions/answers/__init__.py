"""Readings of raw answers, first steps of all readers, and measured errors of readers."""
