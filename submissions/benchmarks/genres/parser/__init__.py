"""The embedded English pipeline (tagger, parser, lemmatizer) for GENRES' M3 and M5."""
