"""The lock of numbers: no change of structure may move one. `python -m tests.locks` says which did."""
