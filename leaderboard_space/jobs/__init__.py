"""Jobs: child processes score accepted submissions, fairly in turn, and their outcomes go into the log."""

RESULT, FAULTS = "result.json", "faults.json"
"""Files left by a child in its folder; defined here so that the precheck imports no scoring code."""
