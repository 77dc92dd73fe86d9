"""The authors' own code, run in a child process on what the oracles draw, against this project's values."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.oracles.authors import genres, iris
from tests.oracles.authors.clones import Outcome

RUNS: Mapping[str, Callable[[Path], Outcome]] = {"iris": iris.run, "genres": genres.run}
