"""ARES, the routed demographic classifier: here, the reports that its confusion matrices imply."""
