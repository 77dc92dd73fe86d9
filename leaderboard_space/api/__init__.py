"""The API over plain HTTP, with its documented shapes."""
