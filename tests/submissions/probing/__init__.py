"""Tests of `submissions.probing`."""
