"""fairspace measures the fairness of generative models: datasets, metrics, a classifier and a leaderboard.

The sub-packages are links to the folders at the top of the repository: `fairspace.builders` is `builders/`.
"""
