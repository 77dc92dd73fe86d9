"""Standards as documents: differences, proposals, triggers, validation."""
