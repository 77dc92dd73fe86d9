"""The `fairspace` command: one module per group of commands."""
