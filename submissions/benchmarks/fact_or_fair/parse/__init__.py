"""Readers of answers to FACT-OR-FAIR (sections 3.2, 3.3): groups (objective) and options (subjective queries)."""

VERSION = "4"
"""Version of the readers; part of a result's signature."""
