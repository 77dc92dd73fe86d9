"""Probes of a model's representations (IRIS, appendices D.3 and E): `fairspace probe`."""
