"""Parse GENRES answers: narratives, sentences, word lists, judgements."""
