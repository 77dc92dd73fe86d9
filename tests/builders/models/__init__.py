"""Tools of real models, tried on tiny random-initialised ones."""
