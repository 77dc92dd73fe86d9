"""What one answer to IRIS' understanding tasks says: an occupation, a competitor, a rating or a label."""
