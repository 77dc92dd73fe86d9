"""Datasets: one module per published dataset, sources' readers, and authored or official reference data."""
