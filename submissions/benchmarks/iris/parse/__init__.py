"""Readers of answers to IRIS' understanding tasks: an occupation, a competitor, a rating or a label."""

VERSION = "4"
"""Version of the readers: 1 looked whole answers up."""
