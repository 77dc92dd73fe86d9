"""Operation of a Space: log lines and health."""
