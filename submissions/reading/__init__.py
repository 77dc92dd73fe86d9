"""Read a submission's bytes safely into tables."""
