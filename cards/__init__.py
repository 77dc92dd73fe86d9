"""Cards: the templates and texts of what artifacts say about themselves, and the errata of the papers."""
