"""The dataset genres."""
