"""Parse GENRES answers: narratives, sentences, word lists, judgements."""

VERSION = "3"
"""Reading rules. 1: headings of all sections and JSON as printed; 2: what is there of a response, and free text;
3: a last block about the traits of both is no narrative."""
