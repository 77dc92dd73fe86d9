"""The commands about sources and labels of datasets."""
