"""Results, boards and submissions as texts: one table and one text of a value for every terminal, page and file."""
