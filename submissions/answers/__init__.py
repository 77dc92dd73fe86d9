"""What a model's raw answer says: readings, the first steps that all readers share, and how right readers are."""
