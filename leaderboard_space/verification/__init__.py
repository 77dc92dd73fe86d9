"""The evidence and the signature of a verified row."""
