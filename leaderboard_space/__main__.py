"""`python -m leaderboard_space` serves the board; the same file is the Space's `app.py`."""

from leaderboard_space.app import main

main()
