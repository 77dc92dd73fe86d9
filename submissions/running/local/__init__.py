"""Models on this machine behind Inspect."""
