"""The benchmark of ARES on a GPU."""
