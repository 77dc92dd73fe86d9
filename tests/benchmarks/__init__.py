"""Benchmarks, run by `make bench`: figures beside a peer or a bare loop in the same run."""
