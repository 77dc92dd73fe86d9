import shutil
import subprocess
import sys
from pathlib import Path

from fairspace.builders.publishing.artifacts import PACKAGES

ROOT = Path(__file__).parents[1]


def build_wheel(folder: Path) -> Path:
    """Build in a folder, from a copy without tools' leftovers; return the file."""
    source = folder / "source"
    for name in (*PACKAGES, "fairspace"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder))
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(source)], check=True)
    (built,) = folder.glob("*.whl")
    return built
