"""A Hub on loopback: what the Hugging Face clients need to create, fill, tag, read and delete repositories."""
