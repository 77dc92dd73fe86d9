"""The build engine of all datasets: shards, making."""
