import pytest


def kill_points(*points: int, fast: int) -> list[object]:
    """Kill points as parameters of a test; all but the fast one are marked slow."""
    assert fast in points
    return [point if point == fast else pytest.param(point, marks=pytest.mark.slow) for point in points]
