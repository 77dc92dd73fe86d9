"""Labellers beside ARES: packages of the registry that bring trained weights, each with an adapter and a pin."""
