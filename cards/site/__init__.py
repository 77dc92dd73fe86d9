"""The documentation as a site: Markdown of the repository, and pages made of what the code declares."""
