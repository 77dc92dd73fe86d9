"""Standards as documents: differences, validation."""
