"""Open the datasets that a run asks about."""
