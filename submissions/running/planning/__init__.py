"""Plan a run: counts, tokens, hours, money, power."""
