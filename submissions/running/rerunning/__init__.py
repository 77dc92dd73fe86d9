"""Verify that answers are a model's: a random part of them is asked again."""
