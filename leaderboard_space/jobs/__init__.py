"""Jobs: what was accepted is scored in child processes, from a durable queue, until it has an end in the log."""
