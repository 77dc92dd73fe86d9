"""A benchmark that CONTRIBUTING.md adds as its example: a folder, and no change elsewhere."""
