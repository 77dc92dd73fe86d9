"""Convert checkpoints that exist only as pickles (`pytorch_model.bin`) once to safetensors.

The pickle is read in a separate process with `weights_only=True`, which builds tensors and nothing else. The output
folder, by repository and commit, has the hashes of input and output in `conversion.json`. ARES itself never opens a
pickle.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from fairspace.ares.annotating.source import fetched
from fairspace.ares.pinned_ares import pinned
from fairspace.builders.errors import BuildError

RECORD, WEIGHTS = "conversion.json", "model.safetensors"
PLACE = "FAIRSPACE_CONVERTED"
"""Environment variable with the folder of converted checkpoints."""
_BESIDE, _PICKLES = ("*.json", "*.txt", "*.model"), "pytorch_model*.bin"


def converted_folder(source: str, revision: str) -> Path:
    """The folder of the converted form of a checkpoint, existing or not."""
    place = Path(os.environ.get(PLACE, Path.home() / ".cache" / "fairspace" / "converted"))
    return place / f"{source.replace('/', '--')}@{revision or 'folder'}"


def convert(source: str, revision: str) -> dict[str, Any]:
    """Convert a checkpoint and return its `conversion.json`.

    It has `source`, `revision`, `read` and `written` (file -> sha256). `source`: Hub repository, or folder with
    `pytorch_model*.bin`; `revision`: commit, 40 hexadecimal digits, '' for a folder.
    Errors: BuildError TRAINING_DATA without a pickle or a repository, REVISION_UNPINNED, MODEL_UNSAFE for a pickle that
    holds anything but tensors.
    """
    try:
        options = pinned(source, revision)
    except ValueError as error:
        raise BuildError("REVISION_UNPINNED", source, revision, "a commit", "add @ and its 40 digits") from error
    if options:
        mend = "correct repository and commit, and see that the Hub can be reached"
        at, patterns = f"{source}@{revision}", [*_BESIDE, _PICKLES]
        folder, name = fetched(at, "model", patterns, "TRAINING_DATA", "its files", mend), source
    else:
        folder, name = Path(source), Path(source).resolve().name
    pickles = sorted(folder.glob(_PICKLES))
    if not pickles:
        mend = "if it holds model.safetensors, it needs no conversion"
        raise BuildError("TRAINING_DATA", str(folder), "no pytorch_model.bin", "a checkpoint in pickles", mend)
    out = converted_folder(name, revision)
    fresh = out.with_name(f".{out.name}.{os.getpid()}")
    fresh.mkdir(parents=True)
    try:
        _converted(pickles, fresh / WEIGHTS)
        for file in (file for pattern in _BESIDE for file in folder.glob(pattern)):
            if not file.name.endswith(".index.json"):
                shutil.copyfile(file, fresh / file.name)
        record: dict[str, Any] = {
            "source": name,
            "revision": revision,
            "read": {file.name: _sha256(file) for file in pickles},
            "written": {WEIGHTS: _sha256(fresh / WEIGHTS)},
        }
        (fresh / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(out, ignore_errors=True)
        fresh.rename(out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return record


def converted(source: str, revision: str) -> Path | None:
    """The folder of a converted checkpoint; None if it was not converted.

    BuildError MODEL_UNSAFE if its weights are not those that were written.
    """
    folder = converted_folder(source, revision)
    if not revision or not (folder / RECORD).is_file():
        return None
    written = json.loads((folder / RECORD).read_text(encoding="utf-8"))["written"][WEIGHTS]
    if (now := _sha256(folder / WEIGHTS)) != written:
        mend = f"convert it again: convert({source!r}, {revision!r}) of fairspace.ares.training.conversion"
        raise BuildError("MODEL_UNSAFE", str(folder / WEIGHTS), f"sha256 {now[:16]}", f"{written[:16]}", mend)
    return folder


def _converted(pickles: list[Path], out: Path) -> None:
    command = [sys.executable, "-m", "fairspace.ares.training.conversion", str(out), *map(str, pickles)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        what = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1][:200]
        raise BuildError(
            "MODEL_UNSAFE", str(pickles[0]), what, "tensors by name, and nothing else", "use another checkpoint"
        )


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _main(out: Path, pickles: list[Path]) -> None:
    import torch
    from safetensors.torch import save_file

    tensors: dict[str, torch.Tensor] = {}
    for file in pickles:
        state = torch.load(file, map_location="cpu", weights_only=True)
        if not isinstance(state, dict) or not all(isinstance(part, torch.Tensor) for part in state.values()):
            raise TypeError(f"{file.name} is no state of tensors by name")
        # Tensors that share memory are written one by one.
        tensors |= {name: tensor.detach().clone().contiguous() for name, tensor in state.items()}
    save_file(tensors, out, metadata={"format": "pt"})


if __name__ == "__main__":
    _main(Path(sys.argv[1]), [Path(each) for each in sys.argv[2:]])
