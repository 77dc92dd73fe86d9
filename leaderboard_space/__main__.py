"""`python -m fairspace.leaderboard_space` serves the board, as the Space's `app.py` does."""

from fairspace.leaderboard_space.serving import main

main()
