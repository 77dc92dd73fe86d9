"""Drawn pictures and small sources, for `--sample` builds and for tests."""
