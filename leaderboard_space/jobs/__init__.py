"""Jobs: accepted submissions are scored in child processes, from a durable queue, until the log has their outcome."""
