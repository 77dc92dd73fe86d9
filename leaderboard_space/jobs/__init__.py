"""Jobs: child processes score accepted submissions, fairly in turn, and their outcomes go into the log."""
