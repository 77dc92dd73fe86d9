"""What labels images: the folder of an ARES, or a package; and what names it for ever."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, cast

from fairspace.ares.annotating.labellers.packages import ARES, package
from fairspace.builders.errors import BuildError

_SOFTWARE: tuple[str, ...] = ("torch", "transformers", "pillow", "numpy", "xgboost-cpu", "xgboost")


class Labeller(NamedTuple):
    """What labels images.

    Args:
        folder: of ARES; of a package the current one, which is not read.
        named: its `name`, `revision`, `sha256`, and its `measurement`'s sha256 or ''.
        software: packages whose versions can change an answer.
        error: what a submission says of the error of its labels (`label_error`); None if it was not measured.
    """

    folder: Path
    named: dict[str, str]
    software: tuple[str, ...]
    error: dict[str, Any] | None


def find_labeller(labeller: str, model: Path | str = "", measurement: Path | None = None) -> Labeller:
    """The folder of an ARES, or a package; and what names it for ever.

    Args:
        labeller: `ares`, or the name of a package.
        model: folder of ARES, or repository on the Hub with `@<revision>` at its end; '' for a package.
        measurement: what `fairspace ares evaluate` wrote of a package; ARES has its own in its folder.

    Errors: BuildError CONFIG_INVALID if these do not go together; TOOL_MISSING, BUILD_INCOMPLETE, MEASUREMENT_INVALID.
    """
    from fairspace.ares.evaluating.measurement import (
        FILE,
        error_of_labels,
        model_sha256,
        read_document,
        read_measurement,
    )

    if labeller == ARES:
        if not str(model) or measurement is not None:
            what = "no model" if not str(model) else "a measurement"
            expected = "a model, whose folder holds its measurement"
            raise BuildError("CONFIG_INVALID", "--labeller ares", what, expected, "name MODEL alone")
        folder, software = Path(model), _SOFTWARE
        if not folder.is_dir():
            mend = "name a folder, or a repository as NAMESPACE/NAME@REVISION"
            expected, patterns = "a folder or a repository with ARES", ["*.json", "*.safetensors"]
            folder = fetched(str(model), "model", patterns, "TOOL_MISSING", expected, mend)
        sha256, real = model_sha256(folder), folder.resolve()
        name, revision = real.name, f"sha256:{sha256}"
        if real.parent.name == "snapshots" and real.parent.parent.name.startswith("models--"):
            name, revision = real.parent.parent.name.removeprefix("models--").replace("--", "/"), real.name
        measured = read_measurement(folder) if (folder / FILE).is_file() else None
    else:
        chosen = package(labeller)
        if str(model):
            what, mend = f"the model {model}", "leave out the model, or label with ares"
            raise BuildError("CONFIG_INVALID", f"--labeller {labeller}", what, "no model", mend)
        chosen.check()
        folder, software = Path(), chosen.software
        name, revision, sha256 = chosen.name, chosen.version, chosen.sha256
        measured = read_document(measurement, sha256) if measurement is not None else None
    named = {"name": name, "revision": revision, "sha256": sha256, "measurement": measured.sha256 if measured else ""}
    return Labeller(folder, named, software, error_of_labels(measured, name) if measured else None)


def fetched(name: str, kind: str, patterns: list[str], code: str, expected: str, mend: str) -> Path:
    """The snapshot of a repository on the Hub: data alone, no code of it.

    Args:
        name: of the repository, with `@<revision>` at its end where it is not the newest.
        kind: `model` or `dataset`.
        patterns: of the files that are fetched.
        code: of the BuildError if it cannot be had.
        expected: see `BuildError`.
        mend: see `BuildError`.
    """
    from huggingface_hub import snapshot_download

    repo, _, revision = name.partition("@")
    try:
        return Path(snapshot_download(repo, repo_type=kind, revision=revision or None, allow_patterns=patterns))
    except hub_errors() as error:
        raise BuildError(code, name, str(error).strip().split("\n", 1)[0], expected, mend) from error


def hub_errors() -> tuple[type[Exception], ...]:
    """What the Hub's client raises: of httpx or its successor, whichever it was made with; for bad names; offline."""
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    return cast(type[Exception], HfHubHTTPError.__bases__[0]), HFValidationError, OSError


def versions(software: Sequence[str]) -> dict[str, str]:
    """Package -> its version, of those that are installed."""
    installed = {}
    for name in software:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed
