"""What the fold of the log is held in: packed values, rows that were made, and the file that keeps it all."""
