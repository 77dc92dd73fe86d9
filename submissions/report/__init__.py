"""Readable results: headlines, tables for papers, reports as a page, LaTeX, CSV, Markdown or PDF, an evidence page."""
