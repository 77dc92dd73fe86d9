"""Which ARES labels images: its folder, and what names it for ever."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

from fairspace.builders.errors import BuildError

_SOFTWARE = ("torch", "transformers", "pillow", "numpy", "xgboost-cpu", "xgboost")


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


def versions() -> dict[str, str]:
    """Of the software that can change an answer."""
    hashes = {}
    for package in _SOFTWARE:
        try:
            hashes[package] = version(package)
        except PackageNotFoundError:
            continue
    return hashes
