"""Where the workings of a submission lie, and who may write there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from builders.alone import alone
from builders.errors import BuildError
from submissions.running.errors import RunError

WORK = ".run"


def work_folder(out: Path) -> Path:
    """Where the workings of a submission's run lie."""
    return out.with_name(out.name + WORK)


@contextmanager
def held(work: Path) -> Iterator[None]:
    """One run at a time in a folder of workings, made if need be. RunError RUN_IN_USE if there is another."""
    try:
        with alone(work):
            yield
    except BuildError as error:
        if error.code != "OUT_IN_USE" or error.where != str(work):
            raise
        mend = "wait until it is done, or name another --out"
        raise RunError("RUN_IN_USE", str(work), "another run is writing here", "one at a time", mend) from error


def public_name(model: str) -> str:
    """A model's name as a manifest shows it: of a folder on this machine its own name alone."""
    provider, _, what = model.partition("/")
    file, _, function = what.rpartition(":")
    if provider == "python" and "/" in file:
        return f"{provider}/{Path(file).name}:{function}"
    return f"{provider}/{Path(what).name}" if what and Path(what).is_dir() else model
