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
    """The folder of a tiny ARES that was trained on drawn faces, by this run or an earlier one.

    On two threads, whatever a test before has set: sums of another number of threads train another model.
    """
    with CLOCK.sharing():
        import torch

        from fairspace.ares.training.tiny import trained_model

        threads = torch.get_num_threads()
        torch.set_num_threads(2)
        try:
            return trained_model(STORE / "ares")
        finally:
            torch.set_num_threads(threads)
