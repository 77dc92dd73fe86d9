"""`python -m fairspace.leaderboard_space` serves the board; the same file is the Space's `app.py`."""

from fairspace.leaderboard_space.app import main

main()
