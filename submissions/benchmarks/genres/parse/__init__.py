"""Parse GENRES answers: narratives, sentences, word lists, judgements."""

VERSION = "4"
"""1: headings and JSON as printed; 2: incomplete responses and free text; 3: traits of both end a narrative."""
