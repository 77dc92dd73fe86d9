"""How many prompts at a time memory has room for."""

_MOST = 8


def rows_that_fit(row: float, free: float) -> int:
    """Rows of a batch: 8, or fewer if their keys and values fill half of the free memory; at least 1.

    Args:
        row: bytes that keys and values of one row take at most.
        free: bytes.
    """
    rows = _MOST
    while rows > 1 and rows * row > free / 2:
        rows //= 2
    return rows
