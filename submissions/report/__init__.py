"""Reports of results: a page, Markdown, CSV and LaTeX, the tables of a paper, an evidence page."""
