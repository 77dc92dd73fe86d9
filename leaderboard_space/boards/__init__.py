"""Content of boards: columns, filters and order, figures, comparisons and texts; one module per benchmark."""
