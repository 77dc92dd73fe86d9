"""Weights of a tool: a folder or a Hub repository at a commit, found before anything is loaded.

A build names a repository with its commit, a folder with the hash of its content. Weights are read from safetensors
alone: other formats can run code.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fairspace.builders.engine.build import file_hash
from fairspace.builders.errors import BuildError, install_command
from fairspace.builders.part import local_rank

_OFFLINE = ("1", "ON", "YES", "TRUE")


@dataclass(frozen=True)
class Weights:
    """Found weights.

    `where` is the argument of `from_pretrained` (a folder or repository id), `revision` the commit or None, `name`
    id@commit or the folder's name with a hash of its content, `marker` the file by which they were found.
    """

    where: str
    revision: str | None
    name: str
    marker: Path

    @property
    def title(self) -> str:
        """The repository's id, or the own name of a folder or file."""
        return self.where if self.revision else self.name.rpartition(" (")[0]

    @property
    def identity(self) -> str:
        """The commit, or the hash of a folder or file as `sha256 ...`."""
        return self.revision or self.name.rpartition(" (")[2].rstrip(")")


def find(model: str, marker: str) -> Weights:
    """The weights called `model`, a folder or ID[@REVISION]; only `marker` of a repository is fetched.

    `marker` is a file present in all such weights: `config.json`, `model_index.json`. BuildError TOOL_MISSING without
    such a folder or repository, or without connection.
    """
    folder = Path(model).expanduser()
    try:
        is_file, is_folder = (folder / marker).is_file(), folder.is_dir()
    except OSError as error:  # a name longer than files may have
        raise absent(model, marker) from error
    if is_file:
        name = f"{folder.resolve().name} (sha256 {folder_hash(folder)[:16]})"
        return Weights(str(folder), None, name, folder / marker)
    if is_folder or model.startswith((".", "/", "~")):
        what = f"no {marker}" if is_folder else "no such folder"
        raise BuildError("TOOL_MISSING", model, what, "a folder that `save_pretrained` wrote", "name another")
    identifier, _, revision = model.partition("@")
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url, try_to_load_from_cache

    try:
        if not isinstance(try_to_load_from_cache(identifier, marker, revision=revision or None), str):
            # One request without retries: `hf_hub_download` asks a Hub that cannot be reached for 23 seconds.
            get_hf_file_metadata(hf_hub_url(identifier, marker, revision=revision or None))
        file = Path(hf_hub_download(identifier, marker, revision=revision or None))
    except Exception as error:  # httpx or httpx2 by the version of huggingface_hub, OSError, a malformed id
        raise absent(model, marker) from error
    commit = file.relative_to(file.parents[len(Path(marker).parts)]).parts[0]
    return Weights(identifier, commit, f"{identifier}@{commit}", file)


def absent(model: str, what: str) -> BuildError:
    """The error for weights that are not here and could not be fetched, with the remedy."""
    identifier, _, revision = model.partition("@")
    fetch = f"`hf download {identifier}{f' --revision {revision}' if revision else ''}`"
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in _OFFLINE:
        mend = f"HF_HUB_OFFLINE is set: run {fetch} with HF_HUB_OFFLINE=0, or build with HF_HUB_OFFLINE=0"
    else:
        mend = f"try {fetch}; if the repository is gated, accept its terms and run `hf auth login` first"
    problem = f"{what} is neither in a folder of that name, nor in the cache, nor could it be downloaded"
    return BuildError("TOOL_MISSING", model, problem, "a folder, or ID or ID@REVISION of a model on the Hub", mend)


@contextmanager
def loading(weights: Weights) -> Iterator[None]:
    """Turn a library's errors about absent or unsafe weight files into BuildError TOOL_MISSING."""
    try:
        yield
    except OSError as error:
        if weights.revision is not None:
            raise absent(weights.name, f"a part of it ({_first_line(error)})") from error
        expected = "all files of the model, weights as safetensors"
        mend = "download the folder again; convert other weights with `save_pretrained(safe_serialization=True)`"
        raise BuildError("TOOL_MISSING", weights.where, _first_line(error), expected, mend) from error


def load(kind: Any, weights: Weights, **more: Any) -> Any:
    """The result of `kind.from_pretrained` for found weights, with `more` arguments. Errors: as `loading`."""
    with loading(weights):
        return kind.from_pretrained(weights.where, revision=weights.revision, **more)


def need(package: str, extra: str, model: str) -> None:
    """Check that a package is installed. BuildError TOOL_MISSING names the command that installs it."""
    if find_spec(package) is None:
        what, expected = f"{package} is not installed", f"the packages of `{extra}`"
        raise BuildError("TOOL_MISSING", model, what, expected, install_command(extra))


def best_device(device: str) -> str:
    """The requested device; for '' the GPU of this process' rank on its machine if there is one, else the CPU."""
    if device:
        return device
    import torch

    if not torch.cuda.is_available():
        return "cpu"
    several = torch.cuda.device_count()
    return f"cuda:{local_rank() % several}" if several > 1 else "cuda"


def precision(dtype: str, device: str) -> str:
    """The number format of weights on a torch device: bfloat16 on a GPU and float32 on a CPU unless one is named."""
    return dtype or ("float32" if device.startswith("cpu") else "bfloat16")


@cache
def folder_hash(folder: Path) -> str:
    """The sha256 over names and contents of the files below a folder; about a second per gigabyte."""
    total = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if any(part.startswith(".") for part in file.relative_to(folder).parts):
            continue
        total.update(f"{file.relative_to(folder).as_posix()}\0{file_hash(file)}\n".encode())
    return total.hexdigest()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
