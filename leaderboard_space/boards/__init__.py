"""What boards show: columns, filters and order, figures, comparisons and texts; one module per benchmark."""
