"""What a run of IRIS can show."""
