"""The build engine that all datasets share: shards, making, review."""
