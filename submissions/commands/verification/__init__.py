"""Commands that verify: scores against others' code, and submissions against the models they are said to be of."""
