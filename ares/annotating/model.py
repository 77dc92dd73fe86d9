"""What labels images: the folder of an ARES, or a package; and what names it for ever."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple, cast

from fairspace.ares.annotating.labellers.packages import ARES, package
from fairspace.builders.errors import BuildError

_SOFTWARE = ("torch", "transformers", "pillow", "numpy", "xgboost-cpu", "xgboost")


class Labeller(NamedTuple):
    """What labels images.

    Args:
        folder: of ARES; of a package the current one, which is not read.
        named: its `name`, `revision`, `sha256`, and its `measurement`'s sha256 or ''.
        measurement: file of its measured error; may be missing where `named["measurement"]` is ''.
        software: packages whose versions can change an answer.
    """

    folder: Path
    named: dict[str, str]
    measurement: Path
    software: tuple[str, ...]


def find_labeller(labeller: str, model: Path | str = "", measurement: Path | None = None) -> Labeller:
    """What labels images.

    Args:
        labeller: `ares`, or the name of a package.
        model: folder of ARES, or repository on the Hub with `@<revision>` at its end; '' for a package.
        measurement: what `fairspace ares measure` wrote of a package; ARES has its own in its folder.

    Errors: BuildError CONFIG_INVALID if these do not go together; TOOL_MISSING, BUILD_INCOMPLETE, MEASUREMENT_INVALID.
    """
    from fairspace.ares.evaluating.measurement import FILE as MEASUREMENT
    from fairspace.ares.evaluating.measurement import read_document

    if labeller == ARES:
        if not str(model) or measurement is not None:
            what = "no model" if not str(model) else "a measurement"
            expected = "a model, whose folder holds its measurement"
            raise BuildError("CONFIG_INVALID", "--labeller ares", what, expected, "name MODEL alone")
        folder, named = find_model(model)
        return Labeller(folder, named, folder / MEASUREMENT, _SOFTWARE)
    chosen = package(labeller)
    if str(model):
        what, mend = f"the model {model}", "leave out the model, or label with ares"
        raise BuildError("CONFIG_INVALID", f"--labeller {labeller}", what, "no model", mend)
    chosen.check()
    measured = read_document(measurement, chosen.sha256).sha256 if measurement is not None else ""
    named = {"name": chosen.name, "revision": chosen.version, "sha256": chosen.sha256, "measurement": measured}
    return Labeller(Path(), named, measurement or Path(MEASUREMENT), chosen.software)


def find_model(model: Path | str) -> tuple[Path, dict[str, str]]:
    """The folder of a model, and what names it: `name`, `revision`, `sha256`, and its `measurement`'s sha256 or ''.

    Errors: BuildError TOOL_MISSING, BUILD_INCOMPLETE.
    """
    from fairspace.ares.evaluating.measurement import FILE as MEASUREMENT
    from fairspace.ares.evaluating.measurement import model_sha256, read_measurement

    folder = Path(model)
    if not folder.is_dir():
        folder = _fetched(str(model))
    sha256 = model_sha256(folder)
    real = folder.resolve()
    name, revision = real.name, f"sha256:{sha256}"
    if real.parent.name == "snapshots" and real.parent.parent.name.startswith("models--"):
        name, revision = real.parent.parent.name.removeprefix("models--").replace("--", "/"), real.name
    measurement = read_measurement(folder).sha256 if (folder / MEASUREMENT).is_file() else ""
    return folder, {"name": name, "revision": revision, "sha256": sha256, "measurement": measurement}


def _fetched(model: str) -> Path:
    """The snapshot of a repository on the Hub: data alone, no code of it."""
    from huggingface_hub import snapshot_download

    name, _, revision = model.partition("@")
    try:
        snapshot = snapshot_download(name, revision=revision or None, allow_patterns=["*.json", "*.safetensors"])
    except hub_errors() as error:
        said = str(error).strip().split("\n", 1)[0]
        mend = "name a folder, or a repository as NAMESPACE/NAME@REVISION"
        raise BuildError("TOOL_MISSING", model, said, "a folder or a repository with ARES", mend) from error
    return Path(snapshot)


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
