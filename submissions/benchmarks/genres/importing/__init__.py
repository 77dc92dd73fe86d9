"""Import the authors' published GENRES responses."""
