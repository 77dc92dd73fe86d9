"""Check a submission's tables against their benchmark."""
