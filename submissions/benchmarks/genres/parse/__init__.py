"""Parse GENRES answers: narratives, sentences, word lists, judgements."""

VERSION = "3"
"""Version of the reading rules. 1: headings of all sections and JSON as printed; 2: incomplete responses and free text;
3: a last block about the traits of both is no narrative.
"""
