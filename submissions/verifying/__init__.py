"""What this project computes, held against others: printed figures, independent oracles, the authors' own code."""
