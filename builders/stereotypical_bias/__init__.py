"""The dataset stereotypical_bias."""
