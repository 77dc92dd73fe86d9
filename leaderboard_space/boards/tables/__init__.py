"""The tables of the boards: columns, cells, downloads."""
