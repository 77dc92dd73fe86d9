"""Read Inspect logs and import them as submissions."""
