"""Tests of how raw answers are read."""
