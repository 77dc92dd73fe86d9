"""Mutation testing: small slips, one at a time, that the tests must notice (`make mutants`)."""
