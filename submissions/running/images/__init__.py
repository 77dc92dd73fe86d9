"""Make images with a model, in shards that survive kills."""
