"""The tiny models that tests share; not to be written to."""

from functools import lru_cache
from pathlib import Path

from tests.cpu_seconds import CLOCK
from tests.store import STORE, stored


@lru_cache
def random_ares() -> Path:
    """The folder of a tiny ARES with random weights."""

    def make(folder: Path) -> None:
        from fairspace.ares.training.tiny import tiny_model

        tiny_model(folder / "tiny")

    return stored("tiny-ares", make, ("ares", "builders/drawn")) / "tiny"


@lru_cache
def trained_ares() -> Path:
    """The folder of a tiny ARES that was trained on drawn faces, by this run or an earlier one."""
    with CLOCK.sharing():
        from fairspace.ares.training.tiny import trained_model

        return trained_model(STORE / "ares")
