"""Scores: one folder per metric, each loadable by `evaluate.load` and as a copied folder alone."""
