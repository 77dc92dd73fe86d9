"""Annotate images with ARES: sources, sessions, shards."""
