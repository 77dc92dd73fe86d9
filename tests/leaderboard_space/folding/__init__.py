"""Tests of what the fold of the log is held in."""
