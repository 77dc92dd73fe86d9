"""A mutation run: small slips are put into the code one at a time, and the tests must notice them (`make mutants`)."""
