"""Jobs: accepted submissions are scored in child processes, fairly in turn, until the log has their outcome."""

RESULT, FAULTS = "result.json", "faults.json"
"""What a child leaves in its folder. They stand here, so that the look at a file imports nothing that scores it."""
