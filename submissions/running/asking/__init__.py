"""Ask a model through Inspect, and keep every fate in a journal."""
