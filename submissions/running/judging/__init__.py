"""Judge GENRES narratives with a language model."""
