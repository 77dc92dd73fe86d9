"""Readable forms of results: the headline, tables for papers, and reports as a page, LaTeX, CSV, Markdown or PDF; the evidence page."""
