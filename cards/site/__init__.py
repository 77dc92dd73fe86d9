"""The documentation as a site: the repository's Markdown, and pages generated from the code's declarations."""
