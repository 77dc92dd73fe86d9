"""The submission format: schema, manifest, faults, writing."""
