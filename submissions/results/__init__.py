"""Results: scoring, rows, boards, tiers."""
