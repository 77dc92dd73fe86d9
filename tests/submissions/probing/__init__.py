"""Tests of `fairspace.submissions.probing`."""
