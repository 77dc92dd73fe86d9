"""A Hub on loopback, as far as the Hugging Face clients create, fill, tag, read and delete repositories."""
