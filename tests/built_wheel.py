import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from fairspace.builders.publishing.artifacts import PACKAGES
from tests.store import ROOT, stored

FILES = ("pyproject.toml", "README.md", "LICENSE")


def copy_source(folder: Path) -> Path:
    """Copy what pip builds into a new folder, without tools' leftovers; return it."""
    for name in (*PACKAGES, "fairspace"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    return folder


def build_wheel(folder: Path) -> Path:
    """Build from a copy in a folder; return the file."""
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder))
    source = str(copy_source(folder / "source"))
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, source], check=True)
    (built,) = folder.glob("*.whl")
    return built


def installed_wheel() -> Path:
    """The wheel's files in a folder for modules, made once for all tests, workers and runs."""

    def install(folder: Path) -> None:
        with TemporaryDirectory() as scratch:
            zipfile.ZipFile(build_wheel(Path(scratch))).extractall(folder / "site-packages")

    return stored("wheel", install, (*PACKAGES, "fairspace", *FILES)) / "site-packages"
