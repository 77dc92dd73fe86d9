"""Whether answers that were handed in are a model's: a random part of them is asked again."""
