"""The API over plain HTTP."""
