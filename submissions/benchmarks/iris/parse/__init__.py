"""What one answer to IRIS' understanding tasks says: an occupation, a competitor, a rating or a label."""

VERSION = "3"
"""Of the readers: 1 looked whole answers up."""
