"""Print results, plans and instruments in a terminal."""
