"""The dataset fact_or_fair."""
