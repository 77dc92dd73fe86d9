"""The storage of the board."""
