"""`python -m fairspace.leaderboard_space.site FOLDER SITE`: the builder, as the web process starts it."""

from fairspace.leaderboard_space.site.process import main

main()
