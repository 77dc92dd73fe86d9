"""Publish artifacts to the Hub, with public copies of their data."""
