"""What those who run a Space see of it: log lines, metrics and health."""
