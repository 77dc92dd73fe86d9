"""Parse GENRES answers: narratives, sentences, word lists, judgements."""

VERSION = "2"
"""Of the readers. 1: headings of all sections and JSON as printed; 2: what is there of a response, and free text."""
