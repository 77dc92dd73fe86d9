"""Operation of a Space: log lines, metrics and health."""
