"""The commands that publish and exchange: artifacts, results and the Space."""
